import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { limits } from '../shared/limits.ts'
import type { WebhookId } from '../store/schema/ids.ts'
import { deal, type Lane, NO_TURNS, nextDue, type Place, type Turns, type Waiting } from './dealing.ts'

const idOf = (number: number) => number as WebhookId
const hook = (number: number, owner = 'p1', lane: Lane = 'first', due = 1_000): Waiting => ({
  webhook: idOf(number),
  owner,
  lane,
  due,
})
const countsOf = (dealt: readonly Place[]) => {
  const counts = new Map<WebhookId, number>()
  for (const { webhook } of dealt) counts.set(webhook, (counts.get(webhook) ?? 0) + 1)
  return [...counts.values()]
}
const lane = fc.constantFrom<Lane>('first', 'again', 'mail')
const hooks = fc
  .array(fc.record({ owner: fc.constantFrom('a', 'b', 'c', 'd'), lane, due: fc.integer({ min: 1, max: 12 }) }), {
    maxLength: 60,
  })
  .map(found => found.map((one, i): Waiting => ({ webhook: idOf(i), ...one })))

test('one alone gets what a webhook may have, two of an owner leave a share for a third', () => {
  assert.deepEqual(countsOf(deal([hook(1)], [], NO_TURNS).dealt), [8])
  const { dealt, turns } = deal([hook(1), hook(2)], [], NO_TURNS)
  assert.deepEqual(countsOf(dealt), [6, 5])
  assert.deepEqual(countsOf(deal([hook(1), hook(2), hook(3)], dealt, turns).dealt), [3])
})

test('what failed last has one place, and takes none of those that others use', () => {
  const failing = Array.from({ length: 20 }, (_, i) => hook(i, 'p1', 'again'))
  const { dealt, turns } = deal(failing, [], NO_TURNS)
  assert.ok(dealt.length <= limits.deliveryLanes.again.ofOwner && countsOf(dealt).every(count => count === 1))
  assert.deepEqual(countsOf(deal([...failing, hook(99)], dealt, turns).dealt), [8])
})

test('mail waits for no receiver', () => {
  const receivers = Array.from({ length: 200 }, (_, i) => hook(i, `p${i % 40}`, i % 2 ? 'first' : 'again'))
  const { dealt, turns } = deal(receivers, [], NO_TURNS)
  assert.deepEqual(countsOf(deal([...receivers, hook(999, 'p1', 'mail')], dealt, turns).dealt), [2])
})

test('owners get places in turn, however many webhooks each has', () => {
  const many = Array.from({ length: 20 }, (_, i) => hook(i, 'many'))
  const { dealt } = deal([...many, hook(99, 'few')], [], NO_TURNS)
  assert.equal(dealt[1]!.owner, 'few')
  assert.equal(dealt.filter(({ owner }) => owner === 'few').length, 8)
})

test('no lane, owner or webhook gets more than it may, nor more than is due', () => {
  fc.assert(
    fc.property(hooks, waiting => {
      const { dealt } = deal(waiting, [], NO_TURNS)
      for (const name of ['first', 'again', 'mail'] as const) {
        const of = dealt.filter(one => one.lane === name)
        const { places, ofOwner, ofWebhook } = limits.deliveryLanes[name]
        assert.ok(of.length <= places)
        for (const mine of Map.groupBy(of, one => one.owner).values()) assert.ok(mine.length <= ofOwner)
        for (const mine of Map.groupBy(of, one => one.webhook).values()) {
          assert.ok(mine.length <= Math.min(ofWebhook, mine[0]!.due))
        }
      }
    }),
  )
})

test('nothing that may have a place is left without one, and nextDue says so', () => {
  fc.assert(
    fc.property(hooks, waiting => {
      const { dealt, turns } = deal(waiting, [], NO_TURNS)
      const left = waiting.map(one => ({ ...one, due: one.due - dealt.filter(given => given === one).length }))
      assert.deepEqual(deal(left, dealt, turns).dealt, [])
      const due = left.filter(one => one.due > 0).map(one => ({ ...one, nextAt: 0 }))
      assert.equal(nextDue(due, dealt), null)
      assert.equal(nextDue([{ ...hook(999, 'new', 'mail'), nextAt: 7 }], []), 7)
    }),
  )
})

/**
 * Rounds in which one place after another becomes free, whoever has it. Those who always have something due wait in the
 * line of their lane; in a turn of the owners each gets one place, and in a turn of an owner each of its webhooks.
 */
test('nobody with something due waits while others of its lane get more than a turn each', () => {
  const frees = fc.array(fc.nat({ max: 1_000 }), { minLength: 200, maxLength: 200 })
  fc.assert(
    fc.property(hooks, frees, (found, ends) => {
      const waiting = found.map(one => ({ ...one, due: 1_000 }))
      const waited = new Map<WebhookId, number>()
      let [underWay, turns]: [Place[], Turns] = [[], NO_TURNS]
      for (const end of ends) {
        const result = deal(waiting, underWay, turns)
        turns = result.turns
        for (const given of result.dealt) {
          for (const one of waiting) {
            if (one.lane !== given.lane) continue
            const count = one === given ? 0 : (waited.get(one.webhook) ?? 0) + 1
            waited.set(one.webhook, count)
            const isWithout = !underWay.some(({ webhook }) => webhook === one.webhook)
            if (isWithout) assert.ok(count <= boundOf(one, waiting), `${count} others had places before ${one.webhook}`)
          }
        }
        underWay.push(...result.dealt)
        if (underWay.length > 0) underWay = underWay.filter((_, i) => i !== end % underWay.length)
      }
    }),
    { numRuns: 60 },
  )
})

/** A turn of all owners for each webhook of its own; and before that what the lane holds may be dealt out once. */
function boundOf(one: Waiting, waiting: readonly Waiting[]): number {
  const owners = new Set(waiting.map(({ owner }) => owner)).size
  const own = waiting.filter(({ owner }) => owner === one.owner).length
  return (owners + 1) * (own + 1) + limits.deliveryLanes[one.lane].places
}

test('a stalled receiver does not get the place that it loses while others of its owner wait', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 20 }), count => {
      const waiting = Array.from({ length: count }, (_, i) => hook(i))
      const first = deal(waiting, [], NO_TURNS)
      const [lost, ...kept] = first.dealt as [Waiting, ...Waiting[]]
      const failing = waiting.map(one => (one.webhook === lost.webhook ? { ...one, lane: 'again' as const } : one))
      const { dealt } = deal(failing, kept, first.turns)
      assert.ok(dealt.every(one => one.webhook !== lost.webhook || one.lane === 'again'))
    }),
  )
})
