// The rules of capacity: how much may be in use, in which portions, and what holds when an inventory is over-full.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { expectStatus, isFull, type Terms } from '../support/placement.ts'
import { eachStore } from '../support/stores.ts'

eachStore('capacity', api => {
  const take = (provider: string, amount: number) => api.claim(randomUUID(), { [provider]: { VCPU: amount } })

  for (const [terms, capacity] of [
    [{ total: 10 }, 10],
    [{ total: 10, reserved: 3 }, 7],
    [{ total: 10, reserved: 10 }, 0],
    [{ total: 10, allocation_ratio: 16 }, 160],
    [{ total: 10, reserved: 2, allocation_ratio: 1.5 }, 12],
    [{ total: 3, allocation_ratio: 1.5 }, 4],
    [{ total: 10, allocation_ratio: 0.25 }, 2],
    [{ total: 10, allocation_ratio: 0.05 }, 0],
    [{ total: 100, allocation_ratio: 1.1 }, 110],
    [{ total: 10, max_unit: 200, allocation_ratio: 16 }, 160],
  ] satisfies [Terms, number][]) {
    test(`${JSON.stringify(terms)} has room for ${capacity}`, async () => {
      const provider = await api.provider({ VCPU: terms })
      assert.ok(isFull(await take(provider, capacity + 1)))
      if (capacity > 0) expectStatus(await take(provider, capacity), 204)
      assert.ok(isFull(await take(provider, 1)))
      assert.deepEqual(await api.usages(provider), { VCPU: capacity })
    })
  }

  test('is handed out in portions from min_unit to max_unit in steps of step_size', async () => {
    const provider = await api.provider({ VCPU: { total: 1000, min_unit: 4, max_unit: 12, step_size: 4 } })
    const fits: number[] = []
    for (let amount = 1; amount <= 20; amount++) {
      const answer = expectStatus(await take(provider, amount), 204, 409)
      if (answer.status === 204) fits.push(amount)
      else assert.match(answer.body.errors[0].detail, /would violate inventory constraints/)
    }
    assert.deepEqual(fits, [4, 8, 12])
  })

  test('is checked for the whole request: each portion by itself, and the sum', async () => {
    const provider = await api.provider({ VCPU: { total: 10, max_unit: 6 } })
    expectStatus(await take(provider, 6), 204)
    assert.ok(isFull(await take(provider, 5)))
    expectStatus(await take(provider, 4), 204)
  })

  test('a consumer’s own claims make room for its next ones', async () => {
    const provider = await api.provider({ VCPU: 10 })
    const consumer = randomUUID()
    for (const [generation, amount] of [10, 8, 10, 1, 10].entries()) {
      expectStatus(
        await api.claim(consumer, { [provider]: { VCPU: amount } }, generation === 0 ? null : generation),
        204,
      )
      assert.deepEqual(await api.usages(provider), { VCPU: amount })
    }
    assert.ok(isFull(await api.claim(consumer, { [provider]: { VCPU: 11 } }, 5)))
    assert.deepEqual(await api.usages(provider), { VCPU: 10 })
  })

  test('may be lowered below what is in use; nobody new gets in until enough have gone', async () => {
    const provider = await api.provider({ VCPU: 10 })
    const consumers = Array.from({ length: 5 }, () => randomUUID())
    for (const consumer of consumers) expectStatus(await api.claim(consumer, { [provider]: { VCPU: 2 } }), 204)
    expectStatus(await api.setInventories(provider, { VCPU: 5 }), 200)
    assert.deepEqual(await api.usages(provider), { VCPU: 10 })
    await api.fsck()
    for (const consumer of consumers.slice(0, 3)) {
      assert.ok(isFull(await take(provider, 1)))
      expectStatus(await api.del(`/allocations/${consumer}`), 204)
    }
    expectStatus(await take(provider, 1), 204)
    assert.ok(isFull(await take(provider, 1)))
    await api.fsck()
  })

  test('an over-full provider may be rewritten, lowered and handed on, but not raised', async () => {
    const provider = await api.provider({ VCPU: 10 })
    const [one, two] = [randomUUID(), randomUUID()]
    const claim = (consumer: string, amount: number, generation: number | null) =>
      api.claim(consumer, { [provider]: { VCPU: amount } }, generation)
    expectStatus(await claim(one, 6, null), 204)
    expectStatus(await claim(two, 4, null), 204)
    expectStatus(await api.setInventories(provider, { VCPU: { total: 10, reserved: 7 } }), 200)
    expectStatus(await claim(one, 6, 1), 204)
    assert.ok(isFull(await claim(one, 7, 2)))
    expectStatus(await claim(one, 5, 2), 204)
    assert.ok(isFull(await claim(one, 6, 3)), 'what was given back is gone')
    assert.deepEqual(await api.usages(provider), { VCPU: 9 })
    await api.fsck()
  })

  test('an inventory that was raised again has its room again', async () => {
    const provider = await api.provider({ VCPU: 10 })
    expectStatus(await take(provider, 8), 204)
    expectStatus(await api.setInventories(provider, { VCPU: 4 }), 200)
    assert.ok(isFull(await take(provider, 1)))
    expectStatus(await api.setInventories(provider, { VCPU: 9 }), 200)
    expectStatus(await take(provider, 1), 204)
    assert.ok(isFull(await take(provider, 1)))
    await api.fsck()
  })

  test('agrees with used + wanted ≤ (total − reserved) × ratio for any numbers', async () => {
    const terms = fc.record({
      total: fc.integer({ min: 1, max: 50 }),
      reserved: fc.integer({ min: 0, max: 10 }),
      allocation_ratio: fc.constantFrom(0.1, 0.3, 0.5, 0.7, 1, 1.1, 1.3, 2, 3.7, 16),
    })
    await fc.assert(
      fc.asyncProperty(terms, fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 6 }), async (terms, amounts) => {
        fc.pre(terms.reserved <= terms.total)
        const provider = await api.provider({ VCPU: terms })
        let used = 0
        for (const amount of amounts) {
          const fits = used + amount <= (terms.total - terms.reserved) * terms.allocation_ratio
          const answer = await take(provider, amount)
          if (fits) used += amount
          assert.equal(answer.status === 204, fits, `${used} + ${amount}`)
        }
        assert.deepEqual(await api.usages(provider), { VCPU: used })
      }),
      { numRuns: 40 },
    )
    await api.fsck()
  })
})
