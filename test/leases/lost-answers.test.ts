// Lease events that are done, and whose answer is lost: they are not done again, and nobody goes on trying.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { systemClock } from '../../src/clock/clock.ts'
import { loadConfig } from '../../src/config/config.ts'
import { eventsDuty } from '../../src/leases/lifecycle/duty.ts'
import { checkEverything } from '../../src/measure/fsck.ts'
import { driversOf } from '../../src/metal/drivers/registry.ts'
import { StoreUnavailable } from '../../src/store/failure.ts'
import { openStore } from '../../src/store/open.ts'
import { Baremetal } from '../support/baremetal.ts'
import { FaultyStore } from '../support/faulty-store.ts'
import { expectStatus } from '../support/placement.ts'
import { instances, Reservation } from '../support/reservation.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const MINUTE_MS = 60_000

/** One lease of hosts and one of nodes, from the fifth minute to the thirtieth. */
async function book(database: string): Promise<void> {
  const server = await startServer(database, { testClock: true })
  const api = new Reservation(server.origin)
  const metal = new Baremetal(server.origin)
  try {
    const { only } = await api.pool(1)
    await api.lease([instances({ resource_properties: only })], { from: 5, to: 30 })
    const node = await metal.node({ resource_class: 'lost' }, 'available')
    expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200)
    const nodes = { resource_type: 'physical:node', resource_class: 'lost', min: 1, max: 1 }
    await api.lease([nodes], { from: 5, to: 30 })
  } finally {
    metal.close()
    api.close()
    await server.stop()
  }
}

eachDatabase('lease events', ({ create }) => {
  void test('are done once though the answers to them are lost', async () => {
    const database = await create()
    await book(database)
    const store = openStore(database)
    const faulty = new FaultyStore(store)
    let ahead = 0
    const duty = eventsDuty({
      store: faulty,
      clock: { ...systemClock, now: () => systemClock.now() + ahead },
      log: pino({ level: 'silent' }),
      config: loadConfig({}, {}, undefined),
      drivers: driversOf(),
      bell: { ring: () => {} },
      witness: null,
      metrics: { leaseEvent: () => {} },
    })
    const statuses = async () => {
      const rows = await store.script(run => run('select status from leases'))
      return rows.map(({ status }) => status)
    }
    try {
      for (const [minutes, status] of [
        [10, 'ACTIVE'],
        [40, 'TERMINATED'],
      ] as const) {
        ahead = minutes * MINUTE_MS
        let writes = 0
        faulty.answered = () => {
          if (writes++ % 2 === 0) throw new StoreUnavailable('the answer is lost')
        }
        await duty.wake()
        faulty.answered = () => {}
        // Whatever was put off is due again.
        ahead += 5 * MINUTE_MS
        const isQuiet = await Promise.race([duty.wake().then(() => true), sleep(10_000, false, { ref: false })])
        assert.ok(isQuiet, 'it goes on and on')
        assert.deepEqual(await statuses(), [status, status])
        const findings = await checkEverything(store)
        assert.deepEqual(
          findings.filter(({ violations }) => violations > 0),
          [],
        )
      }
    } finally {
      // Ends also a duty that would not end by itself.
      faulty.isAway = true
      await duty.stop()
      await store.close()
    }
  })
})
