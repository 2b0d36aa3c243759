// Checks all invariants: of the database, the ledger, bare metal, compute, leases and the audit.
import { checkAudit } from '../audit/fsck.ts'
import { computeInvariants } from '../compute/fsck.ts'
import { leaseInvariants } from '../leases/fsck.ts'
import { ledgerInvariants } from '../ledger/fsck.ts'
import { metalInvariants } from '../metal/fsck.ts'
import { StoreDamaged } from '../store/failure.ts'
import { databaseInvariants, type Finding, violationsOf } from '../store/fsck.ts'
import { checkSchema } from './fsck-schema.ts'
import { webhookInvariants } from '../webhooks/fsck.ts'
import type { Store } from '../store/store.ts'

/** Each invariant is a read of its own, so that damaged data doesn't hide the rest. */
export async function checkEverything(store: Store): Promise<Finding[]> {
  const rooms = {
    ...ledgerInvariants,
    ...metalInvariants,
    ...computeInvariants,
    ...leaseInvariants,
    ...webhookInvariants,
  }
  const findings = await checkSchema(store).catch(error => [unreadable('the schema can be read', error)])
  for (const [invariant, violations] of Object.entries({ ...databaseInvariants[store.dialect], ...rooms })) {
    const look = async () => ({ invariant, violations: await store.read(() => violationsOf(violations)) })
    findings.push(await look().catch(error => unreadable(invariant, error)))
  }
  findings.push(await checkAudit(store).catch(error => unreadable('the sealed part of the audit can be read', error)))
  return findings
}

/** An invariant that can't be read counts as violated. */
export function unreadable(invariant: string, error: unknown): Finding {
  if (!isDamage(error)) throw error
  const { message, cause } = error as Error
  const said = cause instanceof Error ? cause.message : message
  return { invariant: `${invariant} (can't be read: ${said})`, violations: 1 }
}

/** On PostgreSQL: data_corrupted, index_corrupted. */
const isDamage = (error: unknown) =>
  error instanceof StoreDamaged || ['XX001', 'XX002'].includes((error as { code?: string }).code ?? '')
