// A step or a question at one machine: what the rooms of this driver are given.
import type { Machine } from '../port.ts'
import type { Bmc } from './bmc.ts'
import type { Pause } from './power.ts'

export interface Visit {
  readonly bmc: Bmc
  readonly machine: Machine
  readonly pause: Pause
  readonly signal: AbortSignal
}
