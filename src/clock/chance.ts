// Random numbers from a seed: the same seed gives the same order on every machine.

export type Random = () => number

/** Mulberry32: small, fast, and good enough to spread load. */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

export function shuffled<T>(list: readonly T[], random: Random): T[] {
  const out = [...list]
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const swap = out[i]!
    out[i] = out[j]!
    out[j] = swap
  }
  return out
}

/** Shuffles in place while it hands out, so that taking ten of a hundred thousand costs ten swaps. */
export function* dealt(pack: Int32Array, random: Random): Generator<number, void, void> {
  for (let i = 0; i < pack.length; i++) {
    const j = i + Math.floor(random() * (pack.length - i))
    const card = pack[j]!
    pack[j] = pack[i]!
    pack[i] = card
    yield card
  }
}

/** The numbers below `count`, shuffled. Stores only the numbers that moved: for taking a few of very many. */
export function* dealtPlaces(count: number, random: Random): Generator<number, void, void> {
  const moved = new Map<number, number>()
  for (let i = 0; i < count; i++) {
    const j = i + Math.floor(random() * (count - i))
    yield moved.get(j) ?? j
    moved.set(j, moved.get(i) ?? i)
  }
}
