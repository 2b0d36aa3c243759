// Where faults happen, and how they last for a while or wait for a moment.
import type { Stream } from './chance.ts'
import type { Ground } from './ground.ts'
import type { History } from './history.ts'
import type { Line } from './line.ts'
import type { Machines } from './machines.ts'
import type { Moment } from './moments.ts'
import type { Network } from './network.ts'
import type { Process } from './processes.ts'
import type { Owner, World } from './world.ts'

/** Whatever the ground. */
export interface Scene {
  world: World
  ground: Ground
  machines: Machines
  processes: readonly Process[]
  history: History
}

export interface Place extends Scene {
  network: Network
}

const NATURE = new WeakMap<World, Owner>()
export const setNature = (world: World, nature: Owner) => void NATURE.set(world, nature)
export const natureOf = (world: World): Owner => NATURE.get(world)!

/** For some time: the end comes with the end of the faults at the latest. */
export const later = (place: Scene, ms: number, end: () => void) => place.world.after(ms, natureOf(place.world), end)

/** Waits for a process to come to such a moment some times. */
export function atMoment(
  { network, processes }: Place,
  chance: Stream,
  moment: Moment,
  what: string,
  spring: (line: Line) => void,
  passesBelow = 8,
  of?: RegExp,
): string {
  const { owner } = chance.pick(processes)
  const passes = chance.int(passesBelow)
  network.moments.wait({ owner, moment, passes, spring, of })
  return `${owner.name} ${what} when it is ${moment} for time ${passes + 1}`
}
