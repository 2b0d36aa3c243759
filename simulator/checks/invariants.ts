// All invariants of fsck that rows alone decide, as one statement, so that they can be checked after each commit.
import { computeInvariants } from '../../src/compute/fsck.ts'
import { leaseInvariants } from '../../src/leases/fsck.ts'
import { ledgerInvariants } from '../../src/ledger/fsck.ts'
import { metalInvariants } from '../../src/metal/fsck.ts'
import type { Invariants } from '../../src/store/fsck.ts'
import { webhookInvariants } from '../../src/webhooks/fsck.ts'
import type { Finding } from '../port.ts'

const invariants: Invariants = {
  ...ledgerInvariants,
  ...metalInvariants,
  ...computeInvariants,
  ...leaseInvariants,
  ...webhookInvariants,
}
const names = Object.keys(invariants)

/** What an invariant looks at. */
const tablesIn = (sql: string) => new Set(Array.from(sql.matchAll(/\b(?:from|join) "?(\w+)"?/g), ([, table]) => table!))

/** One function for all: each invariant is planned when it is needed first, and once for a connection. */
export const VIOLATIONS = `
  create function sim.violations(touched text[]) returns table (invariant_number int, broken_count int)
  language plpgsql as $fsck$
  #variable_conflict use_column
  begin
    ${Object.values(invariants)
      .map((invariant, number) => {
        const { sql } = invariant({}).compiled.postgres
        const tables = Array.from(tablesIn(sql), table => `'${table}'`)
        return `if touched is null or touched && array[${tables.join()}] then
          invariant_number := ${number};
          select v.count into broken_count from (${sql}) as v;
          if broken_count > 0 then return next; end if;
        end if;`
      })
      .join('\n')}
  end $fsck$`

/** The same for SQLite, which has no functions: of the invariants that look at one of these tables; null if none does. */
export function violationsOnSqlite(touched?: ReadonlySet<string>): string | null {
  const parts = Object.values(invariants).flatMap((invariant, number) => {
    const { sql } = invariant({}).compiled.sqlite
    if (touched && ![...tablesIn(sql)].some(table => touched.has(table))) return []
    return `select ${number} as invariant_number, v.count as broken_count from (${sql}) as v`
  })
  return parts.length === 0 ? null : `select * from (${parts.join(' union all ')}) where broken_count > 0`
}

export interface Violation {
  invariant_number: number
  broken_count: number
}

export const findingOf = ({ invariant_number, broken_count }: Violation): Finding => ({
  check: 'fsck',
  text: `${names[invariant_number]}: ${broken_count}`,
})
