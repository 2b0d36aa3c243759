// Leases as Blazar and Holdfast both show them, and as either takes them: pure functions.
import { quoted } from '../../shared/shell.ts'
import type { Json } from '../../client/index.ts'
import { isObject } from '../../shared/is-object.ts'

export interface SeenLease extends Json {
  id: string
  name: string
  /** UTC without a zone: 2030-01-01T10:00:00.000000. */
  start_date: string
  end_date: string
  status: string
  user_id: string
  project_id: string
  reservations: Json[]
  events: Json[]
}

export interface SeenHost extends Json {
  id: string
  hypervisor_hostname: string
}

/** Milliseconds since 1970. */
export const timeOf = (date: unknown): number => Date.parse(`${String(date).replace(' ', 'T')}Z`)

/** Both services take this form, to the minute. What is no date stays as it is, for them to judge. */
export const minuteOf = (date: unknown): string => {
  const time = timeOf(date)
  return Number.isNaN(time) ? String(date) : new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}

/** What becomes of a lease in a move. Over ones stay where they are. */
type Fate = { kind: 'move' } | { kind: 'over' } | { kind: 'refuse'; reason: string }

const OVER = new Set(['TERMINATED', 'TERMINATING', 'DELETING'])

export function fateOf({ status, start_date, end_date }: SeenLease, now: number): Fate {
  if (OVER.has(status) || timeOf(end_date) <= now) return { kind: 'over' }
  if (status === 'PENDING' && timeOf(start_date) > now) return { kind: 'move' }
  const state = status === 'PENDING' ? 'starts now' : `is ${status}`
  return {
    kind: 'refuse',
    reason: `it ${state}; the service that started it must end it, at ${minuteOf(end_date)} UTC`,
  }
}

/** The members that are asked for, by type of reservation. All else in an answer is made by the service. */
const ASKED: Record<string, readonly string[]> = {
  'virtual:instance': ['vcpus', 'memory_mb', 'disk_gb', 'amount', 'affinity', 'resource_properties'],
  'flavor:instance': ['flavor_id', 'amount', 'affinity'],
  'physical:host': ['min', 'max', 'hypervisor_properties', 'resource_properties', 'before_end'],
  'physical:node': ['min', 'max', 'resource_class', 'traits', 'candidate_nodes'],
}

/** What was asked for, of a reservation that was shown. One of an unknown type is sent as it is, for the target to judge. */
function termsOf(reservation: Json): Json {
  const type = String(reservation['resource_type'])
  const names = ASKED[type] ?? Object.keys(reservation).filter(name => !MADE.has(name))
  const terms: Json = Object.fromEntries(names.map(name => [name, reservation[name] ?? EMPTY[name] ?? null]))
  if (type === 'flavor:instance') terms['flavor_id'] = sourceFlavor(reservation)
  return { resource_type: type, ...terms }
}

/** What an older service leaves out, or shows as null. */
const EMPTY: Json = {
  hypervisor_properties: '',
  resource_properties: '',
  before_end: '',
  traits: [],
  candidate_nodes: [],
}
const MADE = new Set(['id', 'lease_id', 'resource_id', 'resource_type', 'status', 'created_at', 'updated_at'])

/** `flavor_id` is the flavor of the reservation; the one that was asked for is kept as JSON in its properties. */
function sourceFlavor({ resource_properties: kept, flavor_id: own }: Json): unknown {
  if (typeof kept !== 'string' || !kept.startsWith('{')) return own
  try {
    const source: unknown = JSON.parse(kept)
    return isObject(source) ? (source['id'] ?? source['flavorid'] ?? own) : own
  } catch {
    return own
  }
}

/** The time of the event before the end; undefined if it has none, or one that a new lease couldn't have. */
function beforeEndOf({ events, start_date, end_date }: SeenLease): string | undefined {
  const event = events.find(one => one['event_type'] === 'before_end_lease')
  const time = event && timeOf(event['time'])
  return time && time > timeOf(start_date) && time < timeOf(end_date) ? minuteOf(event['time']) : undefined
}

interface BodyOptions {
  /** Whether the target keeps owners and ids: only a Holdfast does. */
  withOwner: boolean
  withReservationIds: boolean
}

/** The request that makes the same lease. */
export function bodyOf(lease: SeenLease, { withOwner, withReservationIds }: BodyOptions): Json {
  const before = beforeEndOf(lease)
  return {
    ...(withOwner && { id: lease.id, project_id: lease.project_id, user_id: lease.user_id }),
    name: lease.name,
    start_date: minuteOf(lease.start_date),
    end_date: minuteOf(lease.end_date),
    ...(before !== undefined && { before_end_date: before }),
    reservations: lease.reservations.map(one => ({ ...(withReservationIds && { id: one['id'] }), ...termsOf(one) })),
    events: [],
  }
}

/** Some reservation has the same id in both. */
export function hasSameReservations(a: SeenLease, b: SeenLease): boolean {
  const ids = new Set(a.reservations.map(({ id }) => id))
  return b.reservations.some(({ id }) => ids.has(id))
}

/** The same lease on both sides, by what was asked for. */
export const isSameLease = (a: SeenLease, b: SeenLease): boolean => signOf(a) === signOf(b)

const signOf = (lease: SeenLease) =>
  JSON.stringify([
    lease.name,
    lease.project_id,
    minuteOf(lease.start_date),
    minuteOf(lease.end_date),
    lease.reservations.map(one => JSON.stringify(termsOf(one))).toSorted(),
  ])

/** Columns of a host; every other member is a capability that an operator gave it. */
const HOST_COLUMNS = new Set([
  'id',
  'hypervisor_hostname',
  'service_name',
  'vcpus',
  'memory_mb',
  'local_gb',
  'cpu_info',
  'hypervisor_type',
  'hypervisor_version',
  'availability_zone',
  'disabled',
  'status',
  'reservable',
  'trust_id',
  'created_at',
  'updated_at',
])

export const capabilitiesOf = (host: SeenHost): Record<string, string> =>
  Object.fromEntries(
    Object.entries(host)
      .filter(([name, value]) => !HOST_COLUMNS.has(name) && value !== null)
      .map(([name, value]) => [name, String(value)]),
  )

/** The command of Blazar's client that makes the host again. */
const hostCommand = (host: SeenHost): string =>
  [
    'openstack reservation host create',
    ...Object.entries(capabilitiesOf(host)).map(([name, value]) => `--extra ${quoted(`${name}=${value}`)}`),
    quoted(host.hypervisor_hostname),
  ].join(' ')

/** The command that makes the lease again, in its project. */
function leaseCommand(lease: SeenLease): string {
  const before = beforeEndOf(lease)
  const reservations = lease.reservations.map(one => {
    const words = Object.entries(termsOf(one)).map(([name, value]) => `${name}=${wordOf(value)}`)
    return `--reservation ${quoted(words.join(','))}`
  })
  return [
    `openstack --os-project-id ${quoted(lease.project_id)} reservation lease create`,
    ...reservations,
    `--start-date ${quoted(minuteOf(lease.start_date))}`,
    `--end-date ${quoted(minuteOf(lease.end_date))}`,
    ...(before === undefined ? [] : [`--before-end-date ${quoted(before)}`]),
    quoted(lease.name),
  ].join(' ')
}

/** As Blazar's client reads them. */
function wordOf(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What is Holdfast's own: a Blazar has no such reservations. */
const isOwn = (reservation: Json) => reservation['resource_type'] === 'physical:node'

/** A line for each host and each lease that has not started; a comment for one that can't be made again. */
export function commandsFor({ hosts, leases }: { hosts: SeenHost[]; leases: SeenLease[] }, now: number): string[] {
  const lines = leases.flatMap(lease => {
    const fate = fateOf(lease, now)
    if (fate.kind === 'over') return []
    if (fate.kind === 'refuse') return `# lease ${lease.name} (${lease.id}): ${fate.reason}`
    if (lease.reservations.some(isOwn)) return `# lease ${lease.name} (${lease.id}): nodes are booked only in Holdfast`
    return leaseCommand(lease)
  })
  return [...hosts.map(hostCommand), ...lines]
}
