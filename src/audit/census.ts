// The gauge of the audit: how many entries have no seal yet.
import type { Gauges, Sample } from '../shared/gauges.ts'
import { query } from '../store/statement.ts'
import { one, type Read } from '../store/transaction.ts'

export const auditGauges = {
  holdfast_audit_unsealed: { help: 'Entries of the audit without a seal yet.' },
} satisfies Gauges

const unsealed = query((db, _: object) =>
  db
    .selectFrom('audit')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('seal_id', 'is', null),
)

export function* countUnsealed(): Read<Sample<keyof typeof auditGauges>[]> {
  return [{ name: 'holdfast_audit_unsealed', value: (yield* one(unsealed({})))!.count }]
}
