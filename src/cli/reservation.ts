// holdfast reservation: holds a node for a while. The spellings with a hyphen are for users of the ironic command.
import type { Command } from 'commander'
import { systemClock } from '../clock/clock.ts'
import type { Holdfast, Reservation } from '../client/index.ts'
import {
  countOf,
  type Flags,
  forEach,
  onServer,
  printingCommand,
  type ServerFlags,
  serverCommand,
} from './client-command.ts'
import type { Word } from './command.ts'
import { type DryRun, withDryRun } from './dry-run.ts'
import { END_FORMS, endFlag, localTime } from './local-time.ts'
import { idOf, soughtId } from './names.ts'
import { printOne, type Row, say } from './output.ts'
import { printRows, type WatchFlags, withWatch } from './followed-list.ts'

const COLUMNS = ['uuid', 'node_uuid', 'instance_uuid', 'expires_at', 'owner']
const FOR_PEOPLE = ['uuid', 'node', 'instance_uuid', 'expires_at', 'owner']
const UUID = '5a3ac1a0-fb39-4d37-8d1c-5a7b2d0a8b6c'

interface CreateFlags extends Flags, DryRun {
  instance?: string
  owner?: string
  expiresAt?: string
}
interface ListFlags extends WatchFlags {
  node?: string
  instance?: string
  owner?: string
  limit?: number
}

export function addCommands(program: Command, { name, help }: Word): void {
  const [, verb] = name.split('-')
  if (verb === 'create') return addIronicCreate(program, { name, help })
  if (verb !== undefined) return ADD[verb]!(program, { name, help }, name)
  const reservation = program.command(name).description(help)
  withTerms(
    printingCommand(
      reservation,
      'create <nodes...>',
      'hold the first of these nodes that is free',
      'reservation create n1 n2 --expires-at 15m',
    ).option('--instance <uuid>', 'the instance that will be deployed; a new uuid if none is given'),
  ).action(onServer(async (server, nodes: string[], flags: CreateFlags) => create(server, nodes, flags)))
  printingCommand(reservation, 'renew <reservation>', 'hold it longer', `reservation renew ${UUID} --expires-at 1h`)
    .option('--expires-at <time>', `${END_FORMS}; as long as a new one if none is given`, endFlag('until'))
    .action(
      onServer(async (server, ident: string, flags: CreateFlags) =>
        printOne(await server.reservations.renew(ident, flags.expiresAt), flags),
      ),
    )
  addList(reservation, { name: 'list', help: 'list reservations' }, 'reservation list')
  addShow(reservation, { name: 'show', help: 'show a reservation' }, 'reservation show')
  addDelete(reservation, { name: 'delete', help: 'let the node go' }, 'reservation delete')
}

function addIronicCreate(program: Command, { name, help }: Word): void {
  withTerms(printingCommand(program, `${name} <node> <instance>`, help, `${name} n1 ${UUID}`)).action(
    onServer(async (server, node: string, instance: string, flags: CreateFlags) =>
      create(server, [node], { ...flags, instance }),
    ),
  )
}

const withTerms = (command: Command) =>
  withDryRun(command)
    .option('--owner <owner>', "whose it is; the caller's project for all but admins")
    .option('--expires-at <time>', `until when, or how long from now: ${END_FORMS}`, endFlag('until'))

async function create(server: Holdfast, nodes: readonly string[], flags: CreateFlags): Promise<void> {
  const { reservations } = server
  const { instance = systemClock.newUuid(), expiresAt: expires_at } = flags
  const owner = await idOf(server, 'project', flags.owner)
  const wanted = { instance_uuid: instance, node_uuid: nodes, owner, expires_at }
  if (!flags.dryRun) return printOne(await reservations.create(wanted), flags)
  const { node_uuid, node_name, expires_at: until } = await reservations.forecast(wanted)
  if (flags.format === 'table') say(`It would hold node ${node_name ?? node_uuid} until ${localTime(until)}.`)
  else printOne({ node_uuid, expires_at: until }, flags)
}

const forPeople = (row: Reservation): Row => ({
  ...row,
  node: row.node_name ?? row.node_uuid,
  owner: row.owner_name ?? row.owner,
})

/** `typed` is the whole command, for the example. */
function addList(parent: Command, { name, help }: Word, typed: string): void {
  withWatch(printingCommand(parent, name, help, `${typed} --node n1`, COLUMNS))
    .option('--node <node>', 'of this node')
    .option('--instance <uuid>', 'for this instance')
    .option('--owner <owner>', 'of this project')
    .option('--limit <count>', 'at most so many', countOf)
    .action(
      onServer(async (server, flags: ListFlags) => {
        const { node, instance: instance_uuid, owner, limit } = flags
        const where = { node, instance_uuid, owner: await soughtId(server, 'project', owner) }
        const isForPeople = flags.format === 'table'
        const rows = async () => {
          const found = await server.reservations.list(where, limit)
          return isForPeople ? { rows: found.map(forPeople), columns: FOR_PEOPLE } : { rows: found, columns: COLUMNS }
        }
        await printRows(server, { kinds: ['hold'], rows }, flags)
      }),
    )
}

function addShow(parent: Command, { name, help }: Word, typed: string): void {
  printingCommand(parent, `${name} <reservation>`, help, `${typed} ${UUID}`).action(
    onServer(async (server, ident: string, flags: Flags) => printOne(await server.reservations.show(ident), flags)),
  )
}

function addDelete(parent: Command, { name, help }: Word, typed: string): void {
  serverCommand(parent, `${name} <reservations...>`, help, `${typed} ${UUID}`).action(
    onServer(async (server, idents: string[], _flags: ServerFlags) =>
      forEach(idents, async ident => {
        await server.reservations.delete(ident)
        say(`${ident} is gone`)
      }),
    ),
  )
}

const ADD: Record<string, typeof addList> = { list: addList, show: addShow, delete: addDelete }
