// Lease events that can't be done yet: how long the pauses between the tries are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { systemClock } from '../../src/clock/clock.ts'
import { loadConfig } from '../../src/config/config.ts'
import { eventsDuty } from '../../src/leases/lifecycle/duty.ts'
import { driversOf } from '../../src/metal/drivers/registry.ts'
import { limits } from '../../src/shared/limits.ts'
import { openStore } from '../../src/store/open.ts'
import { Baremetal } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'
import { Reservation } from '../support/reservation.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const MINUTE_MS = 60_000
const PAUSES_MS = [1, 2, 4, 8].map(times => times * limits.leaseRetryMs)

/** A lease of a node, from the fifth minute to the thirtieth. */
async function book(database: string): Promise<void> {
  const server = await startServer(database, { testClock: true })
  const api = new Reservation(server.origin)
  const metal = new Baremetal(server.origin)
  try {
    const node = await metal.node({ resource_class: 'retried' }, 'available')
    expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200)
    const nodes = { resource_type: 'physical:node', resource_class: 'retried', min: 1, max: 1 }
    await api.lease([nodes], { from: 5, to: 30 })
  } finally {
    metal.close()
    api.close()
    await server.stop()
  }
}

eachDatabase('retries', ({ create }) => {
  /** Breaks the node twenty minutes before that minute. Returns the pause after each try of the event from then on. */
  async function pausesOf(event: string, { minute, broken }: { minute: number; broken: string }): Promise<number[]> {
    const database = await create()
    await book(database)
    const store = openStore(database)
    const sql = (text: string) => store.script(run => run(text))
    const began = systemClock.now()
    let now = began
    const duty = eventsDuty({
      store,
      clock: { ...systemClock, now: () => now },
      log: pino({ level: 'silent' }),
      config: loadConfig({}, {}, undefined),
      drivers: driversOf(),
      bell: { ring: () => {} },
      witness: null,
      metrics: { leaseEvent: () => {} },
    })
    const pauses: number[] = []
    try {
      now = began + (minute - 20) * MINUTE_MS
      await duty.wake()
      await sql(broken)
      now = began + minute * MINUTE_MS
      for (const _ of PAUSES_MS) {
        await duty.wake()
        const [row] = await sql(`select due_at from lease_events where event_type = '${event}'`)
        const due = Number(row!['due_at'])
        pauses.push(due - now)
        now = due
      }
    } finally {
      await duty.stop()
      await store.close()
    }
    return pauses
  }

  void test('the pause doubles while an end waits for a node', async () => {
    const broken = `update nodes set provision_state = 'active', protected = 1`
    assert.deepEqual(await pausesOf('end_lease', { minute: 40, broken }), PAUSES_MS)
  })

  void test('the pause doubles while a start has too few nodes', async () => {
    const broken = `update nodes set maintenance = 1`
    assert.deepEqual(await pausesOf('start_lease', { minute: 10, broken }), PAUSES_MS)
  })
})
