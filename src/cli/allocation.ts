// holdfast allocation: ask for a node of some kind, and get one.
import { type Command, Option } from 'commander'
import type { Allocation, Holdfast, NewAllocation } from '../client/index.ts'
import { systemClock } from '../clock/clock.ts'
import { addChangeCommands } from './allocation-change.ts'
import { printAllocation } from './allocation-sheet.ts'
import { printWhenReady } from './allocation-wait.ts'
import { ifThere } from '../client/asking.ts'
import {
  countOf,
  type Document,
  type Flags,
  forEach,
  listed,
  many,
  onServer,
  pairsIn,
  printingCommand,
  type ServerFlags,
  serverCommand,
} from './client-command.ts'
import type { Word } from './command.ts'
import { type DryRun, sayTouched, withDryRun } from './dry-run.ts'
import { END_FORMS, endFlag, localTime } from './local-time.ts'
import { idOf, soughtId, withNames } from './names.ts'
import { printList, printOne, type Row, say, tell } from './output.ts'
import { holderWords, placeWords, withPlace } from './queue-words.ts'
import { CAUSE_COLUMNS, causeRows, printForecast, relaxationIn } from './reasons.ts'
import { type KeepFlags, onServerWaiting, type Wait, withWait } from './wait-flags.ts'
import { printRows, type WatchFlags, withWatch } from './followed-list.ts'

const COLUMNS = ['uuid', 'name', 'resource_class', 'state', 'node_uuid', 'expires_at']
const FOR_PEOPLE = ['name', 'class', 'state', 'node', 'who', 'project', 'until']
const PROJECTS = { owner: 'project' } as const
const CAUSES = ['when', ...CAUSE_COLUMNS]

interface CreateFlags extends Flags, DryRun, KeepFlags {
  resourceClass?: string
  trait?: string[]
  name?: string
  uuid?: string
  owner?: string
  candidateNode?: string[]
  node?: string
  extra?: string[]
  expiresAt?: string
  waitUntil?: string
  note?: string
}

export function addCommands(program: Command, { name, help }: Word): void {
  const allocation = program.command(name).description(help)
  withWait(
    withDryRun(
      printingCommand(
        allocation,
        'create',
        'ask for a node',
        'allocation create --resource-class gpu --trait CUSTOM_A100 --name job-17 --expires-at 2h --wait',
      ),
    ),
    'it has a node',
  )
    .option('--resource-class <resource-class>', 'of this class')
    .option('--trait <traits...>', 'with all of these traits', listed)
    .option('--candidate-node <nodes...>', 'one of these', listed)
    .option('--node <node>', 'record that this active node is allocated')
    .option('--name <name>', 'its name')
    .option('--uuid <uuid>', 'its uuid; a new one if none is given')
    .option('--owner <owner>', "its project, and whose nodes it may get; the caller's project for all but admins")
    .option('--extra <key=value>', 'a member of extra; may be repeated', many)
    .option('--expires-at <time>', `when it ends by itself: ${END_FORMS}`, endFlag('until'))
    .option('--note <text>', 'what others should know about it')
    .option('--wait-until <time>', 'how long the server waits for a free node; likewise', endFlag('waits until'))
    .action(onServerWaiting(async (server, wait, flags: CreateFlags) => createAllocation(server, wait, flags)))
  addLookCommands(allocation)
  addDeleteCommand(allocation)
  addChangeCommands(allocation)
  withWait(
    printingCommand(
      allocation,
      'retry <allocation>',
      'try again after an error',
      'allocation retry job-17 --wait-until 10m --wait',
    ),
    'it has a node',
  )
    .option('--wait-until <time>', `how long the server waits for a free node: ${END_FORMS}`, endFlag('waits until'))
    .action(
      onServerWaiting(async (server, wait, ident: string, flags: CreateFlags) =>
        retryAllocation(server, wait, ident, flags),
      ),
    )
  printingCommand(
    allocation,
    'explain <allocation>',
    'say why it has no node',
    'allocation explain job-17',
    CAUSES,
  ).action(onServer(async (server, ident: string, flags: Flags) => explainAllocation(server, ident, flags)))
}

type DeleteFlags = ServerFlags & DryRun & { now?: boolean; message?: string }

function addDeleteCommand(allocation: Command): void {
  withDryRun(
    serverCommand(
      allocation,
      'delete <allocations...>',
      'give the node back; if someone keeps it (holdfast run), ask them to let go',
      "allocation delete job-17 --message 'the demo needs the node'",
    ),
  )
    .option('--message <text>', 'say why, to whoever keeps it')
    .option('--now', 'take a kept node at once, though its user may be on it still; for admins')
    .action(
      onServer(async (server, idents: string[], flags: DeleteFlags) =>
        forEach(idents, async ident => {
          if (flags.dryRun) await explainDeletion(server, ident, flags)
          else await deleteAllocation(server.allocations, ident, flags)
        }),
      ),
    )
}

async function explainDeletion(server: Holdfast, ident: string, { now, message }: DeleteFlags) {
  const { allocations } = server
  const touched = await allocations.explainDeletion(ident, { now, message })
  const { keeper, state } = await allocations.show(ident)
  if (keeper === null || state !== 'active' || now) return sayTouched(server, ident, touched)
  say(`${ident} is kept by ${keeper}, who would be asked to let go`)
}

async function deleteAllocation(
  allocations: Holdfast['allocations'],
  ident: string,
  { now, message }: DeleteFlags,
): Promise<void> {
  const keeper = now ? (await allocations.show(ident)).keeper : null
  if (keeper !== null) tell(`${keeper} keeps ${ident}: until that command has ended, two users may be on the machine`)
  const asked = await allocations.delete(ident, { now, message })
  if (asked === null) return say(`${ident} is gone`)
  const { by, until } = asked.ending!
  say(
    `${ident} is kept by ${asked.keeper}, who is told that ${by} ends it. The node is free by ${localTime(until)}, or before`,
  )
}

async function createAllocation(server: Holdfast, wait: Wait, flags: CreateFlags): Promise<void> {
  const wanted: NewAllocation = {
    resource_class: flags.resourceClass,
    traits: flags.trait,
    candidate_nodes: flags.candidateNode,
    node: flags.node,
    name: flags.name,
    uuid: flags.uuid,
    owner: await idOf(server, 'project', flags.owner),
    extra: flags.extra && pairsIn(flags.extra),
    expires_at: flags.expiresAt,
    wait_until: flags.waitUntil,
    note: flags.note,
  }
  if (flags.dryRun) return printForecast(await server.allocations.forecast(wanted), flags)
  if (!flags.wait) return printAllocation(await server.allocations.create(wanted), flags)
  // Chosen by us, so that we can ask for the allocation and end it even if the answer is lost.
  const uuid = flags.uuid ?? systemClock.newUuid()
  await printWhenReady(server, uuid, wait, flags, {
    send: (signal, wait_until) => server.within(signal).allocations.create({ ...wanted, uuid, wait_until }),
    find: signal => ifThere(server.within(signal).allocations.show(uuid)),
    isNew: true,
  })
}

async function retryAllocation(server: Holdfast, wait: Wait, ident: string, flags: CreateFlags): Promise<void> {
  const { allocations } = server
  if (!flags.wait) return printAllocation(await allocations.retry(ident, flags.waitUntil), flags)
  await printWhenReady(server, ident, wait, flags, {
    send: (signal, waitUntil) => server.within(signal).allocations.retry(ident, waitUntil),
    find: async signal => {
      const present = await server.within(signal).allocations.show(ident)
      return present.state === 'error' ? null : present
    },
    isNew: false,
  })
}

async function explainAllocation({ allocations }: Holdfast, ident: string, flags: Flags): Promise<void> {
  const explained = await allocations.explain(ident)
  if (flags.format === 'json' || flags.format === 'yaml') return printOne(explained as unknown as Document, flags)
  const { state, now, decided, allocation, queue } = explained
  const rows = [decided && { when: 'decided', reasons: decided }, { when: 'now', reasons: now }].filter(
    row => row !== null,
  )
  if (flags.format === 'table') {
    say(
      `${allocation.name ?? allocation.uuid} is ${state}${allocation.node_uuid ? ` with node ${allocation.node_name ?? allocation.node_uuid}` : ''}`,
    )
  }
  printList(
    rows.flatMap(({ when, reasons }) => causeRows(reasons).map(row => ({ when, ...row }))),
    CAUSES,
    flags,
  )
  if (flags.format !== 'table') return
  if (queue) for (const line of [placeWords(queue, now.at), ...holderWords(queue)]) if (line !== null) say(line)
  const help = relaxationIn(now)
  if (help) say(help)
}

/** Who has which node until when, in names. All other fields stay, for those who choose them. */
const forPeople = (row: Allocation): Row => ({
  ...row,
  name: row.name ?? row.uuid,
  class: row.resource_class,
  node: row.node_name ?? row.node_uuid,
  who: row.user_name,
  project: row.project_name,
  until: row.expires_at,
})

interface ListFlags extends WatchFlags {
  state?: string
  resourceClass?: string
  node?: string
  owner?: string
  fields?: string[]
  limit?: number
}

function addLookCommands(allocation: Command): void {
  withWatch(
    printingCommand(
      allocation,
      'list',
      'list allocations',
      'allocation list --state error --fields uuid name last_error',
      COLUMNS,
    ),
  )
    .addOption(new Option('--state <state>', 'in this state').choices(['allocating', 'active', 'error']))
    .option('--resource-class <resource-class>', 'of this class')
    .option('--node <node>', 'of this node')
    .option('--owner <owner>', 'of this project')
    .option('--fields <fields...>', 'show these fields', listed)
    .option('--limit <count>', 'at most so many', countOf)
    .action(
      onServer(async (server, flags: ListFlags) => {
        const { state, resourceClass: resource_class, node, owner, fields, limit } = flags
        const where = { state, resource_class, node, owner: await soughtId(server, 'project', owner) }
        const isForPeople = flags.format === 'table' && fields === undefined
        const rows = async () => {
          const found = await server.allocations.list({ where, fields, limit })
          return isForPeople
            ? { rows: found.map(forPeople), columns: FOR_PEOPLE }
            : { rows: found, columns: fields ?? COLUMNS }
        }
        await printRows(server, { kinds: ['allocation'], rows }, flags)
      }),
    )
  for (const word of ['show', 'get']) {
    printingCommand(
      allocation,
      `${word} <allocation>`,
      'show an allocation',
      `allocation ${word} job-17 -f value -c node_uuid`,
    )
      .option('--fields <fields...>', 'only these fields', listed)
      .action(
        onServer(async (server, ident: string, flags: ListFlags) => {
          const found = await server.allocations.show(ident, flags.fields)
          const shown = flags.fields ? found : await withPlace(server, found)
          const [named] = flags.format === 'table' ? await withNames(server, [shown], PROJECTS, flags) : [shown]
          printOne(named!, flags)
        }),
      )
  }
}
