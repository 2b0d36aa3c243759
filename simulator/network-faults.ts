// What goes wrong on purpose with several processes, their network and their database.
import type { Stream } from './chance.ts'
import { COMMON } from './common-faults.ts'
import { STEP_MS } from './machines.ts'
import { CUTS } from './network.ts'
import { atMoment, later, type Place } from './scene.ts'

/** Does its damage; returns what to say of it. */
export const KINDS = {
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
  'answer lost': (place: Place, chance: Stream) =>
    atMoment(place, chance, 'committed', 'loses the answer', line => line.breaks('ECONNRESET')),
  'release lost': (place: Place, chance: Stream) =>
    atMoment(place, chance, 'released', 'loses the end of the answer', line => line.breaksMidway()),
  'commit lost': (place: Place, chance: Stream) =>
    atMoment(place, chance, 'committing', 'loses its connection', line => line.breaks('ECONNRESET')),
  'reading lost': (place: Place, chance: Stream) =>
    atMoment(place, chance, 'reading', 'loses its connection', line => line.breaks('ECONNRESET')),
  /** Few wait. */
  'waiter lost': (place: Place, chance: Stream) =>
    atMoment(place, chance, 'waiting', 'loses its connection', line => line.breaks('ECONNRESET'), 2),
  'cut off'(place: Place, chance: Stream) {
    const ms = chance.between(100, 2_500)
    const sparesListener = chance.happens(0.7)
    return atMoment(place, chance, 'committed', `is cut off for ${Math.round(ms)} ms`, ({ owner }) => {
      place.network.cutOff.add(owner)
      for (const line of place.network.linesOf(owner))
        if (!line.isClosed && !(sparesListener && line.isListening)) line.breaks('ECONNRESET')
      later(place, ms, () => place.network.cutOff.delete(owner))
    })
  },
  'crash at a moment'(place: Place, chance: Stream) {
    const socketsMs = chance.happens(0.5) ? 0 : chance.between(100, 8_000)
    const startMs = chance.between(50, 3_000)
    const moment = chance.pick(['committed', 'in a transaction', 'waiting'] as const)
    return atMoment(place, chance, moment, 'crashes', ({ owner }) => {
      const process = place.processes.find(each => each.owner === owner)
      process?.crash(socketsMs)
      process?.startAfter(startMs)
    })
  },
  restart({ processes }: Place, chance: Stream) {
    const process = chance.pick(processes)
    process.crash()
    process.startAfter(chance.between(10, 300))
    return `${process.name} is killed and starts again`
  },
  /** What it reads at its start takes long. */
  'slow start': (place: Place, chance: Stream): string =>
    `${KINDS.restart(place, chance)}, and ${KINDS.late(place, chance)}`,
  'pause at a moment'(place: Place, chance: Stream) {
    const ms = chance.between(3_000, 9_000)
    const moment = chance.pick(['committed', 'committed', 'in a transaction', 'reading'] as const)
    return atMoment(place, chance, moment, `is paused for ${Math.round(ms)} ms`, ({ owner }) => {
      owner.isPaused = true
      later(place, ms, () => place.world.resume(owner))
    })
  },
  'listener lost'({ network, processes }: Place, chance: Stream) {
    const { owner } = chance.pick(processes)
    for (const line of network.linesOf(owner)) if (line.isListening && !line.isClosed) line.breaks('ECONNRESET')
    return `the connection on which ${owner.name} listens is killed`
  },
  late(place: Place, chance: Stream) {
    const ms = chance.between(1_000, 5_000)
    place.network.late = { share: chance.between(0.1, 0.5), ms: chance.between(100, 1_500) }
    later(place, ms, () => (place.network.late = { share: 0, ms: 0 }))
    return `some answers are late for ${Math.round(ms)} ms`
  },
  /** It reads everything again, and that takes long. */
  'slow loading': (place: Place, chance: Stream): string =>
    `${KINDS['listener lost'](place, chance)}, and ${KINDS.late(place, chance)}`,
  pieces(place: Place, chance: Stream) {
    const ms = chance.between(1_000, 4_000)
    place.network.cuts = { share: 0.9, ms: chance.between(5, 150) }
    later(place, ms, () => (place.network.cuts = CUTS))
    return `bursts travel in pieces for ${Math.round(ms)} ms`
  },
  /** It wakes up in the middle of a write, after others have given it up, and while they are at the same step. */
  zombie(place: Place, chance: Stream) {
    const ms = chance.between(6_000, 9_000)
    return atMoment(place, chance, 'in a transaction', `is paused for ${Math.round(ms)} ms`, ({ owner }) => {
      owner.isPaused = true
      place.machines.stepMs = 12_000
      later(place, ms, () => place.world.resume(owner))
    })
  },
  'slow machines'(place: Place, chance: Stream) {
    const ms = chance.between(2_000, 10_000)
    place.machines.stepMs = 8_000
    later(place, ms, () => (place.machines.stepMs = STEP_MS))
    return `steps take long for ${Math.round(ms)} ms`
  },
  'database away'(place: Place, chance: Stream) {
    const ms = chance.between(100, 9_000)
    place.network.isAway = true
    for (const line of place.network.lines) if (!line.isClosed) line.breaks('ECONNRESET')
    later(place, ms, () => (place.network.isAway = false))
    return `the database is away for ${Math.round(ms)} ms`
  },
  /** All were silent, and one still is when the others are back. */
  'back late'(place: Place, chance: Stream) {
    const { owner } = chance.pick(place.processes)
    const [ms, more] = [chance.between(4_000, 6_500), chance.between(600, 2_500)]
    place.network.isAway = true
    for (const line of place.network.lines) if (!line.isClosed) line.breaks('ECONNRESET')
    place.network.cutOff.add(owner)
    later(place, ms, () => (place.network.isAway = false))
    later(place, ms + more, () => place.network.cutOff.delete(owner))
    return `the database is away for ${Math.round(ms)} ms, for ${owner.name} ${Math.round(more)} ms longer`
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
