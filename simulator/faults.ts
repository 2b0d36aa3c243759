// Everything that goes wrong on purpose: a list of faults from the seed, each with its time and its own choices, so that
// any of them can be left out without changing the others.
import type { Stream } from './chance.ts'
import { AIMED_KINDS } from './aimed-faults.ts'
import { STEP_MS } from './machines.ts'
import { KINDS } from './network-faults.ts'
import { natureOf, type Place, type Scene, setNature } from './scene.ts'
import { Owner } from './world.ts'

export interface Fault {
  number: number
  /** Milliseconds after the clients began. */
  at: number
  kind: string
  chance: Stream
}

/** The faults of one kind of ground: which of them a mix has, and how each is done. It returns what to say of it. */
export interface Catalogue {
  kindsOf: (mix: string) => readonly string[]
  happen: (kind: string, chance: Stream) => string
}

const EACH = { ...KINDS, ...AIMED_KINDS }
type Kind = keyof typeof EACH
const ALL = Object.keys(KINDS) as Kind[]

interface Family {
  kinds: readonly Kind[]
  /** At most so many in a round; 4 if it isn't said. */
  most?: number
  /** So long they happen before there is a recess. */
  roundMs?: number
  /** They only delay, and not for long: nobody has a reason to be told that the database is away. */
  isCalm?: boolean
}

/** Which faults happen, by the name of the mix; on a file, others have these names. */
export const MIXES: Record<string, Family> = {
  general: { kinds: ALL },
  none: { kinds: [] },
  crashes: { kinds: ['crash', 'pause', 'crash at a moment', 'pause at a moment'], roundMs: 9_000 },
  connections: {
    kinds: [
      'kill connection',
      'silent connection',
      'answer lost',
      'release lost',
      'commit lost',
      'reading lost',
      'deaf',
      'slow',
      'late',
    ],
  },
  answers: { kinds: ['answer lost', 'commit lost', 'release lost'], most: 6, roundMs: 1_200 },
  cuts: { kinds: ['cut off'], most: 6 },
  late: { kinds: ['late', 'late', 'deaf', 'listener lost', 'slow loading', 'slow loading'], most: 6, roundMs: 3_000 },
  readings: { kinds: ['reading lost'], most: 12, roundMs: 3_000 },
  restarts: { kinds: ['restart', 'slow start', 'slow start'], roundMs: 3_000 },
  waits: { kinds: ['waiter lost', 'waiter lost', 'pieces', 'late'], most: 8, roundMs: 1_500 },
  pieces: { kinds: ['pieces', 'pieces', 'late'], most: 6, roundMs: 3_000 },
  zombies: { kinds: ['pause at a moment', 'zombie', 'zombie', 'slow machines', 'late'], most: 6, roundMs: 18_000 },
  outages: { kinds: ['database away', 'back late', 'slow'], roundMs: 12_000 },
  machines: { kinds: ['machines', 'crash'], roundMs: 9_000 },
}

/** Aimed at certain bugs: none of a seed's own choice, so that other seeds stay as they are. */
export const AIMED: Record<string, Family> = {
  loads: { kinds: ['long loading'], most: 4, roundMs: 3_000 },
  starts: { kinds: ['long start'], most: 3, roundMs: 3_000 },
  stalls: { kinds: ['stall'], most: 10, roundMs: 3_000 },
  blockers: { kinds: ['blocker lost'], most: 12, roundMs: 3_000 },
  polls: { kinds: ['late polls'], most: 4, isCalm: true },
  endings: { kinds: ['pause at an ending'], most: 3, roundMs: 12_000 },
}

const familyOf = (mix: string): Family => (MIXES[mix] ?? AIMED[mix])!
export const areCalm = (mix: string): boolean => familyOf(mix).isCalm === true
const ROUND_MS = 5_000
export const roundMsOf = (mix: string): number => familyOf(mix).roundMs ?? ROUND_MS

/** Of a run on PostgreSQL. */
export const networkFaults = (place: Place): Catalogue => ({
  kindsOf: mix => familyOf(mix).kinds,
  happen: (kind, chance) => EACH[kind as Kind](place, chance),
})

export function faultsOf(mix: string, { kindsOf }: Catalogue, chance: Stream, loadMs: number): Fault[] {
  const kinds = kindsOf(mix)
  const { most = 4 } = familyOf(mix)
  if (kinds.length === 0) return []
  const rounds = Math.ceil(loadMs / roundMsOf(mix))
  const count = Array.from({ length: rounds }, () => 1 + chance.int(most)).reduce((a, b) => a + b)
  return Array.from({ length: count }, (_, number) => {
    const own = chance.stream(String(number))
    return { number, at: own.between(0, loadMs), kind: own.pick(kinds), chance: own }
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
  setNature(world, nature)
  for (const { number, at, kind, chance } of faults) {
    if (left.has(number)) continue
    world.after(at, nature, () => history.add('fault', `${number}: ${happen(kind, chance)}`))
  }
}

/** From now on nothing goes wrong. */
export function heal({ world, ground, machines, processes, history }: Scene): void {
  history.add('fault', 'all faults are over')
  natureOf(world).isDead = true
  ground.heal()
  Object.assign(machines, { failures: 0, hangs: 0, stepMs: STEP_MS })
  for (const process of processes) {
    if (process.owner.isPaused) world.resume(process.owner)
    if (process.owner.isDead) process.startAfter(0)
  }
}
