// Compares two Placements and changes nothing. Nova may go on meanwhile: what differs is read a second time, and only
// what differs in both readings counts.
import { atOnce } from '../../shared/at-once.ts'
import { consumerDifferences, type Difference, KINDS, providerDifferences, type Thing } from './differences.ts'
import { type Pair, type Rows, WIDTH } from './pair.ts'

export interface Compared {
  /** How many things of each kind were compared. */
  counts: Record<Thing['kind'], number>
  /** How many of each kind differed in both readings. */
  differing: Record<Thing['kind'], number>
  /** The differences of the first few of each kind. */
  shown: Difference[]
  /** How many differed in the first reading alone. */
  moved: number
  leftOut: number
}

interface CompareOptions {
  /** Of how many things of each kind the differences are kept. */
  shownMax: number
  /** Takes consumers with the same amounts on both sides for the same. */
  quick: boolean
  show: (words: string, count: number) => void
}

const zeros = () => ({ class: 0, trait: 0, provider: 0, consumer: 0 })

export async function comparePlacements(pair: Pair, { shownMax, quick, show }: CompareOptions): Promise<Compared> {
  const counts = zeros()
  const suspects: Thing[] = []
  const seen = (thing: Thing, differences: readonly Difference[]) => {
    counts[thing.kind]++
    show(thing.kind, counts[thing.kind])
    if (differences.length > 0) suspects.push(thing)
  }
  for (const kind of ['class', 'trait'] as const) {
    for (const id of await pair.missed(kind)) suspects.push({ kind, id })
  }
  const { leftOut, ...rows } = await pair.providers()
  await compareProviders(pair, rows, seen)
  const isHere = (at: boolean) => quick || at
  const passed = await pair.eachConsumer(rows, quick, async (id, at) => {
    const from = isHere(at.from) ? await pair.from.consumer(id) : null
    const to = isHere(at.to) ? await pair.to.consumer(id) : null
    if (!pair.isLeftOut(from, to)) seen({ kind: 'consumer', id }, consumerDifferences(id, from, to, pair.hasTypes))
  })
  counts.consumer += passed
  const differing = zeros()
  const shown: Difference[] = []
  await atOnce(
    suspects,
    async thing => {
      const differences = await pair.differences(thing)
      if (differences.length > 0 && ++differing[thing.kind] <= shownMax) shown.push(...differences)
    },
    { width: WIDTH },
  )
  const still = Object.values(differing).reduce((sum, one) => sum + one, 0)
  shown.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))
  return { counts, differing, shown, moved: suspects.length - still, leftOut }
}

async function compareProviders(
  pair: Pair,
  { from, to }: Rows,
  seen: (thing: Thing, differences: readonly Difference[]) => void,
): Promise<void> {
  const compare = async (id: string) => {
    const [here, there] = [from.get(id), to.get(id)]
    const states = await Promise.all([here ? pair.from.inFull(here) : null, there ? pair.to.inFull(there) : null])
    seen({ kind: 'provider', id }, providerDifferences(...states))
  }
  await atOnce([...new Set([...from.keys(), ...to.keys()])], compare, { width: WIDTH })
}
