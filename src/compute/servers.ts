// The rows of servers: finds, locks, saves and deletes them.
import { type Kysely, type Selectable } from 'kysely'
import { subject, textIn, type Word } from '../events/subject.ts'
import { claimBatch } from '../ledger/claims/batch.ts'
import { problem } from '../problems/problem.ts'
import type { ServerId } from '../store/schema/ids.ts'
import type { Schema } from '../store/schema.ts'
import { command, query } from '../store/statement.ts'
import { all, mark, one, type Read, run, type Subject, together, type Write, wake } from '../store/transaction.ts'

/** `managed_by` of the consumers of compute in the ledger. */
export const OWNER = 'compute'

type ServerRow = Selectable<Schema['servers']>
export interface Server extends ServerRow {
  /** The name of the hypervisor or node. */
  host: string | null
  /** What was said of the hypervisor; null if nothing was, or it is a node. */
  host_state: 'up' | 'down' | null
  host_status: 'enabled' | 'disabled' | null
}
export type NewServer = Omit<ServerRow, 'id'>
export type Status = ServerRow['status']

/** The columns that may change after creation. */
const MUTABLE = [
  'name',
  'flavor_id',
  'wish',
  'host_id',
  'is_metal',
  'status',
  'task',
  'fault',
  'fault_at',
  'metadata',
  'description',
  'tags',
  'launched_at',
  'updated_at',
] as readonly (keyof NewServer)[]
const FIXED = [
  'uuid',
  'project_id',
  'user_id',
  'image_id',
  'key_name',
  'reservation_id',
  'launch_index',
  'network',
  'created_at',
] as readonly (keyof NewServer)[]

const pick = (a: object, columns: readonly string[]) =>
  Object.fromEntries(columns.map(column => [column, (a as Record<string, unknown>)[column]])) as never

export const selectServers = (db: Kysely<Schema>) =>
  db
    .selectFrom('servers as s')
    .leftJoin('providers as p', 'p.id', 's.host_id')
    .leftJoin('hypervisors as h', 'h.provider_id', 's.host_id')
    .selectAll('s')
    .select(['p.name as host', 'h.state as host_state', 'h.status as host_status'])

const serverByUuid = query((db, a: { uuid: string }) => selectServers(db).where('s.uuid', '=', a.uuid))
const lockByUuid = command((db, a: { uuid: string }, on) =>
  on.lock(db.selectFrom('servers').select('id').where('uuid', '=', a.uuid)),
)
const insertServer = command((db, a: NewServer) =>
  db
    .insertInto('servers')
    .values(pick(a, [...FIXED, ...MUTABLE]))
    .returning('id'),
)
const updateServer = command((db, a: ServerRow) =>
  db.updateTable('servers').set(pick(a, MUTABLE)).where('id', '=', a.id),
)
const removeServers = command((db, a: { ids: readonly ServerId[] }, on) =>
  db.deleteFrom('servers').where(on.isIn('id', a.ids, 'bigint')),
)
const movesHolding = query((db, a: { servers: readonly ServerId[] }, on) =>
  db
    .selectFrom('moves')
    .select('uuid')
    .where(on.isIn('server_id', a.servers, 'bigint'))
    .where('status', 'in', ['running', 'finished', 'done']),
)

/** The server, if it belongs to this project; null sees all. */
export function* findServer(uuid: string, visibleTo: string | null): Read<Server> {
  return visibleServer(uuid, yield* one(serverByUuid({ uuid })), visibleTo)
}

/** The server, locked until the transaction ends. Servers are locked before nodes, consumers and providers. */
export function* lockServer(uuid: string, visibleTo: string | null): Write<Server> {
  // Read after the lock, in a second statement: only then it sees what the previous holder wrote.
  const [, [found]] = yield* together(lockByUuid({ uuid }), serverByUuid({ uuid }))
  return visibleServer(uuid, found, visibleTo)
}

function visibleServer(uuid: string, found: Server | undefined, visibleTo: string | null): Server {
  if (!found || (visibleTo !== null && found.project_id !== visibleTo)) {
    throw problem('server_not_found', { server: uuid })
  }
  return found
}

type Told = Pick<ServerRow, 'uuid' | 'name' | 'project_id' | 'user_id'>

/** Says what became of a server. Its host is for operators, so no event names it. */
const serverBecame = (
  { uuid, name, project_id, user_id }: Told,
  became: Word<'server'>,
  more: Subject['data'] = {},
): Subject =>
  subject('server', uuid, became, { whose: { project: project_id, user: user_id }, data: { name, ...more } })

type State = Pick<ServerRow, 'status' | 'task' | 'fault' | 'flavor_id'>

/** The word for a change of the status, or for any other change. */
function wordFor(from: Status, to: Status): Word<'server'> {
  if (from === to) return 'changed'
  return to === 'ACTIVE' ? 'active' : to === 'ERROR' ? 'error' : 'changed'
}

function changeOf(from: Status, server: Told & State): Subject {
  const { status: to, task, fault, flavor_id } = server
  const reason = to === 'ERROR' ? { reason: textIn(fault) } : {}
  return serverBecame(server, wordFor(from, to), { from, to, task, flavor_id, ...reason })
}

export function* addServer(server: NewServer): Write<ServerId> {
  yield* mark(serverBecame(server, 'created', { to: 'BUILD', flavor_id: server.flavor_id }))
  if (server.status !== 'BUILD') yield* mark(changeOf('BUILD', server))
  return (yield* one(insertServer(server)))!.id
}

/** Saves a server, and says what became of it: `before` is the row as it was read under lock. */
export function* saveServer(before: Pick<ServerRow, 'status'>, after: ServerRow): Write<void> {
  yield* run(updateServer(after))
  yield* mark(changeOf(before.status, after))
}

export function* dropServers(servers: readonly ServerRow[]): Write<void> {
  yield* run(removeServers({ ids: servers.map(server => server.id) }))
  yield* mark(...servers.map(server => serverBecame(server, 'deleted', { from: server.status })))
}

/**
 * Deletes a server and its claims. On bare metal it is only marked, and deleted when its node is torn down.
 * Returns whether there is such work.
 */
export function* deleteServer(uuid: string, now: number, visibleTo: string | null = null): Write<void> {
  yield* deleteServers([yield* lockServer(uuid, visibleTo)], now)
}

/** Deletes locked servers, all at once, so that consumers and providers are locked in one order. */
export function* deleteServers(servers: readonly Server[], now: number): Write<void> {
  const metal = servers.filter(server => server.is_metal === 1 && server.host_id !== null)
  for (const server of metal) {
    if (server.task !== 'tearing down') yield* saveServer(server, { ...server, task: 'deleting', updated_at: now })
  }
  const others = servers.filter(server => !metal.includes(server))
  if (others.length > 0) yield* endServers(others, now)
  if (metal.length > 0) yield* wake('servers')
}

function* endServers(servers: readonly Server[], now: number): Write<void> {
  yield* release(yield* consumersOf(servers), now)
  yield* dropServers(servers)
}

/** The consumers with the claims of these servers: the servers themselves, and their moves under way. */
export function* consumersOf(servers: readonly Server[]): Read<string[]> {
  if (servers.length === 0) return []
  const moves = yield* all(movesHolding({ servers: servers.map(server => server.id) }))
  const placed = servers.filter(server => server.host_id !== null)
  return [...placed, ...moves].map(({ uuid }) => uuid)
}

/** Ends the claims of servers and moves. */
export function* release(consumers: readonly string[], now: number): Write<void> {
  const requests = consumers.map(consumer => ({ kind: 'release', consumer, owner: OWNER }) as const)
  const refusal = (yield* claimBatch(requests, now)).find(verdict => verdict !== null)
  if (refusal) throw refusal
}
