// What the server says to a draft: that it fits, or why not and what would. Pure. The dry run and the refusal of the real
// booking come to the same.
import { NoFit } from '../../../src/client/errors.ts'
import type { LeaseExplained, LeaseObstacle, LeaseReason, LeaseRefusal } from '../../../src/client/leases.ts'
import { dateIn, type Draft } from './booking-draft.ts'

export interface Obstacle {
  /** The uuid of the machine, or the name of a host. */
  machine: string
  name: string
  from: number | null
  until: number | null
  lease: { id: string; name: string } | null
}

export interface Reason {
  /** `not matching` are other machines altogether; `not bookable` those that nobody has opened for bookings. */
  kind: 'free' | 'booked' | 'closed' | 'not matching' | 'not bookable'
  count: number
  /** Some of them; none for those who may not know. */
  sample: readonly Obstacle[]
}

interface Window {
  start: number
  end: number
  /** It may start at any time until then; null: at any later time. */
  lastStart: number | null
}

export interface Answer {
  fits: boolean
  /** Why not, in the server's words, where it isn't for lack of room. */
  message: string | null
  /** How many there are then, and how many are asked for. */
  free: number
  of: number
  reasons: readonly Reason[]
  windows: readonly Window[]
  /** The latest end with which it fits from the start that was asked for. */
  until: number | null
  /** The names of the machines that it would get; empty if they are not told. */
  places: readonly string[]
}

/** It fits, and there is no more to say. */
export const FITS: Answer = {
  fits: true,
  message: null,
  free: 1,
  of: 1,
  reasons: [],
  windows: [],
  until: null,
  places: [],
}

const KINDS: Readonly<Record<string, Reason['kind']>> = {
  free: 'free',
  'does not match': 'not matching',
  'not reservable': 'closed',
  'not enrolled for leases': 'not bookable',
}

const obstacleOf = ({ host, name, from, until, lease }: LeaseObstacle): Obstacle => ({
  machine: host,
  name,
  from: from === null ? null : dateIn(from),
  until: until === null ? null : dateIn(until),
  lease: lease === null ? null : { id: lease.id, name: lease.name },
})

/** What the server calls booked, leased or in use is all the same to who wants it. */
function reasonsIn(reasons: readonly LeaseReason[]): Reason[] {
  const found = new Map<Reason['kind'], Reason>()
  for (const { reason, count, sample } of reasons) {
    const kind = KINDS[reason] ?? 'booked'
    const before = found.get(kind) ?? { kind, count: 0, sample: [] }
    found.set(kind, { kind, count: before.count + count, sample: [...before.sample, ...sample.map(obstacleOf)] })
  }
  return [...found.values()]
}

function refusalIn({ reasons, windows, until_date, most }: LeaseRefusal): Omit<Answer, 'fits' | 'message' | 'places'> {
  return {
    free: most.reduce((sum, { count }) => sum + count, 0),
    of: most.reduce((sum, { of }) => sum + of, 0),
    reasons: reasonsIn(reasons),
    windows: windows.map(({ start_date, end_date, last_start_date }) => ({
      start: dateIn(start_date),
      end: dateIn(end_date),
      lastStart: last_start_date === null ? null : dateIn(last_start_date),
    })),
    until: until_date === null ? null : dateIn(until_date),
  }
}

export const answerOf = (explained: LeaseExplained): Answer => ({
  fits: explained.fits,
  message: null,
  ...refusalIn(explained),
  places: explained.places.flatMap(place => Object.keys(place)).filter(name => !name.startsWith('#')),
})

/** The answer that a refused request stands for. `message` says any other failure in words. */
export function answerToRefusal(error: unknown, message: string): Answer {
  const details = error instanceof NoFit ? (error.body as { details?: LeaseRefusal } | null)?.details : undefined
  if (details?.most !== undefined) return { fits: false, message: null, ...refusalIn(details), places: [] }
  return { ...FITS, fits: false, message, free: 0 }
}

/** Something that would fit, instead of what was asked for. */
export type Offer =
  | { kind: 'window'; start: number; end: number; laterMs: number }
  | { kind: 'fewer'; count: number; by: number }
  | { kind: 'shorter'; end: number; byMs: number }

const OFFERS_MAX = 3

/** Up to three, the closest to what was asked for first. */
export function offersFor(draft: Draft, { fits, windows, free, until }: Answer, now: number): Offer[] {
  if (fits) return []
  const { count, start, end, lease, machines } = draft
  const isStretch = lease !== null && start === lease.start
  const later = windows.map((window): Offer => ({
    kind: 'window',
    start: window.start,
    end: window.end,
    laterMs: window.start - start,
  }))
  const isUseful = until !== null && until > Math.max(start, now) && (!isStretch || until > lease.end)
  const shorter: Offer[] = isUseful ? [{ kind: 'shorter', end: until, byMs: end - until }] : []
  if (isStretch) return [...shorter, ...later].slice(0, OFFERS_MAX)
  // Chosen machines are chosen: which of them to leave out isn't ours to say.
  const isFewer = lease === null && machines.length === 0 && free > 0 && free < count
  const fewer: Offer[] = isFewer ? [{ kind: 'fewer', count: free, by: count - free }] : []
  const here = [...fewer, ...shorter]
  return [...later.slice(0, OFFERS_MAX - Math.min(here.length, 1)), ...here].slice(0, OFFERS_MAX)
}

export function taken(draft: Draft, offer: Offer): Draft {
  if (offer.kind === 'fewer') return { ...draft, count: offer.count }
  return offer.kind === 'shorter' ? { ...draft, end: offer.end } : { ...draft, start: offer.start, end: offer.end }
}
