// What projects used is counted although a clock was wrong for a while.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../src/clock/clock.ts'
import type { AllocationRow } from '../../src/metal/allocations/rows.ts'
import { standingsNow } from '../../src/metal/queue/standings.ts'
import { countUsage, noteUses } from '../../src/metal/queue/usage.ts'
import { openStore } from '../../src/store/open.ts'
import { eachDatabase } from '../support/stores.ts'

const HOUR = 3_600_000
const YEAR = 365 * 24 * HOUR

eachDatabase('the count of what projects used', ({ create }) => {
  void test('goes on when a clock that was a year ahead is set right', async () => {
    const store = openStore(await create())
    const start = Date.now()
    const rules = { order: 'fair', halfLifeMs: 24 * HOUR } as const
    const used = (project_id: string, from: number) =>
      store.write(() =>
        noteUses([{ project_id, started_at: from, created_at: from } as unknown as AllocationRow], from + HOUR),
      )
    const countedAt = async (now: number) => {
      await countUsage({ store, clock: { ...systemClock, now: () => now }, rules })
      return store.read(standingsNow)
    }
    await used('early', start + YEAR)
    assert.deepEqual([...(await countedAt(start + YEAR + HOUR)).keys()], ['early'])
    await used('late', start)
    const standings = await countedAt(start + HOUR)
    assert.deepEqual([...standings.keys()].sort(), ['early', 'late'])
    for (const { servedAt } of standings.values()) assert.ok(servedAt! <= start + HOUR)
    assert.equal((await countedAt(start + 2 * HOUR)).size, 2)
    await store.close()
  })
})
