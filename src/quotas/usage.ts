// Counts the usage of a project, from the tables themselves: there is no second count that could drift.
import { jsonIn } from '../shared/json.ts'
import { WISH } from '../store/schema/json-columns.ts'
import type { Wish } from '../store/schema/compute.ts'
import { query } from '../store/statement.ts'
import { all, type Read, together } from '../store/transaction.ts'
import { NODES_OF, STORED } from './limits.ts'
import { storedMib } from './texts.ts'

/** A group of limits that are counted together because they change together. */
export type Kind = 'nodes' | 'servers' | 'leases' | 'texts'

export const kindOf = (name: string): Kind | null => {
  if (name === 'nodes' || name.startsWith(NODES_OF)) return 'nodes'
  if (name === 'instances' || name === 'vcpus') return 'servers'
  if (name === STORED) return 'texts'
  return name === 'leases' || name === 'lease_hours' ? 'leases' : null
}

/** The usage by name of the limit; an absent name means zero. */
export type Usage = ReadonlyMap<string, number>

const HOUR_MS = 3_600_000

const allocationsOf = query((db, a: { project: string }) =>
  db
    .selectFrom('allocations')
    .select(['uuid', 'resource_class', 'expires_at'])
    .where('project_id', '=', a.project)
    .where('state', '<>', 'error'),
)
const holdsOf = query((db, a: { project: string; now: number }) =>
  db
    .selectFrom('reservations as r')
    .innerJoin('nodes as n', 'n.id', 'r.node_id')
    .select(['n.resource_class', 'r.expires_at'])
    .where('r.project_id', '=', a.project)
    .where('r.expires_at', '>', a.now),
)
const bookingsOf = query((db, a: { project: string }) =>
  db
    .selectFrom('leases as l')
    .innerJoin('bookings as b', 'b.lease_id', 'l.id')
    .innerJoin('nodes as n', 'n.provider_id', 'b.provider_id')
    .select(['n.resource_class', 'b.allocation', 'b.start_at', 'b.end_at'])
    .where('l.project_id', '=', a.project),
)
const metalServersOf = query((db, a: { project: string }) =>
  db
    .selectFrom('servers as s')
    .innerJoin('nodes as n', 'n.provider_id', 's.host_id')
    .select('n.resource_class')
    .where('s.project_id', '=', a.project)
    .where('s.is_metal', '=', 1),
)
const serversOf = query((db, a: { project: string }) =>
  db
    .selectFrom('servers')
    .select(e => ['wish', e.fn.countAll<number>().as('count')])
    .where('project_id', '=', a.project)
    .groupBy('wish'),
)
const leasesOf = query((db, a: { project: string; now: number }) =>
  db
    .selectFrom('leases')
    .select(['start_at', 'end_at'])
    .where('project_id', '=', a.project)
    .where('end_at', '>', a.now)
    .where('status', '<>', 'TERMINATED')
    .where('is_deleted', '=', 0),
)

/** The project's usage of these kinds. Who only shows it leaves out what can't be read. */
export function* usageOf(project: string, kinds: ReadonlySet<Kind>, now: number, read = jsonIn): Read<Usage> {
  return new Map([
    ...(kinds.has('nodes') ? nodeUsage(yield* nodesOf(project, now)) : []),
    ...(kinds.has('servers') ? yield* serverUsage(project, read) : []),
    ...(kinds.has('leases') ? yield* leaseUsage(project, now) : []),
    ...(kinds.has('texts') ? [[STORED, yield* storedMib(project)] as const] : []),
  ])
}

/** A node that the project has, or will have, from one time to another. */
interface Span {
  resourceClass: string | null
  from: number
  until: number
}

function* nodesOf(project: string, now: number): Read<Span[]> {
  const [allocations, holds, bookings, servers] = yield* together(
    allocationsOf({ project }),
    holdsOf({ project, now }),
    bookingsOf({ project }),
    metalServersOf({ project }),
  )
  // A leased node also has an allocation; it must not count twice.
  const given = new Set(bookings.map(({ allocation }) => allocation))
  const own = allocations.filter(({ uuid }) => !given.has(uuid))
  const span = (row: { resource_class: string | null }, from: number, until: number | null): Span => ({
    resourceClass: row.resource_class,
    from,
    // An overdue one is still in use.
    until: until === null ? Infinity : Math.max(until, now + 1),
  })
  return [
    ...own.map(row => span(row, now, row.expires_at)),
    ...holds.map(row => span(row, now, row.expires_at)),
    ...bookings.map(row => span(row, Math.max(row.start_at, now), row.end_at)),
    ...servers.map(row => span(row, now, null)),
  ]
}

function nodeUsage(spans: readonly Span[]): [string, number][] {
  const byClass = Map.groupBy(spans, ({ resourceClass }) => resourceClass)
  return [
    ['nodes', mostAtOnce(spans)],
    ...[...byClass].map(([name, some]): [string, number] => [`${NODES_OF}${name ?? ''}`, mostAtOnce(some)]),
  ]
}

/** The largest number of spans at one time. A span that ends makes room for one that begins. */
export function mostAtOnce(spans: readonly Pick<Span, 'from' | 'until'>[]): number {
  const steps = spans.flatMap(({ from, until }) => [
    { at: from, by: 1 },
    { at: until, by: -1 },
  ])
  steps.sort((a, b) => (a.at === b.at ? a.by - b.by : a.at - b.at))
  let [present, most] = [0, 0]
  for (const { by } of steps) {
    present += by
    most = Math.max(most, present)
  }
  return most
}

export const vcpusOf = ({ groups }: Wish): number =>
  Object.values(groups).reduce((sum, { resources }) => sum + (resources['VCPU'] ?? 0), 0)

function* serverUsage(project: string, read: typeof jsonIn): Read<[string, number][]> {
  const rows = yield* all(serversOf({ project }))
  return [
    ['instances', rows.reduce((sum, { count }) => sum + count, 0)],
    ['vcpus', rows.reduce((sum, { wish, count }) => sum + count * vcpusOf(read(wish, WISH)), 0)],
  ]
}

function* leaseUsage(project: string, now: number): Read<[string, number][]> {
  const rows = yield* all(leasesOf({ project, now }))
  const ahead = rows.reduce((sum, { start_at, end_at }) => sum + end_at - Math.max(start_at, now), 0)
  return [
    ['leases', rows.length],
    ['lease_hours', ahead / HOUR_MS],
  ]
}
