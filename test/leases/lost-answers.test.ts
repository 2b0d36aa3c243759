// Lease events that are done, and whose answer is lost: they are not done again, and nobody goes on trying.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/clock/clock.ts'
import { checkEverything } from '../../src/measure/fsck.ts'
import { StoreUnavailable } from '../../src/store/failure.ts'
import { openStore } from '../../src/store/open.ts'
import { FaultyStore } from '../support/faulty-store.ts'
import { instances } from '../support/reservation.ts'
import { eachDatabase } from '../support/stores.ts'
import { book, dutyOn } from './events-duty.ts'

const MINUTE_MS = 60_000

eachDatabase('lease events', ({ create }) => {
  void test('are done once though the answers to them are lost', async () => {
    const database = await create()
    await book(database, async (api, window) => {
      const { only } = await api.pool(1)
      await api.lease([instances({ resource_properties: only })], window)
    })
    const store = openStore(database)
    const faulty = new FaultyStore(store)
    let ahead = 0
    const duty = dutyOn(faulty, () => systemClock.now() + ahead)
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
