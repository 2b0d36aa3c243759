// holdfast reservation: hold a node for a while. The spellings with a hyphen are those of the ironic command.
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import {
  countOf,
  type Flags,
  forEach,
  onServer,
  printingCommand,
  type ServerFlags,
  serverCommand,
} from './client-command.ts'
import { type DryRun, withDryRun } from './dry-run.ts'
import { printList, printOne, say } from './output.ts'

const COLUMNS = ['uuid', 'node_uuid', 'instance_uuid', 'expires_at', 'owner']

interface CreateFlags extends Flags, DryRun {
  instance?: string
  owner?: string
  expiresAt?: string
}
interface ListFlags extends Flags {
  node?: string
  instance?: string
  owner?: string
  limit?: number
}

export function addReservationCommands(program: Command): void {
  const reservation = program.command('reservation').description('nodes held for a while')
  const uuid = '5a3ac1a0-fb39-4d37-8d1c-5a7b2d0a8b6c'
  withTerms(
    printingCommand(
      reservation,
      'create <nodes...>',
      'hold the first of these nodes that is free',
      'reservation create n1 n2 --expires-at 15m',
    ).option('--instance <uuid>', 'the instance that is on its way; a new uuid if none is given'),
  ).action(onServer(async (server, nodes: string[], flags: CreateFlags) => create(server, nodes, flags)))
  withTerms(
    printingCommand(
      program,
      'reservation-create <node> <instance>',
      'hold a node for an instance',
      `reservation-create n1 ${uuid}`,
    ),
  ).action(
    onServer(async (server, node: string, instance: string, flags: CreateFlags) =>
      create(server, [node], { ...flags, instance }),
    ),
  )
  printingCommand(reservation, 'renew <reservation>', 'hold it longer', `reservation renew ${uuid} --expires-at 1h`)
    .option('--expires-at <time>', 'until when, or how long from now; as long as a new one if none is given')
    .action(
      onServer(async (server, ident: string, flags: CreateFlags) =>
        printOne(await server.reservations.renew(ident, flags.expiresAt), flags),
      ),
    )
  for (const [parent, prefix, typed] of [
    [reservation, '', 'reservation '],
    [program, 'reservation-', 'reservation-'],
  ] as const) {
    addLookCommands(parent, prefix, typed, uuid)
  }
}

const withTerms = (command: Command) =>
  withDryRun(command)
    .option('--owner <owner>', "whose it is; the caller's project for all but admins")
    .option('--expires-at <time>', 'until when, or how long from now: 90s, 10m, 2h')

type Server = Parameters<Parameters<typeof onServer>[0]>[0]

async function create({ reservations }: Server, nodes: readonly string[], flags: CreateFlags): Promise<void> {
  const { instance = randomUUID(), owner, expiresAt: expires_at } = flags
  const wanted = { instance_uuid: instance, node_uuid: nodes, owner, expires_at }
  if (!flags.dryRun) return printOne(await reservations.create(wanted), flags)
  const { node_uuid, expires_at: until } = await reservations.forecast(wanted)
  if (flags.format === 'table') say(`It would hold node ${node_uuid} until ${until}.`)
  else printOne({ node_uuid, expires_at: until }, flags)
}

function addLookCommands(parent: Command, prefix: string, typed: string, uuid: string): void {
  printingCommand(parent, `${prefix}list`, 'list reservations', `${typed}list --node n1`)
    .option('--node <node>', 'of this node')
    .option('--instance <uuid>', 'for this instance')
    .option('--owner <owner>', "that are this one's")
    .option('--limit <count>', 'at most so many', countOf)
    .action(
      onServer(async (server, flags: ListFlags) => {
        const { node, instance: instance_uuid, owner, limit } = flags
        printList(await server.reservations.list({ node, instance_uuid, owner }, limit), COLUMNS, flags)
      }),
    )
  printingCommand(parent, `${prefix}show <reservation>`, 'show a reservation', `${typed}show ${uuid}`).action(
    onServer(async (server, ident: string, flags: Flags) => printOne(await server.reservations.show(ident), flags)),
  )
  serverCommand(parent, `${prefix}delete <reservations...>`, 'let the node go', `${typed}delete ${uuid}`).action(
    onServer(async (server, idents: string[], _flags: ServerFlags) =>
      forEach(idents, async ident => {
        await server.reservations.delete(ident)
        say(`${ident} is gone`)
      }),
    ),
  )
}
