// How far the seals are behind, counted for those who watch over them.
import type { Figures, Sample } from '../figures.ts'
import { query } from '../store/statement.ts'
import { one, type Read } from '../store/transaction.ts'

export const auditFigures = {
  holdfast_audit_unsealed: { help: 'Entries of the audit without a seal yet.' },
} satisfies Figures

const unsealed = query((db, _: object) =>
  db
    .selectFrom('audit')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('seal_id', 'is', null),
)

export function* countUnsealed(): Read<Sample<keyof typeof auditFigures>[]> {
  return [{ name: 'holdfast_audit_unsealed', value: (yield* one(unsealed({})))!.count }]
}
