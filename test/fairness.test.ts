// A quiet project beside a greedy one: how many of the others are answered before it, wherever requests wait in lines.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { systemClock } from '../src/clock/clock.ts'
import { ClaimQueue } from '../src/ledger/claims/queue.ts'
import { workFor } from '../src/shared/line.ts'
import { limits } from '../src/shared/limits.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { one } from '../src/store/transaction.ts'
import { as } from './support/callers.ts'
import { Client } from './support/client.ts'
import { consumerBody, expectStatus, Placement } from './support/placement.ts'
import { type Server, startServer } from './support/server.ts'
import { eachDatabase } from './support/stores.ts'
import * as sql from './store/statements.ts'

/** More than two batches. */
const MANY = 130
const GREEDY = as('admin', 'greedy')
const QUIET = as('admin', 'quiet')

/** How many of the many are done when the one is that came after all of them. */
async function doneBefore(many: readonly Promise<unknown>[], last: Promise<unknown>): Promise<number> {
  let count = 0
  for (const each of many) void each.then(() => count++)
  await last
  const found = count
  await Promise.all(many)
  return found
}
const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make)

eachDatabase('a quiet project beside a greedy one', databases => {
  const placements = [new Placement(), new Placement()] as const
  const operators = [new Client('/holdfast/v1'), new Client('/holdfast/v1')] as const
  const metal = [new Client('/baremetal/v1'), new Client('/baremetal/v1')] as const
  let server: Server
  let store: Store

  before(async () => {
    const database = await databases.create()
    server = await startServer(database)
    for (const client of [...placements, ...operators, ...metal]) client.origins = [server.origin]
    store = openStore(database)
  })
  after(async () => {
    await store.close()
    for (const client of [...placements, ...operators, ...metal]) client.close()
    await server.stop()
  })

  void test('its transaction is in the next commit, not behind all that wait', async () => {
    const write = (who: string) =>
      workFor(who, () => store.write(() => one(sql.traitByName({ name: `CUSTOM_${randomUUID()}` }))))
    const many = times(4 * limits.groupCommitMax, () => write('greedy'))
    const count = await doneBefore(many, write('quiet'))
    assert.ok(count <= limits.groupCommitMax, `${count} came first`)
  })

  void test('its claim is in the next batch', async () => {
    const queue = new ClaimQueue(store, systemClock)
    const release = (who: string) =>
      workFor(who, () =>
        queue.submit({ kind: 'release', consumer: randomUUID(), owner: null } as never).catch(() => {}),
      )
    const many = times(4 * limits.claimBatchMax, () => release('greedy'))
    const count = await doneBefore(many, release('quiet'))
    assert.ok(count <= limits.claimBatchMax, `${count} came first`)
  })

  /** How many of the many are answered first, when the one is sent after them. All of their sockets are open by then. */
  async function answeredBefore<C extends Client>(
    [greedy, quiet]: readonly [C, C],
    ask: (client: C, caller: typeof QUIET) => Promise<unknown>,
  ): Promise<number> {
    const all = () => times(MANY, () => ask(greedy, GREEDY))
    await Promise.all([...all(), ask(quiet, QUIET)])
    return doneBefore(all(), ask(quiet, QUIET))
  }

  void test('its dry run is answered while most of the others still wait', async () => {
    const count = await answeredBefore(operators, async (client, caller) =>
      expectStatus(await client.post('/explain/allocations', { resource_class: 'no-such-class' }, caller), 200),
    )
    assert.ok(count < MANY / 2, `${count} of ${MANY} came first`)
  })

  void test('its claim is answered while others still wait', async () => {
    const provider = await placements[0].provider({ VCPU: 1_000 })
    const count = await answeredBefore(placements, async (client, caller) => {
      const body = consumerBody({ [provider]: { VCPU: 1 } })
      expectStatus(await client.put(`/allocations/${randomUUID()}`, body, caller), 204)
    })
    assert.ok(count < MANY - limits.claimBatchMax / 2, `${count} of ${MANY} came first`)
  })

  void test('its allocation is written down while most of the others still wait', async () => {
    const count = await answeredBefore(metal, async (client, caller) => {
      const headers = { ...caller.headers, 'x-openstack-ironic-api-version': '1.83' }
      const answer = await client.post('/allocations', { resource_class: 'no-such-class' }, { ...caller, headers })
      expectStatus(answer, 201)
    })
    assert.ok(count < MANY / 2, `${count} of ${MANY} came first`)
  })
})
