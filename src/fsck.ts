// All invariants that must hold: the ledger's own, those of the parts that build on it, and the audit's.
import { checkAudit } from './audit/fsck.ts'
import { computeInvariants } from './compute/fsck.ts'
import { leaseInvariants } from './leases/fsck.ts'
import { checkInvariants, type Finding, ledgerInvariants } from './ledger/fsck.ts'
import { metalInvariants } from './metal/fsck.ts'
import type { Store } from './store/store.ts'

export async function checkEverything(store: Store): Promise<Finding[]> {
  const rooms = { ...ledgerInvariants, ...metalInvariants, ...computeInvariants, ...leaseInvariants }
  const findings = await store.read(() => checkInvariants(rooms))
  return [...findings, await checkAudit(store)]
}
