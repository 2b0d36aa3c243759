// A lease that has ended waits for whoever still uses what it gave, with growing pauses. The release of the last claim
// ends it at once, in whichever process it arrives.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { claimBatch } from '../../src/ledger/claims/batch.ts'
import { openStore } from '../../src/store/open.ts'
import { consumerBody, expectStatus, Placement } from '../support/placement.ts'
import { classOf, instances, type Reservation } from '../support/reservation.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { closed, served } from './ended.ts'

/** Tries until the pause is as long as it gets: a minute. */
const TRIES = 10

/** A lease that ended long ago and will be tried again in a minute. */
async function patient(api: Reservation) {
  const all = await closed(api)
  for (let i = 0; i < TRIES; i++) await api.advance(2)
  await api.until(all.lease, 'TERMINATING')
  return all
}

eachDatabase('a lease that waits for its end', databases =>
  served(databases, api => {
    const { placement } = api

    void test('is over as soon as the last claim is released', async () => {
      const { lease, server, child, resourceClass } = await patient(api)
      expectStatus(await placement.del(`/allocations/${server}`), 204)
      await api.until(lease, 'TERMINATED')
      assert.deepEqual(await placement.usages(child), {})
      expectStatus(await placement.get(`/resource_classes/${resourceClass}`), 404)
    })

    void test('waits on while a migration has the claim, and is over when that is gone', async () => {
      const { lease, server, has } = await patient(api)
      const migration = randomUUID()
      const { consumer_generation: generation } = expectStatus(await placement.get(`/allocations/${server}`), 200).body
      const swap = { [server]: consumerBody({}, generation), [migration]: consumerBody(has) }
      expectStatus(await placement.post('/allocations', swap), 204)
      const { status } = await api.show(lease)
      assert.equal(status, 'TERMINATING')
      const gone = { [migration]: consumerBody({}, 1) }
      expectStatus(await placement.post('/allocations', gone), 204)
      await api.until(lease, 'TERMINATED')
    })

    void test('has given back what nobody uses of its other reservations', async () => {
      const { only, names } = await api.pool(1)
      const wish = instances({ resource_properties: only })
      const { id, reservations } = await api.lease([wish, wish], { from: 0, to: 60 })
      await api.advance(1)
      await api.until(id, 'ACTIVE')
      const [unused, used] = reservations.map((one: { id: string }) => one.id) as [string, string]
      const server = await api.takeSlot(names[0]!, used)
      await api.advance(60)
      await api.until(id, 'TERMINATING')
      expectStatus(await placement.get(`/resource_classes/${classOf(unused)}`), 404)
      await api.fsck()
      expectStatus(await placement.del(`/allocations/${server}`), 204)
      await api.until(id, 'TERMINATED')
    })

    void test('is over when its user moves elsewhere', async () => {
      const { lease, server } = await patient(api)
      const elsewhere = await placement.provider({ VCPU: 1 })
      expectStatus(await placement.claim(server, { [elsewhere]: { VCPU: 1 } }, 1), 204)
      await api.until(lease, 'TERMINATED')
    })
  }),
)

eachDatabase('releases', ({ create }) => {
  void test('wake leases only when they are of a closed inventory that leases manage', async () => {
    const database = await create()
    const server = await startServer(database)
    const api = new Placement(server.origin)
    const root = await api.provider({ VCPU: 8 })
    const consumers = [randomUUID(), randomUUID(), randomUUID()] as const
    for (const consumer of consumers) expectStatus(await api.claim(consumer, { [root]: { VCPU: 1 } }), 204)
    api.close()
    await server.stop()

    const store = openStore(database)
    const heard: string[] = []
    store.onCommit(({ topics }) => void heard.push(...topics))
    const release = (consumer: string) => store.write(() => claimBatch([{ kind: 'release', consumer, owner: null }], 1))
    try {
      await release(consumers[0])
      await store.script(sql => sql('update inventories set blocked = 1'))
      await release(consumers[1])
      assert.deepEqual(heard, [])
      await store.script(sql => sql(`update providers set managed_by = 'leases'`))
      await release(consumers[2])
      assert.deepEqual(heard, ['leases'])
    } finally {
      await store.close()
    }
  })
})
