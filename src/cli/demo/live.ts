// Decides what the demo's people do next. Pure: the known world and the random source give one act, or none.
import { type Random } from '../../clock/chance.ts'
import { type ClassName, type Machine, MODELS } from './machines.ts'
import { PEOPLE, type Person, personIn } from './people.ts'

export type Kind = 'allocation' | 'hold' | 'machine' | 'maintenance' | 'lease' | 'server' | 'claim'

/** The most things of each kind at a time, so that they don't pile up. */
export const BOUNDS: Readonly<Record<Kind, number>> = {
  allocation: 12,
  hold: 4,
  machine: 3,
  maintenance: 2,
  lease: 3,
  server: 6,
  claim: 8,
}

/** Something that someone has. */
export interface Thing {
  kind: Kind
  who: Person
  name: string
  state: 'waiting' | 'ready' | 'deployed'
  /** A request about it is under way. */
  isBusy: boolean
  /** When its user is done with it. */
  doneAt: number
  /** Its user won't give it back: it expires. */
  isForgotten: boolean
  /** For a server: the lease that it runs on. */
  on: Thing | null
}

interface World<T extends Thing = Thing> {
  now: number
  /** The average time between two events. */
  tickMs: number
  things: readonly T[]
  /** Machines that were free when the demo was filled. */
  free: readonly Machine[]
  /** How many acts there have been. */
  acts: number
}

interface Making {
  who: Person
  name: string
  lifeMs: number
  isForgotten: boolean
}

export type Act<T extends Thing = Thing> =
  | ({ kind: 'allocate'; resourceClass: string; traits: readonly string[]; waitMs: number | null } & Making)
  | { kind: 'ask in vain'; who: Person; name: string; resourceClass: string; traits: readonly string[] }
  | ({ kind: 'hold'; machines: readonly Machine[] } & Making)
  | ({ kind: 'start maintenance'; machine: Machine; reason: string } & Making)
  | ({ kind: 'book'; what: 'instances' | 'host' | 'node'; inHours: number } & Making)
  | ({ kind: 'launch'; on: T | null; flavor: string } & Making)
  | ({ kind: 'claim'; resources: Readonly<Record<string, number>> } & Making)
  | { kind: 'deploy'; thing: T }
  | { kind: 'give back'; thing: T }

/** Words for the names of things, by person. */
const WORDS: Record<string, readonly string[]> = {
  alice: ['train', 'label', 'render'],
  bob: ['tune', 'eval', 'embed'],
  carol: ['bench', 'patch', 'probe'],
}
const REASONS = ['replacing a fan', 'checking a cable', 'updating firmware', 'reseating a GPU']

/** All names that claims can have, so that a later run finds leftover ones. */
export const CLAIM_NAMES: readonly string[] = Array.from({ length: BOUNDS.claim }, (_, at) => `job-${at + 1}`)

const pick = <T>(list: readonly T[], random: Random): T => list[Math.floor(random() * list.length)]!
const chance = (share: number, random: Random) => random() < share

/** In ticks; mostly short, sometimes long. */
const LIFE_TICKS = { min: 5, mean: 25, max: 240 }
const lifeOf = (random: Random) =>
  Math.min(LIFE_TICKS.max, LIFE_TICKS.min - Math.log(1 - random()) * (LIFE_TICKS.mean - LIFE_TICKS.min))

/** The chance that the next act gives back a thing that is due. */
const GIVES_BACK = 0.6
const FORGETS = 0.15

export function nextAct<T extends Thing>(world: World<T>, random: Random): Act<T> | null {
  const idle = world.things.filter(({ isBusy }) => !isBusy)
  const due = idle.filter(thing => isDue(thing, world))
  if (due.length > 0 && chance(GIVES_BACK, random)) return { kind: 'give back', thing: pick(due, random) }
  const choices = CHOICES.filter(({ needs }) => hasRoom(world, needs))
  const weights = choices.map(({ weight }) => weight)
  let left = random() * weights.reduce((sum, weight) => sum + weight, 0)
  const chosen = choices.find(({ weight }) => (left -= weight) < 0)
  const act = chosen?.act(world, idle, random) ?? null
  return act ?? (due.length > 0 ? { kind: 'give back', thing: pick(due, random) } : null)
}

/** A lease is kept as long as servers run on it. */
const isDue = (thing: Thing, { now, things }: World) =>
  !thing.isForgotten && thing.state !== 'waiting' && thing.doneAt <= now && !things.some(({ on }) => on === thing)

const countOf = ({ things }: World, kind: Kind) => things.filter(thing => thing.kind === kind).length
const hasRoom = (world: World, kind: Kind | null) => kind === null || countOf(world, kind) < BOUNDS[kind]

function making(world: World, who: Person, random: Random, canForget = false): Making {
  return {
    who,
    name: `${pick(WORDS[who.name]!, random)}-${world.acts + 1}`,
    lifeMs: Math.round(lifeOf(random) * world.tickMs),
    isForgotten: canForget && chance(FORGETS, random),
  }
}

interface Choice {
  weight: number
  /** The kind of thing that it adds, which must be below its bound. */
  needs: Kind | null
  act: <T extends Thing>(world: World<T>, idle: readonly T[], random: Random) => Act<T> | null
}

const CLASSES = Object.keys(MODELS) as ClassName[]

const CHOICES: readonly Choice[] = [
  {
    weight: 8,
    needs: 'allocation',
    act: (world, _, random) => {
      const resourceClass = pick(CLASSES, random)
      const traits = chance(0.5, random) ? [pick(MODELS[resourceClass].traits, random)] : []
      const made = making(world, pick(PEOPLE, random), random, true)
      return { kind: 'allocate', resourceClass, traits, waitMs: chance(0.5, random) ? made.lifeMs : null, ...made }
    },
  },
  {
    weight: 1,
    needs: null,
    act: (world, _, random) => {
      const { who, name } = making(world, pick(PEOPLE, random), random)
      const [resourceClass, traits] = pick(IN_VAIN, random)
      return { kind: 'ask in vain', who, name, resourceClass, traits }
    },
  },
  {
    weight: 4,
    needs: null,
    act: (_, idle, random) => {
      const thing = pick(
        idle.filter(({ kind, state, isForgotten }) => kind === 'allocation' && state === 'ready' && !isForgotten),
        random,
      )
      return thing ? { kind: 'deploy', thing } : null
    },
  },
  {
    weight: 3,
    needs: 'hold',
    act: (world, _, random) => {
      const made = making(world, pick(PEOPLE, random), random, true)
      const theirs = world.free.filter(({ tenant }) => tenant === made.who.project)
      if (theirs.length === 0) return null
      return { kind: 'hold', machines: [...new Set([pick(theirs, random), pick(theirs, random)])], ...made }
    },
  },
  {
    weight: 3,
    needs: 'machine',
    act: (_, idle, random) => {
      const thing = pick(
        idle.filter(({ kind, isForgotten }) => kind === 'hold' && !isForgotten),
        random,
      )
      return thing ? { kind: 'deploy', thing } : null
    },
  },
  {
    weight: 1,
    needs: 'maintenance',
    act: (world, _, random) => {
      const made = making(world, personIn('ops'), random)
      const machine = pick(world.free, random)
      return machine ? { kind: 'start maintenance', machine, reason: pick(REASONS, random), ...made } : null
    },
  },
  {
    weight: 2,
    needs: 'lease',
    act: (world, _, random) => ({
      kind: 'book',
      what: pick(['instances', 'instances', 'host', 'node'] as const, random),
      inHours: chance(0.6, random) ? 0 : 1 + Math.floor(random() * 300),
      ...making(world, pick(PEOPLE, random), random),
    }),
  },
  {
    weight: 4,
    needs: 'server',
    act: (world, idle, random) => {
      const running = idle.filter(({ kind, state }) => kind === 'lease' && state === 'ready')
      const on = chance(0.6, random) ? (pick(running, random) ?? null) : null
      const made = making(world, on?.who ?? pick(PEOPLE, random), random)
      return { kind: 'launch', on, flavor: pick(['m1.small', 'm1.large', 'c1.xlarge'], random), ...made }
    },
  },
  {
    weight: 4,
    needs: 'claim',
    act: (world, _, random) => {
      const gpu = pick([{ VGPU: 1 }, { PGPU: 1 }, { VGPU: 2 }, {}], random)
      const cores = pick([4, 8, 16], random)
      const resources = { VCPU: cores, MEMORY_MB: cores * 4_096, DISK_GB: cores * 10, ...gpu }
      const name = CLAIM_NAMES.find(name => !world.things.some(thing => thing.name === name))!
      return { kind: 'claim', resources, ...making(world, pick(PEOPLE, random), random), name }
    },
  },
]

/** Classes and traits that don't exist, or not together. */
const IN_VAIN: readonly [string, readonly string[]][] = [
  ['gpu-a100', ['CUSTOM_NVLINK', 'CUSTOM_INFINIBAND']],
  ['cpu-arm', ['HW_CPU_X86_AVX512F']],
  ['storage', ['STORAGE_DISK_SSD']],
  ['gpu-v100', []],
]
