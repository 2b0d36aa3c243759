// All invariants that must hold: the ledger's own, and those of the parts that build on it.
import { computeInvariants } from './compute/fsck.ts'
import { leaseInvariants } from './leases/fsck.ts'
import { checkInvariants, type Finding, ledgerInvariants } from './ledger/fsck.ts'
import { metalInvariants } from './metal/fsck.ts'
import type { Read } from './store/transaction.ts'

export function checkEverything(): Read<Finding[]> {
  return checkInvariants({ ...ledgerInvariants, ...metalInvariants, ...computeInvariants, ...leaseInvariants })
}
