import type { Dialect } from '../../src/store/statement.ts'

/** A deliberate bug: a change of one place in the sources. */
export interface Mutant {
  name: string
  /** What is wrong with it, in words. */
  breaks: string
  /** From the root of the tree. */
  file: string
  /** The text that is changed. It is in the file exactly once. */
  from: string
  to: string
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
