// Leases in words: whose they are, what they have, and why one doesn't fit.
import { quoted } from '../shared/shell.ts'
import { type Lease, type LeaseObstacle, type LeaseReason, type LeaseRefusal, NoFit } from '../client/index.ts'
import { type Document, jsonOrText } from './client-command.ts'
import { isObject } from '../shared/is-object.ts'
import { CommandFailure, EXIT } from './failures.ts'
import { timeOf } from './lease-terms.ts'
import { localTime } from './local-time.ts'
import type { OutputFlags, Row } from './output.ts'

/** The project of those who need none. */
const NOBODY = '00000000-0000-0000-0000-000000000000'

/** `bob (nlp)`. */
function whoOf({ user_name, user_id, project_name, project_id }: Lease): string {
  const user = user_name ?? user_id
  return project_id === NOBODY ? user : `${user} (${project_name ?? project_id})`
}

/** `3 gpu: gpu-01, gpu-02, gpu-05`. */
export const whatIn = ({ reservations }: Pick<Lease, 'reservations'>): string => reservations.map(partIn).join('; ')

/** What there is to say of a reservation, as it was asked for or as it is. */
interface Part {
  resource_type?: string
  resource_class?: string
  traits?: string[]
  min?: number | string
  max?: number | string
  amount?: number | string
  vcpus?: number | string
  memory_mb?: number | string
  disk_gb?: number | string
  flavor_id?: string
  resource_properties?: string
  nodes?: { node: string; name?: string | null }[]
}

function partIn(reservation: Document): string {
  const { resource_type, min, max, amount, nodes = [] } = reservation as Part
  if (amount !== undefined) return `${counted(amount, 'instance')} of ${sizeIn(reservation)}`
  if (nodes.length === 0) {
    const wanted = min === max ? min : `${min} to ${max}`
    return resource_type === 'physical:host' ? counted(wanted, 'host') : `${wanted} ${kindOf(reservation)}`
  }
  const names = nodes
    .map(({ name, node }) => name ?? node)
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  return `${nodes.length} ${kindOf(reservation)}: ${names.join(', ')}`
}

/** Of a flavor, its name at that time; before there is an answer, its id. */
function sizeIn(reservation: Document): string {
  const { resource_type, vcpus, memory_mb, disk_gb, flavor_id, resource_properties } = reservation as Part
  if (vcpus === undefined) return `flavor ${flavor_id}`
  const size = `${counted(vcpus, 'vCPU')}, ${memory_mb} MB, ${disk_gb} GB`
  const flavor = resource_type === 'flavor:instance' ? jsonOrText(resource_properties ?? '') : null
  const { name } = (isObject(flavor) ? flavor : {}) as { name?: unknown }
  return typeof name === 'string' ? `${name}: ${size}` : size
}

const counted = (count: number | string | undefined, noun: string) =>
  `${count} ${noun}${Number(count) === 1 ? '' : 's'}`

function kindOf(reservation: Document): string {
  const { resource_type, resource_class } = reservation as Part
  if (resource_type === 'physical:node') return resource_class ?? 'machines'
  return resource_type === 'physical:host' ? 'hosts' : 'instances'
}

export const COLUMNS = ['id', 'name', 'who', 'what', 'status', 'start_date', 'end_date', 'degraded']

/** Programs get what the API says. */
export const isForPeople = ({ format, column }: OutputFlags) => format === 'table' && !column

/** A lease as a row for people. */
export const rowOf = (lease: Lease): Row => ({ ...lease, who: whoOf(lease), what: whatIn(lease) })

/** A lease as a sheet for people. */
export function sheetFor(lease: Lease): Row {
  const { id, name, status, status_reason, start_date, end_date, degraded, reservations, events, ...rest } = lease
  const { user_id: _, project_id: __, user_name: ___, project_name: ____, trust_id: _____, ...more } = rest
  const first = { id, name, who: whoOf(lease), what: whatIn(lease), status, ...(status_reason && { status_reason }) }
  const parts = reservations.map(one => `${partIn(one)} (${String(one['status'])}, ${String(one['id'])})`)
  const times = events.map(({ event_type, time, status: done }) => {
    return `${String(event_type)} ${minuteShown(timeOf(String(time)))} (${String(done)})`
  })
  return {
    ...first,
    start_date,
    end_date,
    degraded,
    reservations: parts.join('\n'),
    events: times.join('\n'),
    ...more,
  }
}

/** What a lease asks for that is refused, and what would help. */
interface Asked {
  reservations: readonly Document[]
  /** The present end, where it is to be extended. */
  end?: number
  /** How to book the next window, if that can be said. */
  next?: string
}

/** Runs a request; a refusal for lack of room comes in words for people. */
export async function inWords<T>(asked: Asked, request: () => Promise<T>): Promise<T> {
  try {
    return await request()
  } catch (error) {
    const refusal = error instanceof NoFit ? refusalIn(error) : null
    throw refusal === null ? error : doesNotFit(refusal, asked)
  }
}

/** null from an older server, which says less. */
export function refusalIn({ body }: NoFit): LeaseRefusal | null {
  const { details } = body as { details?: Partial<LeaseRefusal> }
  return details?.most === undefined ? null : (details as LeaseRefusal)
}

/** The same for a dry run and for the real request. */
export function doesNotFit(refusal: LeaseRefusal, asked: Asked): CommandFailure {
  const lacking = asked.reservations.flatMap((one, at) => lackOf(refusal, one, at))
  const what = lacking.length > 0 ? lacking.join('; ') : 'its reservations do not fit together'
  return new CommandFailure(EXIT.conflict, `doesn't fit: ${what}`, whenItFits(refusal, asked))
}

function whenItFits({ windows: [first], until_date }: LeaseRefusal, { end, next }: Asked): string | null {
  const until = until_date === null || (end !== undefined && timeOf(until_date) <= end) ? null : until_date
  const parts = [
    ...(until === null ? [] : [`you can have it until ${shown(until)}`]),
    ...(first && end === undefined ? [`it fits from ${windowIn(first)}${next === undefined ? '' : `; ${next}`}`] : []),
  ]
  return parts.length === 0 ? null : parts.join('; ')
}

export function windowIn({ start_date, end_date, last_start_date }: LeaseRefusal['windows'][number]): string {
  const window = `${shown(start_date)} to ${shown(end_date)}`
  if (last_start_date === null) return `${window}, or later`
  return last_start_date === start_date ? window : `${window}, or with a start until ${shown(last_start_date)}`
}

/** Leases have whole minutes. */
export const minuteShown = (at: number) => localTime(at).replace(/(\d:\d\d):00\b/, '$1')
const shown = (date: string) => minuteShown(timeOf(date))

const OTHER = 'does not match'
const NOT_ENROLLED = 'not enrolled for leases'
/** How many machines in the way are named. */
const NAMED_MAX = 3

/** Why there isn't enough for one reservation; nothing if there is. */
function lackOf({ reasons, most }: LeaseRefusal, asked: Document, at: number): string[] {
  const own = reasons.filter(({ reservation }) => reservation === at)
  const outside = own.find(({ reason }) => reason === NOT_ENROLLED)
  const matching = own.filter(({ reason }) => reason !== OTHER && reason !== NOT_ENROLLED)
  if (matching.length === 0) return [noneOf(asked, outside)]
  const { count, of } = most[at] ?? { count: 0, of: 0 }
  if (count >= of) return []
  const kind = kindOf(asked)
  const others = outside ? [`${outside.count} more ${kind} can't be booked yet: ${enrolling(outside)}`] : []
  return [`${count} of ${of} ${kind} ${of === 1 ? 'is' : 'are'} free then`, ...obstaclesIn(matching), ...others]
}

function noneOf(asked: Document, outside: LeaseReason | undefined): string {
  const { resource_type, traits = [] } = asked as Part
  if (resource_type !== 'physical:node')
    return 'there is no such host for leases; one becomes that with: holdfast host create NAME'
  const such = traits.length > 0 ? ` with ${traits.join(' and ')} that can be booked` : ''
  // Whether they have the traits is not told.
  if (outside && traits.length > 0) {
    return `there is no machine of class ${kindOf(asked)}${such}; ${outside.count} ${kindOf(asked)}, whatever the traits, can't be booked yet: ${enrolling(outside)}`
  }
  if (outside) {
    const { count } = outside
    const machines = count === 1 ? '1 machine, which' : `${count} machines, none of which`
    return `${kindOf(asked)}: ${machines} can${count === 1 ? "'t" : ''} be booked yet: ${enrolling(outside)}`
  }
  return `there is no machine of class ${kindOf(asked)}${such}`
}

/** Only admins are told which, and only they can do it. */
const enrolling = ({ sample, count }: LeaseReason) =>
  sample.length === 0
    ? `an admin can enrol ${count === 1 ? 'it' : 'them'}`
    : `holdfast node leasable set ${sample.map(({ name }) => quoted(name)).join(' ')}`

/** For those who may not know which machines these are. */
const IN_WORDS: Readonly<Record<string, string>> = {
  'leased as a whole': 'booked',
  'not reservable': "can't be booked now",
}

function obstaclesIn(matching: readonly LeaseReason[]): string[] {
  const busy = matching.filter(({ reason }) => reason !== 'free')
  const named = busy.flatMap(({ sample }) => sample).slice(0, NAMED_MAX)
  if (named.length === 0) return busy.map(({ reason, count }) => `${count} ${IN_WORDS[reason] ?? reason}`)
  const left = busy.reduce((sum, { count }) => sum + count, 0) - named.length
  const alike = [...Map.groupBy(named, obstacleIn)].map(([what, these]) => {
    const names = these.map(({ name }) => name).join(', ')
    return what.startsWith(':') ? names + what : `${names} ${these.length === 1 ? 'is' : 'are'} ${what}`
  })
  return [...alike, ...(left > 0 ? [`${left} more ${left === 1 ? 'is' : 'are'} not free`] : [])]
}

function obstacleIn({ detail, from, until, lease }: LeaseObstacle): string {
  if (until === null) return `: ${detail}`
  if (from === null) return `in use until ${shown(until)}`
  return `booked from ${shown(from)} to ${shown(until)}${lease === null ? '' : ` by ${lease.name}`}`
}
