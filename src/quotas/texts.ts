// The large texts that a project stores: the extra and the candidate nodes of its allocations, the metadata of its
// servers, the terms of its leases. Small ones are not counted, so most writes ask for nothing.
import { sql } from 'kysely'
import { limits } from '../shared/limits.ts'
import { query, type Tools } from '../store/statement.ts'
import { type Read, together } from '../store/transaction.ts'
import type { Kind } from './usage.ts'

// Each expression is that of an index, so that the texts themselves are not read.
const ofAllocation = (on: Tools) => on.indexedBytes('extra', 'candidate_nodes')
const ofServer = (on: Tools) => on.indexedBytes('metadata')
const ofTerms = sql<number>`octet_length(r.terms)`
const counted = sql.lit(limits.countedTextBytes)

const inAllocations = query((db, a: { project: string }, on) =>
  db
    .selectFrom('allocations')
    .select(sql<number>`coalesce(sum(${ofAllocation(on)}), 0)`.as('bytes'))
    .where('project_id', '=', a.project)
    .where(sql<boolean>`${ofAllocation(on)} > ${counted}`),
)
const inServers = query((db, a: { project: string }, on) =>
  db
    .selectFrom('servers')
    .select(sql<number>`coalesce(sum(${ofServer(on)}), 0)`.as('bytes'))
    .where('project_id', '=', a.project)
    .where(sql<boolean>`${ofServer(on)} > ${counted}`),
)
const inLeases = query((db, a: { project: string }) =>
  db
    .selectFrom('leases as l')
    .innerJoin('lease_reservations as r', 'r.lease_id', 'l.id')
    .select(sql<number>`coalesce(sum(${ofTerms}), 0)`.as('bytes'))
    .where('l.project_id', '=', a.project)
    .where(sql<boolean>`${ofTerms} > ${counted}`),
)

const MIB = 1024 * 1024

export function* storedMib(project: string): Read<number> {
  const found = yield* together(inAllocations({ project }), inServers({ project }), inLeases({ project }))
  return found.reduce((sum, [row]) => sum + row!.bytes, 0) / MIB
}

/** Whether what is to be stored counts for the quota. */
export const isCounted = (...texts: readonly unknown[]): boolean =>
  texts.reduce((sum: number, text) => sum + Buffer.byteLength(JSON.stringify(text)), 0) > limits.countedTextBytes

/** The kinds of limits to check when these texts are stored. */
export const kindsOf = (...texts: readonly unknown[]): Kind[] => (isCounted(...texts) ? ['texts'] : [])
