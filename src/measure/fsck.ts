// All invariants that must hold: the database's own, the ledger's, those of the parts that build on it, and the audit's.
import { checkAudit } from '../audit/fsck.ts'
import { computeInvariants } from '../compute/fsck.ts'
import { leaseInvariants } from '../leases/fsck.ts'
import { ledgerInvariants } from '../ledger/fsck.ts'
import { metalInvariants } from '../metal/fsck.ts'
import { StoreDamaged } from '../store/failure.ts'
import { databaseInvariants, type Finding, violationsOf } from '../store/fsck.ts'
import type { Store } from '../store/store.ts'

/** Each by itself, in a statement that sees one state: what can't be read must not hide the rest. */
export async function checkEverything(store: Store): Promise<Finding[]> {
  const rooms = { ...ledgerInvariants, ...metalInvariants, ...computeInvariants, ...leaseInvariants }
  const findings: Finding[] = []
  for (const [invariant, violations] of Object.entries({ ...databaseInvariants[store.dialect], ...rooms })) {
    const look = async () => ({ invariant, violations: await store.read(() => violationsOf(violations)) })
    findings.push(await look().catch(error => unreadable(invariant, error)))
  }
  findings.push(await checkAudit(store).catch(error => unreadable('the sealed part of the audit can be read', error)))
  return findings
}

/** What can't be read isn't known to hold, so it counts. */
export function unreadable(invariant: string, error: unknown): Finding {
  if (!isDamage(error)) throw error
  const { message, cause } = error as Error
  const said = cause instanceof Error ? cause.message : message
  return { invariant: `${invariant} (can't be read: ${said})`, violations: 1 }
}

/** On PostgreSQL: data_corrupted, index_corrupted. */
const isDamage = (error: unknown) =>
  error instanceof StoreDamaged || ['XX001', 'XX002'].includes((error as { code?: string }).code ?? '')
