// A booking while it is composed, before anything is written. Pure: what is asked of the server, and what it is called.
import type { LeaseChange, NewLease } from '../../../src/client/leases.ts'

/** What is moved or stretched, as it was before. Of an allocation only the end can change. */
export interface Moved {
  kind: 'lease' | 'allocation'
  id: string
  name: string
  start: number
  end: number
  /** The uuids of its machines that the viewer sees. */
  machines: readonly string[]
}

export interface Draft {
  kind: 'new' | 'move'
  /** Empty: it gets a name by itself. */
  name: string
  class: string
  traits: readonly string[]
  count: number
  /** Milliseconds, on the server's clock. */
  start: number
  end: number
  /** The uuids of the machines that were chosen; empty: any that fit. */
  machines: readonly string[]
  /** What is moved; null for a new one. */
  lease: Moved | null
}

const MINUTE_MS = 60_000
const PATIENCE_MS = 15 * MINUTE_MS
export const HOUR_MS = 60 * MINUTE_MS

/** The API counts in whole minutes of UTC. */
const dateText = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
/** Its dates are UTC, whether they say so or not. */
export const dateIn = (text: string): number => Date.parse(`${text.trim().replace(' ', 'T').replace(/Z$/, '')}Z`)

/** What is to start now must not be too late when it arrives. */
const startText = (start: number, now: number) => (start < now ? 'now' : dateText(start))

/** The name that it gets unless one is given: `5-gpu-a100`. */
export const nameOf = ({ name, count, class: kind }: Pick<Draft, 'name' | 'count' | 'class'>): string =>
  name.trim() === '' ? `${count}-${kind}` : name.trim()

/** What the server is asked to book. */
export function leaseOf(draft: Draft, now: number): Omit<NewLease, 'id'> {
  const { count, traits, machines, start, end } = draft
  return {
    name: nameOf(draft),
    start_date: startText(start, now),
    end_date: dateText(end),
    reservations: [
      {
        resource_type: 'physical:node',
        resource_class: draft.class,
        traits: [...traits],
        min: count,
        max: count,
        ...(machines.length > 0 && { candidate_nodes: [...machines] }),
      },
    ],
  }
}

/** What changes of a lease that is moved: only its dates, and only those that differ. */
export function changeOf({ start, end }: Pick<Draft, 'start' | 'end'>, before: Moved, now: number): LeaseChange {
  return {
    ...(start !== before.start && { start_date: startText(start, now) }),
    ...(end !== before.end && { end_date: dateText(end) }),
  }
}

export const isChanged = ({ start, end, lease }: Draft): boolean =>
  lease === null || start !== lease.start || end !== lease.end

/** A lease that has started stays where it is: only its end can move. */
export const hasStarted = ({ lease }: Pick<Draft, 'lease'>, now: number): boolean =>
  lease !== null && lease.start <= now

/** What is wrong with it before any server is asked; null if nothing is. */
export function wrongWith({ kind, count, start, end, class: wanted }: Draft, now: number): Wrong | null {
  if (wanted === '' && kind === 'new') return 'class'
  if (count < 1) return 'count'
  if (end <= start) return 'end'
  if (end <= now) return 'past'
  // What was to start now still does when someone has thought about it for a while.
  return kind === 'new' && start < now - PATIENCE_MS ? 'start' : null
}
export type Wrong = 'class' | 'count' | 'end' | 'past' | 'start'

/** Chosen machines count as wanted: so many are booked as were chosen, unless fewer are asked for. */
export const withMachines = (draft: Draft, machines: readonly string[]): Draft => ({
  ...draft,
  machines,
  count: machines.length > 0 ? machines.length : draft.count,
})
