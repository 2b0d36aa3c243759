// All invariants of fsck that rows alone decide, as one statement, so that they can be checked after each commit.
import { computeInvariants } from '../../src/compute/fsck.ts'
import { leaseInvariants } from '../../src/leases/fsck.ts'
import { ledgerInvariants } from '../../src/ledger/fsck.ts'
import { metalInvariants } from '../../src/metal/fsck.ts'
import type { Invariants } from '../../src/store/fsck.ts'
import { webhookInvariants } from '../../src/webhooks/fsck.ts'
import type { Database } from '../database.ts'
import type { Finding } from '../port.ts'

const invariants: Invariants = {
  ...ledgerInvariants,
  ...metalInvariants,
  ...computeInvariants,
  ...leaseInvariants,
  ...webhookInvariants,
}
const names = Object.keys(invariants)

/** One function for all: each invariant is planned when it is needed first, and once for a connection. */
export const VIOLATIONS = `
  create function sim.violations(touched text[]) returns table (invariant_number int, broken_count int)
  language plpgsql as $fsck$
  #variable_conflict use_column
  begin
    ${Object.values(invariants)
      .map((invariant, number) => {
        const { sql } = invariant({}).compiled.postgres
        const tables = new Set(Array.from(sql.matchAll(/\b(?:from|join) "?(\w+)"?/g), ([, table]) => `'${table}'`))
        return `if touched is null or touched && array[${[...tables].join()}] then
          invariant_number := ${number};
          select v.count into broken_count from (${sql}) as v;
          if broken_count > 0 then return next; end if;
        end if;`
      })
      .join('\n')}
  end $fsck$`

/** Of the invariants that look at one of these tables; of all if none is named. */
export async function violations(
  database: Database,
  sqlNow: string,
  touched?: ReadonlySet<string>,
): Promise<Finding[]> {
  const text = `select * from set_config('sim.now', $1, false), sim.violations($2)`
  const values = [sqlNow, touched ? [...touched] : null]
  const rows = await database.rows<{ invariant_number: number; broken_count: number }>(text, values)
  return rows.map(row => ({ check: 'fsck', text: `${names[row.invariant_number]}: ${row.broken_count}` }))
}
