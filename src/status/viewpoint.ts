// A viewpoint: what callers with the same sight share.
import type { Sight } from './shown.ts'

export interface Viewpoint {
  /** No other viewpoint has it, in any process. */
  readonly id: string
  /** How often the board was read anew before it was made. */
  readonly reading: number
  readonly sight: Sight
  /** The places of the traits in the list of their answer: they learn no names of what they don't see. */
  readonly traits: Map<string, number>
}
