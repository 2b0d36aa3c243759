// What clients were told: answered is done, refused left no trace, and without an answer it is one of the two.
import type { Answer } from '../support/client.ts'

/** Null: it isn't there. */
type State = string | null
/** It is there, and nobody was told more. */
export const THERE = 'there'

interface Thing {
  /** What was answered last. */
  is: State
  /** What it may be since a change got no answer; undefined if all changes were answered. */
  maybe?: State
}

/** While someone has a node: from the answer that said so until the client gave it back. */
interface Possession {
  node: string
  who: string
  since: number
  until: number
}

type Outcome = 'done' | 'refused' | 'unsure'

const UNSURE = /may be done/

/** Everything that clients asked for, by name; the name is the client's own, and known before it asks. */
export class Promises {
  readonly faults: string[] = []
  readonly counts = { answered: 0, refused: 0, away: 0, unsure: 0 }
  readonly #things = new Map<string, Thing>()
  readonly #possessions: Possession[] = []
  readonly #timed: (kind: string, ms: number) => void

  /** `timed` is told how long each answer took. */
  constructor(timed: (kind: string, ms: number) => void = () => {}) {
    this.#timed = timed
  }

  /** Sends a change of a thing to a state, and notes what came of it. */
  async change(name: string, to: State, send: () => Promise<Answer>): Promise<{ outcome: Outcome; answer?: Answer }> {
    const thing = this.#things.getOrInsertComputed(name, () => ({ is: null }))
    let answer: Answer
    const start = performance.now()
    try {
      answer = await send()
      this.#timed(name.split(' ', 1)[0]!, performance.now() - start)
    } catch {
      thing.maybe = to
      this.counts.unsure++
      return { outcome: 'unsure' }
    }
    const outcome = this.judge(name, answer)
    if (outcome === 'done') thing.is = to
    if (outcome === 'unsure') thing.maybe = to
    return { outcome, answer }
  }

  judge(what: string, { status, headers, body }: Answer): Outcome {
    if (status < 300) {
      this.counts.answered++
      return 'done'
    }
    if (status < 500) {
      this.counts.refused++
      return 'refused'
    }
    if (status !== 503 || headers['retry-after'] === undefined) {
      this.faults.push(`${what}: ${status}, Retry-After ${headers['retry-after']}: ${JSON.stringify(body)}`)
    }
    const isUnsure = UNSURE.test(JSON.stringify(body))
    this.counts[isUnsure ? 'unsure' : 'away']++
    return isUnsure ? 'unsure' : 'refused'
  }

  /** Returns what to call when the client gives the node back. */
  has(node: string, who: string): () => void {
    const possession = { node, who, since: performance.now(), until: Infinity }
    this.#possessions.push(possession)
    return () => void (possession.until = performance.now())
  }

  /** A client was told more about a thing that is there. */
  told(name: string, state: string): void {
    this.#things.get(name)!.is = state
  }

  /** Compares with what there is of this kind, by name. */
  check(kind: string, found: ReadonlyMap<string, string>): void {
    for (const [name, { is, maybe }] of this.#things) {
      if (!name.startsWith(`${kind} `)) continue
      const now = found.get(name.slice(kind.length + 1)) ?? null
      if (isAsTold(now, is) || (maybe !== undefined && isAsTold(now, maybe))) continue
      const what = is !== null && now === null ? 'lost' : is === null ? 'left a trace' : 'changed'
      const other = maybe === undefined ? '' : `, or perhaps ${maybe}`
      this.faults.push(`${what}: ${name} was told to be ${is}${other}, and is ${now}`)
    }
    for (const name of found.keys()) {
      if (!this.#things.has(`${kind} ${name}`)) this.faults.push(`nobody asked for ${kind} ${name}, which is there`)
    }
  }

  checkNobodySharedANode(): void {
    for (const [node, all] of Map.groupBy(this.#possessions, ({ node }) => node)) {
      const inOrder = all.toSorted((a, b) => a.since - b.since)
      for (const [at, one] of inOrder.entries()) {
        const next = inOrder[at + 1]
        if (next && next.since < one.until) this.faults.push(`sold twice: ${node} to ${one.who} and to ${next.who}`)
      }
    }
  }
}

const isAsTold = (now: State, told: State) => now === told || (told === THERE && now !== null)
