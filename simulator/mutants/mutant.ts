import type { Dialect } from '../../src/store/statement.ts'
import type { Change } from '../mutate.ts'

/** A deliberate bug: a change of one place in the sources. */
export interface Mutant extends Change {
  /** What is wrong with it, in words. */
  breaks: string
  /** The mix that shows it. */
  mix: string
  /** The faults that it needs. */
  faults: string
  /** PostgreSQL if it isn't said. */
  store?: Dialect
  /** For how many virtual seconds clients act; 6 if it isn't said, 12 with faults. */
  load?: number
  /** It is found within so many seeds, from the first on. */
  seeds: number
}
