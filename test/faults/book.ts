// What clients were told, written down: for each thing that they asked for the states that it may be in, at any time.
import assert from 'node:assert/strict'

/** What a thing is; null is gone, or never made. */
export type State = string | null

interface Moment {
  atNs: bigint
  possible: readonly State[]
}

/** What the answer to a change says of it. */
export type Outcome = 'done' | 'refused' | 'unknown'

const NEVER_ASKED_FOR: readonly State[] = [null]

export class Book {
  readonly #lives = new Map<string, Moment[]>()

  get size(): number {
    return this.#lives.size
  }

  /** Sends a change and keeps its outcome. Until the answer is there, and if none comes, both states may be. */
  async change(thing: string, next: State, send: () => Promise<Outcome>): Promise<Outcome> {
    const life = this.#lives.getOrInsertComputed(thing, () => [])
    const before = life.at(-1)?.possible ?? NEVER_ASKED_FOR
    const tell = (possible: readonly State[]) => life.push({ atNs: process.hrtime.bigint(), possible })
    tell([...before, next])
    const outcome = await send()
    if (outcome === 'done') tell([next])
    if (outcome === 'refused') tell(before)
    return outcome
  }

  /** The states that a thing may be in at this time, by all that was said until then; by default now. */
  possible(thing: string, atNs?: bigint): readonly State[] {
    const life = this.#lives.get(thing) ?? []
    const moment = life.findLast(moment => atNs === undefined || moment.atNs <= atNs)
    return moment?.possible ?? NEVER_ASKED_FOR
  }

  /** Fails if anything that was answered is lost, or something is there that nobody asked for. */
  compare(found: ReadonlyMap<string, string>, atNs?: bigint): void {
    for (const thing of new Set([...this.#lives.keys(), ...found.keys()])) {
      const [is, possible] = [found.get(thing) ?? null, this.possible(thing, atNs)]
      assert.ok(possible.includes(is), `${thing} is ${is}, and by what was answered it is ${possible.join(' or ')}`)
    }
  }

  /** The times at which answers came, for cuts just after them. */
  times(): bigint[] {
    return [...this.#lives.values()].flatMap(life => life.map(({ atNs }) => atNs))
  }
}
