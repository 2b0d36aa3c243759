// What goes wrong on purpose with one process and its file.
import type { Stream } from './chance.ts'
import { COMMON } from './common-faults.ts'
import type { Disk } from './disk.ts'
import type { Catalogue } from './faults.ts'
import { later, type Scene } from './scene.ts'

interface Place extends Scene {
  disk: Disk
}

type Kind = keyof typeof KINDS

const RESTART_MS = { least: 50, most: 5_000 }

const KINDS = {
  ...COMMON,
  crash({ processes }: Place, chance: Stream) {
    const [process] = processes
    process!.crash()
    process!.startAfter(chance.between(RESTART_MS.least, RESTART_MS.most))
    return `${process!.name} crashes`
  },
  'crash at a commit'({ processes, disk }: Place, chance: Stream) {
    const [process] = processes
    const moment = chance.happens(0.5) ? 'before' : 'after'
    const restartMs = chance.between(RESTART_MS.least, RESTART_MS.most)
    disk.doom(process!.owner, moment, () => {
      process!.crash()
      process!.startAfter(restartMs)
    })
    return `${process!.name} crashes ${moment} its next commit`
  },
  'full disk'(place: Place, chance: Stream) {
    const ms = chance.between(50, 9_000)
    place.disk.fill()
    later(place, ms, () => place.disk.heal())
    return `the disk is full for ${Math.round(ms)} ms`
  },
  'broken disk'(place: Place, chance: Stream) {
    const ms = chance.between(50, 9_000)
    place.disk.break()
    later(place, ms, () => place.disk.heal())
    return `writes fail for ${Math.round(ms)} ms`
  },
} satisfies Record<string, (place: Place, chance: Stream) => string>

/** Under the same names as those of PostgreSQL. */
const MIXES: Record<string, readonly Kind[]> = {
  general: Object.keys(KINDS) as Kind[],
  none: [],
  crashes: ['crash', 'crash at a commit', 'pause'],
  connections: ['pause', 'crash at a commit'],
  answers: ['crash at a commit'],
  cuts: ['crash at a commit', 'broken disk'],
  late: ['pause'],
  readings: ['broken disk'],
  restarts: ['crash'],
  waits: ['pause', 'crash at a commit'],
  pieces: ['pause', 'broken disk'],
  zombies: ['pause', 'machines'],
  outages: ['full disk', 'broken disk'],
  machines: ['machines', 'crash at a commit'],
}

export const diskFaults = (place: Place): Catalogue => ({
  // Those that are aimed are of the network.
  kindsOf: mix => MIXES[mix] ?? [],
  happen: (kind, chance) => KINDS[kind as Kind](place, chance),
})
