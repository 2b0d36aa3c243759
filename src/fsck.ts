// All invariants that must hold: the ledger's own, those of the parts that build on it, and the audit's.
import { checkAudit } from './audit/fsck.ts'
import { checkInvariants, type Finding, ledgerInvariants } from './ledger/fsck.ts'
import { metalInvariants } from './metal/fsck.ts'
import type { Store } from './store/store.ts'

export async function checkEverything(store: Store): Promise<Finding[]> {
  const findings = await store.read(() => checkInvariants({ ...ledgerInvariants, ...metalInvariants }))
  return [...findings, await checkAudit(store)]
}
