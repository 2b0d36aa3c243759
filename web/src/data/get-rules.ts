// Asking for machines at once: what is asked of the server, and what its forecast says. Pure.
import type { Forecast, NewAllocation, Reasons } from '../../../src/client/allocations.ts'

export interface Wanted {
  class: string
  traits: readonly string[]
  count: number
  /** null: without an end. */
  lengthMs: number | null
  /** How long to wait for one that is free; null: not at all. */
  waitMs: number | null
  name: string
  note: string
  /** Uuids of the only machines that will do; empty: any. */
  machines: readonly string[]
}

export interface Outlook {
  /** `now` there is one, `later` it would wait, `never` nothing will do. */
  when: 'now' | 'later' | 'never'
  /** How many there are now; fewer than are asked for means that the rest waits. */
  free: number
  place: { place: number; of: number } | null
  /** When it likely begins; null if nobody can tell. */
  start: number | null
  /** What has to end before: the machine's name. */
  because: string | null
  reasons: Reasons | null
}

const iso = (ms: number) => new Date(ms).toISOString()

/** The request for one machine. What waits is had for as long as was asked for, from its likely start on. */
export function requestOf(wanted: Wanted, now: number, start: number | null = null): NewAllocation {
  const { traits, lengthMs, waitMs, machines } = wanted
  return {
    resource_class: wanted.class,
    ...(traits.length > 0 && { traits: [...traits] }),
    ...(machines.length > 0 && { candidate_nodes: [...machines] }),
    ...(lengthMs !== null && { expires_at: iso(Math.max(now, start ?? now) + lengthMs) }),
    ...(waitMs !== null && { wait_until: iso(now + waitMs) }),
    ...(wanted.note.trim() !== '' && { note: wanted.note.trim() }),
  }
}

/** The names of several: `train-1`, `train-2`. */
export const namesOf = ({ name, count }: Pick<Wanted, 'name' | 'count'>): (string | undefined)[] => {
  const plain = name.trim()
  if (plain === '') return Array.from({ length: count }, () => undefined)
  return count === 1 ? [plain] : Array.from({ length: count }, (_, place) => `${plain}-${place + 1}`)
}

export function outlookOf({ fits, count, reasons, queue = null }: Forecast, wanted: Wanted): Outlook {
  const start = queue?.start ? Date.parse(queue.start) : null
  const isEnough = fits && count >= wanted.count
  const isHopeless = !fits && (reasons?.considered ?? 0) === 0
  const place = queue === null ? null : { place: queue.place, of: queue.of }
  return {
    when: isEnough
      ? 'now'
      : isHopeless || noneSuits(reasons)
        ? 'never'
        : fits || wanted.waitMs !== null
          ? 'later'
          : 'never',
    free: count,
    place: fits ? null : place,
    start: fits ? null : start,
    because: queue?.because ? (queue.because.node.name ?? queue.because.node.uuid) : null,
    reasons: reasons ?? null,
  }
}

/** Time heals some of what is in the way, but not that machines are other ones. */
const FOREVER = new Set(['missing traits', 'not a candidate', 'retired', 'leasable'])

const noneSuits = (reasons: Reasons | undefined) =>
  reasons !== undefined && reasons.available === 0 && reasons.causes.every(({ cause }) => FOREVER.has(cause))

/** What to leave out, so that there are some. */
export interface Relaxation {
  traits: readonly string[]
  machines: boolean
  nodes: number
}

export const relaxationsOf = (reasons: Reasons | null): Relaxation[] =>
  (reasons?.relaxations ?? []).map(({ without, nodes }) => ({
    traits: without.traits ?? [],
    machines: without.candidate_nodes ?? false,
    nodes,
  }))

export const relaxed = (wanted: Wanted, { traits, machines }: Relaxation): Wanted => ({
  ...wanted,
  traits: wanted.traits.filter(trait => !traits.includes(trait)),
  machines: machines ? [] : wanted.machines,
})
