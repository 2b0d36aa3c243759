// Checks all invariants: of the database, the ledger, bare metal, compute, leases and the audit.
import { checkAudit } from '../audit/fsck.ts'
import { calendarInvariants } from '../calendars/fsck.ts'
import { computeInvariants } from '../compute/fsck.ts'
import { identityInvariants } from '../identity/fsck.ts'
import { leaseInvariants } from '../leases/fsck.ts'
import { ledgerInvariants } from '../ledger/fsck.ts'
import { metalInvariants } from '../metal/fsck.ts'
import { quotaInvariants } from '../quotas/fsck.ts'
import { StoreDamaged, StoreUnavailable } from '../store/failure.ts'
import { databaseInvariants, type Finding, violationsOf } from '../store/fsck.ts'
import { checkSchema } from './fsck-schema.ts'
import { webhookInvariants } from '../webhooks/fsck.ts'
import type { Store } from '../store/store.ts'
import { jsonChecks } from './json-texts.ts'
import { timeInvariants } from './times.ts'

/**
 * Each invariant is a read of its own. Whatever one of them meets becomes its line, and the others go on: damaged data,
 * a table or a function that isn't there, a query that takes too long. Only without the database there is no answer.
 */
export async function checkEverything(
  store: Store,
  isWanted: (invariant: string) => boolean = () => true,
): Promise<Finding[]> {
  const rooms = {
    ...ledgerInvariants,
    ...metalInvariants,
    ...computeInvariants,
    ...leaseInvariants,
    ...webhookInvariants,
    ...quotaInvariants,
    ...calendarInvariants,
    ...identityInvariants,
    ...timeInvariants,
  }
  const findings: Finding[] = []
  const look = async (invariant: string, found: () => Promise<Finding | Finding[]>) => {
    if (!isWanted(invariant)) return
    findings.push(...[await found().catch(error => failed(store, invariant, error))].flat())
  }
  await look('the schema can be read', () => checkSchema(store))
  for (const [invariant, violations] of Object.entries({ ...databaseInvariants[store.dialect], ...rooms })) {
    await look(invariant, async () => ({ invariant, violations: await store.read(() => violationsOf(violations)) }))
  }
  for (const [invariant, found] of jsonChecks(store)) await look(invariant, found)
  await look('the sealed part of the audit can be read', () => checkAudit(store))
  return findings
}

async function failed(store: Store, invariant: string, error: unknown): Promise<Finding> {
  // Throws if it is away.
  if (isAway(error)) await store.ping()
  return notRead(invariant, error)
}

const isAway = (error: unknown) => error instanceof StoreUnavailable && !(error instanceof StoreDamaged)

/** A database that can't be opened because its file is damaged. */
export function unreadable(invariant: string, error: unknown): Finding {
  if (!(error instanceof StoreDamaged)) throw error
  return notRead(invariant, error)
}

/** An invariant that can't be read counts as violated. */
function notRead(invariant: string, error: unknown): Finding {
  const { message, cause } = error as Error
  const said = cause instanceof Error ? cause.message : message
  return { invariant: `${invariant} (can't be read: ${said})`, violations: 1 }
}
