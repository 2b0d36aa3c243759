// What has machines, as one thing: a lease may have five of them, and ends or lasts for all at once.
import type { Holdfast } from '../../../../src/client/index.ts'
import { ApiError } from '../../../../src/client/errors.ts'
import type { Machine, PromiseKind } from '../../../../src/client/status.ts'

export interface Had {
  kind: PromiseKind
  id: string
  /** Its name, or that of its machine. */
  name: string
  until: string | null
  machines: Machine[]
}

/** What has these machines, each once; `may` is what the viewer must be allowed to do with it. */
export function hadOf(machines: readonly Machine[], ...may: readonly string[]): Had[] {
  const found = new Map<string, Had>()
  for (const machine of machines) {
    const { kind, id, what, until, name, uuid } = machine
    if (kind === null || id === null || !may.some(verb => machine.may.includes(verb))) continue
    const known = found.get(id)
    if (known) known.machines.push(machine)
    else found.set(id, { kind, id, name: what ?? name ?? uuid, until, machines: [machine] })
  }
  return [...found.values()]
}

export type Wanted = { byMs: number } | { until: number }

const MINUTE_MS = 60_000

/** When it would end. What is over already is extended from now. */
export function endOf({ until, kind }: Pick<Had, 'until' | 'kind'>, wanted: Wanted, now: number): number {
  const end = 'until' in wanted ? wanted.until : Math.max(Date.parse(until ?? ''), now) + wanted.byMs
  // Leases know no seconds.
  return kind === 'lease' ? Math.ceil(end / MINUTE_MS) * MINUTE_MS : end
}

const leaseDate = (at: number) => new Date(at).toISOString().slice(0, 16).replace('T', ' ')

export async function extend({ allocations, leases, reservations }: Holdfast, { kind, id }: Had, end: number) {
  if (kind === 'allocation') await allocations.renew(id, new Date(end).toISOString())
  else if (kind === 'lease') await leases.update(id, { end_date: leaseDate(end) })
  else await reservations.renew(id, new Date(end).toISOString())
}

interface Tried {
  /** Why it can't last so long; null if it can. */
  whyNot: string | null
  /** How long it can last instead, if anybody knows. */
  longest: number | null
}

/** What `extend` would come to; nothing is written. Nobody can tell of a hold before it is tried. */
export async function tryToExtend({ allocations, leases }: Holdfast, had: Had, end: number): Promise<Tried> {
  const fits = { whyNot: null, longest: null }
  try {
    if (had.kind === 'allocation') await allocations.explainRenewal(had.id, new Date(end).toISOString())
    if (had.kind !== 'lease') return fits
    const { fits: doesFit, message, until_date } = await leases.explainChange(had.id, { end_date: leaseDate(end) })
    if (doesFit) return fits
    const longest = until_date === null ? null : Date.parse(`${until_date.slice(0, 16).replace(' ', 'T')}Z`)
    return { whyNot: message, longest: longerThan(had.until, longest) }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 401) throw error
    return { whyNot: error.message, longest: longerThan(had.until, instantIn(error.message)) }
  }
}

const longerThan = (until: string | null, longest: number | null) =>
  longest !== null && longest - Date.parse(until ?? '') >= MINUTE_MS ? longest : null

const INSTANT = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|\+00:00)/g

/** The instant that a refusal names: from then on it is booked. */
export function instantIn(sentence: string): number | null {
  const [found] = sentence.match(INSTANT) ?? []
  return found === undefined ? null : Date.parse(found)
}

/** A sentence of the server with its instants as people read them. */
export const withTimes = (sentence: string, shown: (at: string) => string): string =>
  sentence.replaceAll(INSTANT, at => shown(at))
