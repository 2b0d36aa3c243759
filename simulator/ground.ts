// What a run stands on: a database, and the way of the simulated processes to it.
import type { Dialect } from '../src/store/statement.ts'
import type { Dial } from '../src/store/session.ts'
import type { Finding } from './port.ts'
import type { Role } from './processes.ts'
import type { Owner } from './world.ts'

export interface Ground {
  readonly dialect: Dialect
  /** As processes are told it. */
  readonly address: string
  /** Which processes may share it; the seed chooses. */
  readonly casts: readonly (readonly Role[])[]
  /** Those that a mix needs; null where the seed chooses. */
  castOf(mix: string): readonly Role[] | null
  /** By how much the clock of a process may be wrong. */
  readonly skewMsMax: number
  /** The last time that nobody could reach it. */
  readonly outage: Readonly<{ since: number; until: number }>
  /** What a process takes from outside to reach the database. */
  surroundings(owner: Owner): { dial?: Dial; isOneThread?: boolean }
  /** A process has died, and the system closes what it had open, after that long. */
  left(owner: Owner, ms: number): void
  /** Asks the database beside the processes. Whole numbers come as numbers. */
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** What fsck finds, by the invariants that look at one of these tables; by all if none is named. */
  violations(touched?: ReadonlySet<string>): Promise<Finding[]>
  /** From now on nothing fails. */
  heal(): void
  /** Ends all connections, at the end of a run. */
  stop(): void
}
