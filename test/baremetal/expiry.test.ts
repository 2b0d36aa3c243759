// The duty that ends expired allocations and holds: what it does in one run, and when it wants to run again.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { witnessOf } from '../../src/audit/witness.ts'
import { systemClock } from '../../src/clock/clock.ts'
import { signIn } from '../../src/metal/conductors/rows.ts'
import { FakeHardware } from '../../src/metal/drivers/fake.ts'
import { driversOf } from '../../src/metal/drivers/registry.ts'
import { endLapsed } from '../../src/metal/expiry.ts'
import { createNode } from '../../src/metal/nodes/lifecycle.ts'
import { NOBODY } from '../../src/metal/nodes/provider.ts'
import { limits } from '../../src/shared/limits.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { uuid } from '../support/baremetal.ts'
import { eachDatabase } from '../support/stores.ts'

const NOW = 1_800_000_000_000
const drivers = driversOf(new FakeHardware({ delayMs: 0, pause: async () => {} }))

eachDatabase('expiry', ({ create }) => {
  let store: Store
  before(async () => {
    store = openStore(await create())
    const who = { hostname: 'here', incarnation: uuid(), group: '', drivers: ['fake-hardware'] }
    await store.write(() => signIn(who, true, 60_000, 'there'))
  })
  after(() => store.close())

  const clock = { ...systemClock, now: () => NOW }
  const witness = witnessOf({ clock, isAudited: true }, () => 'here')
  const runOnce = () => endLapsed({ store, clock, drivers, witness })
  const sql = (text: string) => store.script(run => run(text))
  const addConsumer = (owner: string, expiresAt: number, type = 'RESERVATION') =>
    sql(`insert into consumers (uuid, project_id, user_id, type, generation, managed_by, created_at, expires_at)
      values ('${uuid()}', 'p', 'u', '${type}', 1, '${owner}', 0, ${expiresAt})`)

  /** Allocations of deployed nodes that are protected: all expired, at the same time. */
  async function addProtected(count: number): Promise<void> {
    const attributes = { driver: 'fake-hardware' }
    const add = () => createNode({ uuid: uuid(), attributes, state: 'available' }, drivers, NOBODY, 0)
    await Promise.all(Array.from({ length: count }, () => store.write(add)))
    await sql(`update nodes set provision_state = 'active', protected = 1`)
    await sql(`insert into allocations (uuid, node_id, resource_class, traits, candidate_nodes, extra, project_id,
        user_id, state, conductor_affinity, created_at, expires_at)
      select uuid, id, 'x', '[]', '[]', '{}', 'p', 'u', 'active', '', 0, ${NOW - 2_000} from nodes`)
  }
  const addEndable = (expiresAt: number) =>
    sql(`insert into allocations (uuid, resource_class, traits, candidate_nodes, extra, project_id, user_id, state,
        conductor_affinity, created_at, expires_at)
      values ('${uuid()}', 'x', '[]', '[]', '{}', 'p', 'u', 'error', '', 0, ${expiresAt})`)
  const states = async () =>
    (await sql('select state, count(*) as count from allocations group by state')).map(({ state, count }) => [
      state,
      Number(count),
    ])

  void test('runs again when the next hold or allocation expires', async () => {
    await addConsumer('leases', NOW + 1_000)
    assert.equal(await runOnce(), null, 'a consumer of another owner is not its concern')
    await addEndable(NOW + 9_000)
    assert.equal(await runOnce(), 9_000)
    await addConsumer('baremetal', NOW + 5_000)
    assert.equal(await runOnce(), 5_000)
    await sql('delete from consumers')
    await sql('delete from allocations')
  })

  void test('allocations that have to wait do not keep later ones from ending', async () => {
    const count = 2 * limits.expiryBatchMax
    await addProtected(count)
    // One in the middle of those that wait, and one behind them.
    await addEndable(NOW - 2_000)
    await addEndable(NOW - 1_000)
    assert.equal(await runOnce(), limits.expiryRetryMs)
    assert.deepEqual(await states(), [['active', count]])
  })
})
