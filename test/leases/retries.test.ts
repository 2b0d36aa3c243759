// Lease events that can't be done yet: how long the pauses between the tries are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/clock/clock.ts'
import { limits } from '../../src/shared/limits.ts'
import { openStore } from '../../src/store/open.ts'
import { eachDatabase } from '../support/stores.ts'
import { book, dutyOn } from './events-duty.ts'

const MINUTE_MS = 60_000
const PAUSES_MS = [1, 2, 4, 8].map(times => times * limits.leaseRetryMs)

eachDatabase('retries', ({ create }) => {
  /** Breaks the node twenty minutes before that minute. Returns the pause after each try of the event from then on. */
  async function pausesOf(event: string, { minute, broken }: { minute: number; broken: string }): Promise<number[]> {
    const database = await create()
    await book(database, async () => {})
    const store = openStore(database)
    const sql = (text: string) => store.script(run => run(text))
    const began = systemClock.now()
    let now = began
    const duty = dutyOn(store, () => now)
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
