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
const parts = Object.values(invariants).map((invariant, number) => {
  const { compiled } = invariant({})
  return `select ${number} as number, v.count::int from (${compiled.postgres.sql}) as v`
})
const ALL = `select number, count from (${parts.join(' union all ')}) as found where count > 0`

export async function violations(database: Database, sqlNow: string): Promise<Finding[]> {
  await database.rows(`select set_config('sim.now', $1, false)`, [sqlNow])
  const rows = await database.named<{ number: number; count: number }>('violations', ALL)
  return rows.map(({ number, count }) => ({ check: 'fsck', text: `${names[number]}: ${count}` }))
}
