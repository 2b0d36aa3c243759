// What a lease is to be: what is booked, and from when until when. From flags to the request.
import type { Command } from 'commander'
import type { NewLease } from '../client/index.ts'
import { UsageError } from '../shared/usage-error.ts'
import { countOf, type Document, durationOf, jsonOrText, listed, many, pairsIn } from './client-command.ts'
import { END_FORMS, instantSaid } from './local-time.ts'

export interface TermFlags {
  start?: string
  until?: string
  for?: string
  startDate?: string
  endDate?: string
  beforeEndDate?: string
  nodes?: string[]
  trait?: string[]
  instances?: number
  vcpus?: number
  memory?: number
  disk?: number
  flavor?: string
  affinity?: string
  reservation?: string[]
}

const AFFINITIES = new Map([
  ['true', true],
  ['false', false],
  ['none', null],
])

function affinityOf(word: string): string {
  const lower = word.toLowerCase()
  if (AFFINITIES.has(lower)) return lower
  throw new UsageError(`'${word}' is not true (one host), false (a host each) or none (any hosts)`)
}

export const withTerms = (command: Command) =>
  command
    .option('--nodes <class:count>', 'so many machines of a class: gpu:3, or gpu:2-4; may be repeated', many)
    .option('--trait <traits...>', 'machines that have all of these', listed)
    .option(
      '--instances <count>',
      'so many instances, each of a --flavor, or with --vcpus, --memory and --disk',
      countOf,
    )
    .option('--vcpus <count>', 'of each instance', countOf)
    .option('--memory <MB>', 'of each instance', countOf)
    .option('--disk <GB>', 'of each instance; none if it boots from a volume', countOf)
    .option('--flavor <id>', 'of each instance: its size, its other resources and its traits')
    .option('--affinity <word>', 'of the instances: true for one host, false for a host each, none for any', affinityOf)
    .option('--start <time>', `when it starts; now if it isn't said: ${END_FORMS}`)
    .option('--until <time>', 'when it ends; likewise')
    .option('--for <duration>', 'how long, instead of the end: 2h, 1d12h, 1w')
    .option('--start-date <date>', 'like --start, in UTC, as in "2030-01-01 10:00"')
    .option('--end-date <date>', 'likewise')
    .option('--before-end-date <date>', 'when to be reminded of the end, in UTC')
    .option('--reservation <key=value,...>', "what is booked, in the API's words; may be repeated", many)

export function wantedIn(flags: TermFlags, now: number): Omit<NewLease, 'name'> {
  const [start, startText] = startIn(flags, now)
  return {
    start_date: startText,
    end_date: endIn(flags, start),
    reservations: reservationsIn(flags),
    ...(flags.beforeEndDate !== undefined && { before_end_date: flags.beforeEndDate }),
  }
}

function startIn({ start, startDate }: TermFlags, now: number): [number, string] {
  if (start !== undefined && startDate !== undefined)
    throw new UsageError('--start and --start-date exclude each other')
  const said = start ?? startDate ?? 'now'
  if (said.trim() === 'now') return [now, 'now']
  const at = start === undefined ? timeOf(said) : instantSaid(said, { word: 'from' })
  return [at, start === undefined ? said : dateText(at)]
}

function endIn({ until, endDate, for: duration }: TermFlags, start: number): string {
  const given = [until, endDate, duration].filter(one => one !== undefined)
  if (given.length !== 1) throw new UsageError('say --until when, or --for how long')
  if (duration !== undefined) return dateText(start + durationOf(duration))
  return endDate ?? dateText(instantSaid(until!, { word: 'until' }))
}

function reservationsIn({ nodes, trait, reservation, ...flags }: TermFlags): Document[] {
  if (trait && !nodes) throw new UsageError('--trait says which machines: say with --nodes how many')
  const found = [
    ...(nodes ?? []).map(word => nodesIn(word, trait)),
    ...instancesIn(flags),
    ...(reservation ?? []).map(reservationIn),
  ]
  if (found.length === 0) throw new UsageError('say what is to be booked: --nodes gpu:3, --instances or --reservation')
  return found
}

function instancesIn({ instances: amount, flavor, vcpus, memory, disk, affinity }: TermFlags): Document[] {
  const hasSize = (vcpus ?? memory ?? disk) !== undefined
  if (amount === undefined) {
    if (hasSize || flavor !== undefined || affinity !== undefined) throw new UsageError('say with --instances how many')
    return []
  }
  const where = affinity === undefined ? {} : { affinity: AFFINITIES.get(affinity) }
  if (flavor !== undefined) {
    if (hasSize) throw new UsageError('the size of an instance is that of its --flavor')
    return [{ resource_type: 'flavor:instance', flavor_id: flavor, amount, ...where }]
  }
  if (vcpus === undefined || memory === undefined)
    throw new UsageError('say how large an instance is: with --vcpus and --memory, or with --flavor')
  return [{ resource_type: 'virtual:instance', vcpus, memory_mb: memory, disk_gb: disk ?? 0, amount, ...where }]
}

const NODES = /^([^:\s]+)(?::(\d{1,9})(?:-(\d{1,9}))?)?$/

function nodesIn(word: string, traits: readonly string[] | undefined): Document {
  const [, resource_class, least = '1', most = least] = NODES.exec(word) ?? []
  if (resource_class === undefined) throw new UsageError(`'${word}' is not of the form gpu:3 or gpu:2-4`)
  const [min, max] = [countOf(least), countOf(most)]
  if (min > max) throw new UsageError(`'${word}' asks for more than ${max} at least`)
  return { resource_type: 'physical:node', resource_class, min, max, ...(traits && { traits }) }
}

/** `key=value,key=value`; a comma separates only if another key follows, else it belongs to the value. */
export function reservationIn(text: string): Document {
  const pairs = pairsIn(text.split(/,(?=[a-z_]+=)/), value => value)
  const lists = ['traits', 'candidate_nodes'].filter(name => pairs[name] !== undefined)
  return { ...pairs, ...Object.fromEntries(lists.map(name => [name, listIn(pairs[name] as string)])) }
}

function listIn(text: string): unknown {
  const read = jsonOrText(text)
  return Array.isArray(read) ? read : text.split(/[,+]/)
}

/** The API's dates are UTC, whether they say so or not. */
export function timeOf(date: string): number {
  const ms = Date.parse(`${date.trim().replace(' ', 'T').replace(/Z$/, '')}Z`)
  if (Number.isNaN(ms)) throw new UsageError(`'${date}' is no date such as "2030-01-01 10:00"`)
  return ms
}

/** The server counts in whole minutes. */
export const dateText = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
