// All invariants of fsck that rows alone decide, as one statement, so that they can be checked after each commit.
import { computeInvariants } from '../../src/compute/fsck.ts'
import { leaseInvariants } from '../../src/leases/fsck.ts'
import { ledgerInvariants } from '../../src/ledger/fsck.ts'
import { metalInvariants } from '../../src/metal/fsck.ts'
import type { Invariants } from '../../src/store/fsck.ts'
import { webhookInvariants } from '../../src/webhooks/fsck.ts'
import type { Dialect } from '../../src/store/statement.ts'
import type { Finding } from '../port.ts'

const invariants: Invariants = {
  ...ledgerInvariants,
  ...metalInvariants,
  ...computeInvariants,
  ...leaseInvariants,
  ...webhookInvariants,
}
const names = Object.keys(invariants)

/** Finds the numbers of the invariants that are violated, and how often. */
export function violationsIn(dialect: Dialect): string {
  const parts = Object.values(invariants).map((invariant, number) => {
    const { compiled } = invariant({})
    return `select ${number} as number, v.count from (${compiled[dialect].sql}) as v`
  })
  return `select number, count from (${parts.join(' union all ')}) as found where count > 0`
}

export interface Violation {
  number: number
  count: number
}

export const findingOf = ({ number, count }: Violation): Finding => ({
  check: 'fsck',
  text: `${names[number]}: ${count}`,
})
