// Reads what a calendar shows: the leases and allocations of a user, a project or a node, as far as its maker sees them.
import { sql } from 'kysely'
import { leasesWithIds } from '../leases/lifecycle/rows.ts'
import { ownInView, type View } from '../metal/access.ts'
import { type Allocation, selectAllocations } from '../metal/allocations/rows.ts'
import { limits } from '../shared/limits.ts'
import { query } from '../store/statement.ts'
import { all, type Read, together } from '../store/transaction.ts'
import { appointmentOfAllocation, appointmentOfLease, type NodeWithUuid } from './appointments.ts'
import type { Appointment } from './icalendar.ts'
import type { PublishedCalendar } from './published.ts'

/** What the maker of a calendar sees now; null for none of these. */
export interface Sight {
  leases: View | null
  allocations: View | null
  nodes: View
}

type Kind = PublishedCalendar['kind']

interface Scope extends View {
  whose: string
  now: number
  /** What ended before this is no longer shown. */
  since: number
  limit: number
}

/** The kinds of calendars, each with its leases. */
const leasesOf = (kind: Kind, isOver: boolean) =>
  query((db, a: Scope) => {
    const some = db.selectFrom('leases').select('leases.id').where(ownInView('leases.project_id', a))
    const whose =
      kind === 'node'
        ? some.where('leases.id', 'in', e =>
            e
              .selectFrom('leasables')
              .innerJoin('bookings', 'bookings.provider_id', 'leasables.provider_id')
              .select('bookings.lease_id')
              .where('leasables.name', '=', a.whose)
              .where('leasables.kind', '=', 'node'),
          )
        : some.where(kind === 'user' ? 'leases.user_id' : 'leases.project_id', '=', a.whose)
    const then = isOver
      ? whose.where('end_at', '<=', a.now).where('end_at', '>', a.since).orderBy('end_at', 'desc')
      : whose.where('end_at', '>', a.now).orderBy('end_at')
    return then.orderBy('leases.id').limit(sql<number>`cast(${a.limit} as bigint)`)
  })

/** An allocation without an end is no appointment, and neither is one that is renewed more often than programs look. */
const allocationsOf = (kind: Kind) =>
  query((db, a: Scope) =>
    selectAllocations(db)
      .where(kind === 'node' ? 'n.uuid' : kind === 'user' ? 'a.user_id' : 'a.project_id', '=', a.whose)
      .where(ownInView('a.owner', a))
      .where('a.state', '<>', 'error')
      .where('a.expires_at', '>', a.since)
      .where(sql<boolean>`a.expires_at - coalesce(a.updated_at, a.created_at) >= ${sql.lit(limits.calendarShortestMs)}`)
      .orderBy('a.expires_at')
      .orderBy('a.id')
      .limit(sql<number>`cast(${a.limit} as bigint)`),
  )

const ofKind = (kind: Kind) => ({
  over: leasesOf(kind, true),
  ahead: leasesOf(kind, false),
  allocations: allocationsOf(kind),
})
const STATEMENTS = { user: ofKind('user'), project: ofKind('project'), node: ofKind('node') }

const nodesWithUuids = query((db, a: { uuids: readonly string[] }, on) =>
  db
    .selectFrom('nodes')
    .select(['uuid', 'name', 'description', 'owner', 'lessee', 'updated_at'])
    .where(on.isIn('uuid', a.uuids)),
)

interface Shown {
  appointments: Appointment[]
  /** There is more than can be shown. */
  isCut: boolean
}

export function* appointmentsOf(
  { kind, whose }: Pick<PublishedCalendar, 'kind' | 'whose'>,
  sight: Sight,
  now: number,
): Read<Shown> {
  const max = limits.calendarAppointmentsMax
  // One more than is shown, to know whether there is more.
  const scope = { whose, now, since: now - limits.calendarPastMs, limit: max + 1 }
  const { over, ahead, allocations } = STATEMENTS[kind]
  const found = sight.leases
    ? yield* together(over({ ...scope, ...sight.leases }), ahead({ ...scope, ...sight.leases }))
    : []
  const leases = yield* leasesWithIds(found.flatMap(some => some.slice(0, max).map(({ id }) => id)))
  const ending: Allocation[] = sight.allocations ? yield* all(allocations({ ...scope, ...sight.allocations })) : []
  const allocated = ending.slice(0, max)
  const nodeWith = yield* nodesAmong(
    [
      ...leases.flatMap(({ reservations }) => reservations.flatMap(({ nodes }) => nodes.map(({ node }) => node))),
      ...allocated.flatMap(({ node_uuid }) => node_uuid ?? []),
    ],
    sight.nodes,
  )
  const appointments = [
    ...leases.map(lease => appointmentOfLease(lease, nodeWith)),
    ...allocated.map(allocation => appointmentOfAllocation(allocation, nodeWith)),
  ]
  return { appointments: appointments.toSorted(inOrder), isCut: [...found, ending].some(({ length }) => length > max) }
}

const inOrder = (a: Appointment, b: Appointment) => a.startAt - b.startAt || (a.uid < b.uid ? -1 : 1)

function* nodesAmong(uuids: readonly string[], { all: seesAll, project }: View): Read<NodeWithUuid> {
  const found = yield* all(nodesWithUuids({ uuids: [...new Set(uuids)] }))
  const isSeen = (owners: readonly (string | null)[]) => seesAll === 1 || (project !== null && owners.includes(project))
  const nodes = new Map(
    found.map(({ owner, lessee, ...node }) => [node.uuid, { ...node, isSeen: isSeen([owner, lessee]) }]),
  )
  return uuid => nodes.get(uuid)
}
