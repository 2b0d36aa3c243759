// Everything that goes wrong on purpose: a list of faults from the seed, each with its time and its own choices, so that
// any of them can be left out without changing the others.
import type { Stream } from './chance.ts'
import type { Ground } from './ground.ts'
import type { History } from './history.ts'
import type { Machines } from './machines.ts'
import type { Network } from './network.ts'
import type { Process } from './processes.ts'
import { Owner, type World } from './world.ts'

/** Where faults happen, whatever the ground. */
export interface Scene {
  world: World
  ground: Ground
  machines: Machines
  processes: readonly Process[]
  history: History
}

interface Place extends Scene {
  network: Network
}

interface Fault {
  /** Milliseconds after the clients began. */
  at: number
  kind: string
  chance: Stream
}

/** The faults of one kind of ground: which of them a mix has, and how each is done. It returns what to say of it. */
export interface Catalogue {
  mixes: Record<string, readonly string[]>
  happen: (kind: string, chance: Stream) => string
}

type Kind = keyof typeof KINDS

/** For some time: the end comes with the end of the faults at the latest. */
export const later = (place: Scene, ms: number, end: () => void) => place.world.after(ms, NATURE.get(place.world)!, end)
const NATURE = new WeakMap<World, Owner>()

/** What fails on any ground. */
export const COMMON = {
  pause(place: Scene, chance: Stream) {
    const process = chance.pick(place.processes)
    const { owner } = process
    const ms = chance.between(200, 14_000)
    owner.isPaused = true
    later(place, ms, () => place.world.resume(owner))
    return `${process.name} is paused for ${Math.round(ms)} ms`
  },
  machines(place: Scene, chance: Stream) {
    const ms = chance.between(1_000, 15_000)
    Object.assign(place.machines, { failures: chance.between(0, 0.5), hangs: chance.between(0, 0.3) })
    later(place, ms, () => Object.assign(place.machines, { failures: 0, hangs: 0 }))
    return `machines fail and hang for ${Math.round(ms)} ms`
  },
}

/** Does its damage; returns what to say of it. */
const KINDS = {
  ...COMMON,
  crash({ processes }: Place, chance: Stream) {
    const process = chance.pick(processes)
    const socketsMs = chance.happens(0.5) ? 0 : chance.between(100, 8_000)
    process.crash(socketsMs)
    process.startAfter(chance.between(50, 5_000))
    return `${process.name} crashes, its sockets close after ${Math.round(socketsMs)} ms`
  },
  'kill connection'({ network, processes }: Place, chance: Stream) {
    const { owner } = chance.pick(processes)
    const lines = network.linesOf(owner).filter(line => !line.isClosed)
    if (lines.length > 0) chance.pick(lines).breaks('ECONNRESET')
    return `a connection of ${owner.name} is killed`
  },
  'silent connection'({ network, processes }: Place, chance: Stream) {
    const { owner } = chance.pick(processes)
    const lines = network.linesOf(owner).filter(line => !line.isClosed)
    if (lines.length > 0) chance.pick(lines).isSilent = true
    return `a connection of ${owner.name} goes silent`
  },
  'answer lost'({ network, processes }: Place, chance: Stream) {
    const { owner } = chance.pick(processes)
    network.losingNext.add(owner)
    return `${owner.name} doesn't get the answer to its next commit`
  },
  'database away'(place: Place, chance: Stream) {
    const ms = chance.between(100, 9_000)
    place.network.isAway = true
    for (const line of place.network.lines) if (!line.isClosed) line.breaks('ECONNRESET')
    later(place, ms, () => (place.network.isAway = false))
    return `the database is away for ${Math.round(ms)} ms`
  },
  slow(place: Place, chance: Stream) {
    const ms = chance.between(500, 6_000)
    place.network.slowMs = chance.between(20, 1_500)
    later(place, ms, () => (place.network.slowMs = 0))
    return `the network is slow for ${Math.round(ms)} ms`
  },
  deaf(place: Place, chance: Stream) {
    const ms = chance.between(1_000, 20_000)
    place.network.notificationLoss = 1
    later(place, ms, () => (place.network.notificationLoss = 0))
    return `notifications are lost for ${Math.round(ms)} ms`
  },
  skew({ processes }: Place, chance: Stream) {
    const { owner } = chance.pick(processes)
    owner.skewMs += chance.between(-2_000, 2_000)
    return `the clock of ${owner.name} jumps to ${Math.round(owner.skewMs)} ms`
  },
} satisfies Record<string, (place: Place, chance: Stream) => string>

const ALL = Object.keys(KINDS) as Kind[]

/** Which faults happen, by the name of the mix. */
export const MIXES: Record<string, readonly Kind[]> = {
  general: ALL,
  none: [],
  crashes: ['crash', 'pause'],
  connections: ['kill connection', 'silent connection', 'answer lost', 'deaf', 'slow'],
  answers: ['answer lost'],
  outages: ['database away', 'slow'],
  machines: ['machines', 'crash'],
}

/** Of a run on PostgreSQL. */
export const networkFaults = (place: Place): Catalogue => ({
  mixes: MIXES,
  happen: (kind, chance) => KINDS[kind as Kind](place, chance),
})

export function faultsOf(mix: string, { mixes }: Catalogue, chance: Stream, loadMs: number): Fault[] {
  const kinds = mixes[mix]!
  if (kinds.length === 0) return []
  return Array.from({ length: 1 + chance.int(8) }, (_, number) => {
    const own = chance.stream(String(number))
    return { at: own.between(0, loadMs), kind: own.pick(kinds), chance: own }
  })
}

/** Lets the faults happen, but those that are left out. */
export function unleash(
  { world, history }: Scene,
  { happen }: Catalogue,
  faults: readonly Fault[],
  left: ReadonlySet<number>,
  chance: Stream,
): void {
  const nature = new Owner('nature', chance)
  NATURE.set(world, nature)
  for (const [number, { at, kind, chance }] of faults.entries()) {
    if (left.has(number)) continue
    world.after(at, nature, () => history.add('fault', `${number}: ${happen(kind, chance)}`))
  }
}

/** From now on nothing goes wrong. */
export function heal({ world, ground, machines, processes, history }: Scene): void {
  history.add('fault', 'all faults are over')
  NATURE.get(world)!.isDead = true
  ground.heal()
  Object.assign(machines, { failures: 0, hangs: 0 })
  for (const process of processes) {
    if (process.owner.isPaused) world.resume(process.owner)
    if (process.owner.isDead) process.startAfter(0)
  }
}
