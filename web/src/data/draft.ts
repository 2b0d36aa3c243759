// The booking that is being composed, wherever that is done: one at a time. Each change is dry-run; a change elsewhere
// that touches it is too. Nothing is written before `writeDraft`.
import { createEffect, createMemo, createRoot, createSignal, on } from 'solid-js'
import { isAway } from '../../../src/client/errors.ts'
import type { Holdfast } from '../../../src/client/index.ts'
import { words } from '../words.ts'
import { browserTimers, createAsking } from './asking.ts'
import { type Answer, answerOf, answerToRefusal, FITS, type Offer, offersFor, taken } from './booking-answer.ts'
import {
  changeOf,
  type Draft,
  HOUR_MS,
  isChanged,
  leaseOf,
  type Moved,
  type Wrong,
  withMachines,
  wrongWith,
} from './booking-draft.ts'
import { type Ghost, ghostsFor, type LaneWorld, touchOf } from './booking-lanes.ts'
import { book, move } from './booking-writing.ts'
import { serverNow } from './clock.ts'
import { reasonOf, tell } from './doing.ts'
import { fleet } from './fleet.ts'
import { hasEnded, login, server } from './session.ts'
import { newUuid } from './uuid.ts'

/** The dry run waits until the hand rests. */
const CALM_MS = 120
/** For changes elsewhere it runs at most twice a second. */
const AGAIN_MS = 500
const MINUTE_MS = 60_000
const DAY_MS = 24 * HOUR_MS

const [draft, setDraft] = createSignal<Draft | null>(null)
const [answer, setAnswer] = createSignal<Answer | null>(null)
const [isAsking, setIsAsking] = createSignal(false)
const [isWriting, setIsWriting] = createSignal(false)
/** What the form shows before anything is composed: what was asked for last. */
const [template, setTemplate] = createSignal<Draft | null>(null)
/** Chosen by us, so that a booking whose answer got lost is not made twice. */
let id = newUuid()

/** `answer` is the newest; while `isAsking` it may be that of a moment ago. */
export { answer, draft, isAsking, isWriting }

const world: LaneWorld = {
  get machines() {
    return fleet.machines()
  },
  spansOf: uuid => fleet.spans(uuid),
  traitsOf: machine => fleet.traitsOf(machine),
}

const asking = createAsking<Draft, Answer>({
  ask: (question, signal) => dryRun(server().within(signal), question),
  answered: given => setAnswer(given),
  failed: error => setAnswer(answerToRefusal(error, reasonOf(error))),
  asking: setIsAsking,
  calmMs: CALM_MS,
  againMs: AGAIN_MS,
  timers: browserTimers,
})

async function dryRun({ leases, allocations }: Holdfast, question: Draft): Promise<Answer> {
  const now = serverNow()
  const { lease } = question
  if (lease === null) return answerOf(await leases.explain(leaseOf(question, now)))
  if (lease.kind === 'allocation') {
    // A refusal is thrown.
    await allocations.explainRenewal(lease.id, new Date(question.end).toISOString())
    return FITS
  }
  return answerOf(await leases.explainChange(lease.id, changeOf(question, lease, now)))
}

const derived = createRoot(() => {
  /** Where it lies, by machine. */
  const ghosts = createMemo((): ReadonlyMap<string, Ghost> => {
    const now = draft()
    return new Map(now === null ? [] : ghostsFor(now, answer(), !isAsking(), world).map(one => [one.machine, one]))
  })
  const offers = createMemo((): readonly Offer[] => {
    const [now, said] = [draft(), answer()]
    return now === null || said === null ? [] : offersFor(now, said, serverNow())
  })
  // A change of the draft itself is asked about anyway.
  createEffect(
    (before: { now: Draft | null; touch: string }) => {
      const now = draft()
      const touch = now === null ? '' : touchOf(now, world)
      if (now !== null && before.now === now && before.touch !== touch) asking.again()
      return { now, touch }
    },
    { now: null, touch: '' },
  )
  // Another viewer has no draft of this one's. Whose login has ended goes on where they were once they are back.
  createEffect(
    on(login, (now, _before, whose: string | null | undefined) => {
      const viewer = now === null ? (hasEnded() ? whose : null) : `${now.user} ${now.project}`
      const kept = draft()
      if (viewer !== whose) forgetDraft()
      else if (now !== null && kept !== null) asking.change(kept)
      return viewer
    }),
  )
  return { ghosts, offers }
})

export const { ghosts, offers } = derived

/** What is wrong with it, before the server is asked. */
export const wrong = (): Wrong | null => {
  const now = draft()
  return now === null ? null : wrongWith(now, serverNow())
}

/** False while the newest answer says that it doesn't fit, and while there is nothing to write. */
export function canWrite(): boolean {
  const now = draft()
  if (now === null || isWriting() || !isChanged(now) || wrong() !== null) return false
  return isAsking() || answer()?.fits !== false
}

function set(next: Draft): void {
  const before = draft()
  if (before !== null && JSON.stringify(before) === JSON.stringify(next)) return
  setDraft(next)
  if (next.kind === 'new') setTemplate(next)
  if (!isChanged(next) || wrongWith(next, serverNow()) !== null) {
    asking.drop()
    setAnswer(null)
  } else asking.change(next)
}

/** As it was last, else a machine for a day from the next full hour on. */
function unsaid(): Draft {
  const now = serverNow()
  const soon = Math.ceil(now / HOUR_MS) * HOUR_MS
  const last = template()
  if (last === null) {
    const end = soon + DAY_MS
    return {
      kind: 'new',
      name: '',
      class: firstClass(),
      traits: [],
      count: 1,
      start: soon,
      end,
      machines: [],
      lease: null,
    }
  }
  const start = last.start > now ? last.start : soon
  return { ...last, name: '', machines: [], start, end: start + (last.end - last.start) }
}

/** What could be booked: the class with the most machines that can. */
function firstClass(): string {
  const counts = new Map<string, number>()
  for (const { class: name, bookable } of fleet.machines())
    if (bookable && name !== null) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? ''
}

/** The draft, or what it would begin with. */
export const wanted = (): Draft => draft() ?? unsaid()

/** A new booking. What isn't said is as it was last. */
export function startDraft(given: Partial<Omit<Draft, 'kind' | 'lease'>> = {}): void {
  id = newUuid()
  setAnswer(null)
  const last = unsaid()
  const { machines = [], start = last.start } = given
  const next = { ...last, ...given, start, end: given.end ?? start + (last.end - last.start) }
  if (machines.length === 0) return set(next)
  // Chosen machines say themselves what they are.
  const kind = fleet.machine(machines[0]!)?.class ?? next.class
  set(withMachines({ ...next, class: kind, traits: [] }, machines))
}

export function startMove(lease: Moved): void {
  setAnswer(null)
  const [first] = lease.machines
  const { name, start, end } = lease
  const kind = first === undefined ? '' : (fleet.machine(first)?.class ?? '')
  set({ kind: 'move', name, class: kind, traits: [], count: lease.machines.length, machines: [], start, end, lease })
}

export function changeDraft(change: Partial<Omit<Draft, 'kind' | 'lease'>>): void {
  const before = draft()
  if (before === null) id = newUuid()
  const base = before ?? unsaid()
  // Another class has other machines and other traits.
  const isOther = change.class !== undefined && change.class !== base.class
  set({ ...base, ...(isOther && { machines: [], traits: [] }), ...change })
}

export function dropDraft(): void {
  asking.drop()
  setDraft(null)
  setAnswer(null)
}

function forgetDraft(): void {
  dropDraft()
  setTemplate(null)
}

export function takeOffer(place: number): boolean {
  const [now, offer] = [draft(), offers()[place]]
  if (now === null || offer === undefined) return false
  set(taken(now, offer))
  return true
}

/** Puts it where it fits first, from now on. False if it fits nowhere: then the answer says why. */
export async function takeFirstWindow(): Promise<boolean> {
  const base = wanted()
  if (base.kind !== 'new') return false
  const start = Math.ceil(serverNow() / MINUTE_MS) * MINUTE_MS
  const soon = { ...base, start, end: start + (base.end - base.start) }
  asking.drop()
  setDraft(base)
  setIsAsking(true)
  try {
    const said = await dryRun(server(), soon)
    // Dropped or changed meanwhile: the answer is to another question.
    if (draft() !== base) return false
    const [first] = said.fits ? [soon] : said.windows
    setIsAsking(false)
    if (first === undefined) setAnswer(said)
    else if (first.start === base.start && first.end === base.end) asking.change(base)
    else set({ ...base, start: first.start, end: first.end })
    return first !== undefined
  } catch (error) {
    if (draft() === base) setIsAsking(false)
    refused(base, error)
    return false
  }
}

/** A server that is away has not refused it: the draft stays, and is asked about until there is an answer. */
function refused(tried: Draft, error: unknown): void {
  if (draft() !== tried) return
  if (!isAway(error)) return void setAnswer(answerToRefusal(error, reasonOf(error)))
  tell({ text: words.doing.refused(reasonOf(error)), kind: 'refused', action: null })
  asking.change(tried)
}

/** Writes it. True if it is booked; a refusal looks as that of the dry run. */
export async function writeDraft(show: (made: Draft) => void): Promise<boolean> {
  const now = draft()
  if (now === null || isWriting() || wrong() !== null || !isChanged(now)) return false
  asking.drop()
  setIsWriting(true)
  try {
    if (now.lease === null) await book(now, id, show)
    else await move(now, now.lease)
  } catch (error) {
    refused(now, error)
    return false
  } finally {
    setIsWriting(false)
  }
  if (draft() === now) dropDraft()
  return true
}
