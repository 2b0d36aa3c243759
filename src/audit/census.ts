// The gauge of the audit: how many entries have no seal yet.
import { sql } from 'kysely'
import type { Gauges, Sample } from '../shared/gauges.ts'
import { query } from '../store/statement.ts'
import { one, type Read } from '../store/transaction.ts'

export const auditGauges = {
  holdfast_audit_unsealed: { help: 'Entries of the audit without a seal yet.' },
} satisfies Gauges

const unsealed = query((db, _: object) =>
  db
    .selectFrom(['log_head', 'audit_chain'])
    .select(e => sql<number>`${e.ref('log_head.last')} - ${e.ref('head_last')}`.as('count'))
    .where('audit_chain.one', '=', 1),
)

export function* countUnsealed(): Read<Sample<keyof typeof auditGauges>[]> {
  return [{ name: 'holdfast_audit_unsealed', value: (yield* one(unsealed({})))!.count }]
}
