// Faults that wait for the one bad moment of a certain bug.
import type { Stream } from './chance.ts'
import type { Line } from './line.ts'
import { KINDS } from './network-faults.ts'
import { atMoment, later, type Place } from './scene.ts'

/** Memory reads all nodes, or a page of all providers. */
const LOADING = /"revision" from "nodes" order by "id"|\bjson_agg\("p"\."id"\)/
const POLL = /\bpg_current_snapshot\(\)/
/** Claims and releases in one call. */
const CALL = /\b(claim_new|release_all)\(/
/** A change of a provider by its operator. */
const CHANGE = /from "providers" where "uuid" = \$1 for no key update/
/** The first try to end a lease that is still in use. */
const ENDING = /\bTERMINATING\b/

function lateOf(place: Place, chance: Stream, of: RegExp, mostMs: number): string {
  const ms = chance.between(1_000, 3_000)
  place.network.late = { share: 0.9, ms: chance.between(200, mostMs), of }
  later(place, ms, () => (place.network.late = { share: 0, ms: 0 }))
  return `is late for ${Math.round(ms)} ms`
}

const pause =
  (place: Place, ms: number) =>
  ({ owner }: Line): void => {
    owner.isPaused = true
    later(place, ms, () => place.world.resume(owner))
  }

const lose = (line: Line): void => line.breaks('ECONNRESET')

export const AIMED_KINDS = {
  /** It reads everything again. */
  'long loading': (place: Place, chance: Stream): string =>
    `${KINDS['listener lost'](place, chance)}, and what it loads ${lateOf(place, chance, LOADING, 2_000)}`,
  'long start': (place: Place, chance: Stream): string =>
    `${KINDS.restart(place, chance)}, and what it loads ${lateOf(place, chance, LOADING, 2_000)}`,
  'late polls': (place: Place, chance: Stream): string => `what polls read ${lateOf(place, chance, POLL, 800)}`,
  /** Others commit meanwhile, and read what is there. */
  stall(place: Place, chance: Stream) {
    const ms = chance.between(150, 800)
    return atMoment(place, chance, 'in a transaction', `is held up for ${Math.round(ms)} ms`, pause(place, ms))
  },
  /**
   * What it has locked is free when its connection ends, without a commit. Who waits for it in a call has lost its
   * connection before, and the call is done.
   */
  'blocker lost'(place: Place, chance: Stream) {
    const ms = chance.between(100, 280)
    const what = `goes silent for ${Math.round(ms)} ms, and loses its connection; so does who waits for it`
    const spring = (line: Line) => {
      line.isSilent = true
      for (const { owner } of place.processes.filter(each => each.owner !== line.owner))
        place.network.moments.wait({ owner, moment: 'waiting', passes: 0, spring: lose, of: CALL })
      later(place, ms, () => {
        line.isSilent = false
        lose(line)
      })
    }
    return atMoment(place, chance, 'in a transaction', what, spring, 4, CHANGE)
  },
  'pause at an ending'(place: Place, chance: Stream) {
    const ms = chance.between(3_000, 9_000)
    return atMoment(place, chance, 'committed', `is paused for ${Math.round(ms)} ms`, pause(place, ms), 3, ENDING)
  },
} satisfies Record<string, (place: Place, chance: Stream) => string>
