// What happened, as lines. A hash over all of them shows that two runs are the same; the last ones tell of a failure.
import { createHash } from 'node:crypto'

const KEPT = 4_000

export class History {
  readonly #hash = createHash('sha256')
  readonly #lines: string[] = []
  readonly #now: () => number
  readonly #print: ((line: string) => void) | null
  #count = 0

  constructor(now: () => number, print?: (line: string) => void) {
    this.#now = now
    this.#print = print ?? null
  }

  add(who: string, what: string): void {
    const line = `${(this.#now() / 1_000).toFixed(6)} ${who} ${what}`
    this.#count++
    this.#hash.update(line).update('\n')
    this.#print?.(line)
    this.#lines.push(line)
    if (this.#lines.length > 2 * KEPT) this.#lines.splice(0, KEPT)
  }

  get count(): number {
    return this.#count
  }

  digest(): string {
    return this.#hash.copy().digest('hex').slice(0, 16)
  }

  last(count: number): readonly string[] {
    return this.#lines.slice(-count)
  }
}

/** Snapshots and the numbers that PostgreSQL gives by itself differ from run to run. */
const OWN_NUMBERS =
  /\bpg_(backend_pid|control_system|current_xact_id|current_snapshot|postmaster_start_time|stat_activity|xact_status)\b/
export const saysOwnNumbers = (text: string): boolean => OWN_NUMBERS.test(text)
const SNAPSHOT = /^\d+:\d+:[\d,]*$/
const masked = (value: string | null) => (value !== null && SNAPSHOT.test(value) ? '…' : value)
export const shown = (values: readonly (string | null)[]): string => JSON.stringify(values.map(masked))
