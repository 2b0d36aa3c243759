// Where a draft stands on the machines that are shown: on which it could lie, and what is in its way there. Pure. The
// server decides; this is what can be seen at once, while it is still asked.
import type { Machine, Span } from '../../../src/client/status.ts'
import type { Answer } from './booking-answer.ts'
import type { Draft } from './booking-draft.ts'

export interface Ghost {
  machine: string
  verdict: 'free' | 'blocked'
  start: number
  end: number
  /** What is in the way there. */
  by: readonly Span[]
}

export interface LaneWorld {
  machines: readonly Machine[]
  spansOf: (uuid: string) => readonly Span[]
  traitsOf: (machine: Machine) => readonly string[]
}

/** More ghosts than this say no more. */
const BLOCKED_SHOWN_MAX = 12

const msOf = (at: string | null, otherwise: number) => (at === null ? otherwise : Date.parse(at))

/** What of a machine's promises meets the draft. Its own lease isn't in its way. */
const inTheWay = (draft: Draft, spans: readonly Span[]): Span[] =>
  spans.filter(
    ({ id, start, end }) =>
      (draft.lease === null || id !== draft.lease.id) &&
      msOf(start, -Infinity) < draft.end &&
      msOf(end, Infinity) > draft.start,
  )

/** Whether it is what is asked for, whoever has it. */
export function suits(draft: Draft, machine: Machine, traitsOf: LaneWorld['traitsOf']): boolean {
  if (draft.kind === 'move') return draft.lease!.machines.includes(machine.uuid)
  if (draft.machines.length > 0) return draft.machines.includes(machine.uuid)
  if (machine.class !== draft.class || !machine.bookable) return false
  const has = draft.traits.length === 0 ? [] : traitsOf(machine)
  return draft.traits.every(trait => has.includes(trait))
}

/** Kept out of use: not bookable now, whatever the calendar says. */
const isClosed = ({ state, maintenance, bookable }: Machine) =>
  !bookable || maintenance || state === 'retired' || state === 'broken' || state === 'setup'

/** The server's answer counts while it is `isFresh`; before, its places are only those to keep if possible. */
export function ghostsFor(draft: Draft, answer: Answer | null, isFresh: boolean, world: LaneWorld): Ghost[] {
  const on = (machine: Machine): Ghost => {
    const by = inTheWay(draft, world.spansOf(machine.uuid))
    const isFree = by.length === 0 && (draft.kind === 'move' || !isClosed(machine))
    return { machine: machine.uuid, verdict: isFree ? 'free' : 'blocked', start: draft.start, end: draft.end, by }
  }
  const all = world.machines.filter(machine => suits(draft, machine, world.traitsOf))
  const isChosen = draft.machines.length > 0 || draft.kind === 'move'
  const places = new Set(answer?.fits ? answer.places : [])
  if (isFresh && places.size > 0) {
    const there = world.machines.filter(({ name, uuid }) => places.has(name ?? uuid))
    // The server has looked: what it gives is free.
    return there.map(machine => ({ ...on(machine), verdict: 'free', by: [] }))
  }
  const isKept = ({ name, uuid }: Machine) => places.has(name ?? uuid)
  const ghosts = [...all.filter(isKept), ...all.filter(machine => !isKept(machine))].map(on)
  if (isChosen) return ghosts
  const free = ghosts.filter(({ verdict }) => verdict === 'free').slice(0, draft.count)
  if (free.length === draft.count) return free
  const blocked = ghosts.filter(({ verdict, by }) => verdict === 'blocked' && by.length > 0)
  return [...free, ...blocked.slice(0, BLOCKED_SHOWN_MAX)]
}

/** Changes when something changes that the draft depends on. */
export function touchOf(draft: Draft, world: LaneWorld): string {
  const all = world.machines.filter(machine => suits(draft, machine, world.traitsOf))
  return all
    .map(machine => {
      const spans = inTheWay(draft, world.spansOf(machine.uuid))
      const { next, until, state, bookable, maintenance } = machine
      const own = [machine.uuid, state, bookable, maintenance, until, next?.start, next?.end]
      return [...own, ...spans.flatMap(({ id, start, end }) => [id, start, end])].join(' ')
    })
    .join('\n')
}
