// Where the servers of leases run: our own compute slice, or a Nova. Flavors and access are written to our tables in both
// cases; for a Nova they are what it should have, and a row in nova_work says that someone has to bring it there.
import type { Command } from '../../store/statement.ts'
import type { Write } from '../../store/transaction.ts'

/** A reservation whose flavor or access changes. */
export interface Told {
  reservation: string
  lease: string
}

export interface LeaseCompute {
  readonly kind: 'own' | 'nova'
  /** Written with new reservations, in the same round trip. */
  begin(told: readonly Told[], now: number): Command[]
  /** Flavors or access of these reservations changed. */
  changed(told: readonly Told[], now: number): Write<void>
}
