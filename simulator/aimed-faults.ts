// Faults that wait for the one bad moment of a certain bug.
import type { Stream } from './chance.ts'
import type { Line } from './line.ts'
import { atMoment, later, type Place } from './scene.ts'

const pause =
  (place: Place, ms: number) =>
  ({ owner }: Line): void => {
    owner.isPaused = true
    later(place, ms, () => place.world.resume(owner))
  }

export const AIMED_KINDS = {
  /** Others commit meanwhile, and read what is there. */
  stall(place: Place, chance: Stream) {
    const ms = chance.between(150, 800)
    return atMoment(place, chance, 'in a transaction', `is held up for ${Math.round(ms)} ms`, pause(place, ms))
  },
} satisfies Record<string, (place: Place, chance: Stream) => string>
