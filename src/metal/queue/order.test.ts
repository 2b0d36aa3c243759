import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { limits } from '../../shared/limits.ts'
import { inServingOrder, type QueueRules, type Standing, UNKNOWN, type Waiter } from './order.ts'

const HOUR = 3_600_000
const DAY = limits.priorityHeadStartMs
const FIFO: QueueRules = { order: 'fifo', halfLifeMs: 7 * DAY }
const FAIR: QueueRules = { order: 'fair', halfLifeMs: 7 * DAY }

const waiter = (id: number, project: string, since: number): Waiter => ({ id, project, since })
const standings = (of: Record<string, Partial<Standing>>) =>
  new Map(Object.entries(of).map(([project, parts]) => [project, { ...UNKNOWN, ...parts }]))
const ids = (waiting: readonly Waiter[]) => waiting.map(({ id }) => id)

test('first come, first served; of two that came at once the first by id', () => {
  const line = [waiter(3, 'a', 50), waiter(2, 'b', 50), waiter(1, 'c', 60)]
  assert.deepEqual(ids(inServingOrder(line, new Map(), FIFO)), [2, 3, 1])
})

test('a level of priority is a head start of a day, and no more', () => {
  const line = [waiter(1, 'a', 0), waiter(2, 'b', DAY - 1), waiter(3, 'b', DAY + 1)]
  assert.deepEqual(ids(inServingOrder(line, standings({ b: { priority: 1 } }), FIFO)), [2, 1, 3])
  assert.deepEqual(ids(inServingOrder(line, standings({ a: { priority: -1 } }), FIFO)), [2, 1, 3])
})

test('in the fair order whoever used less goes first, measured by its share', () => {
  const line = [waiter(1, 'a', 0), waiter(2, 'b', 0)]
  const used = { a: { used: 60 * HOUR }, b: { used: 50 * HOUR } }
  assert.deepEqual(ids(inServingOrder(line, standings(used), FAIR)), [2, 1])
  const shared = { a: { used: 60 * HOUR, share: 2 }, b: { used: 50 * HOUR } }
  assert.deepEqual(ids(inServingOrder(line, standings(shared), FAIR)), [1, 2])
})

test('in the fair order projects alternate, and each by its share', () => {
  const of = (project: string, from: number) => [0, 1, 2, 3].map(i => waiter(from + i, project, 0))
  const line = [...of('a', 1), ...of('b', 11)]
  assert.deepEqual(ids(inServingOrder(line, new Map(), FAIR)), [1, 11, 2, 12, 3, 13, 4, 14])
  const twice = inServingOrder(line, standings({ b: { share: 2 } }), FAIR)
  assert.deepEqual(ids(twice).slice(0, 6), [1, 11, 12, 2, 13, 14])
})

test('a hundred that came first don’t keep the first of another project waiting', () => {
  const line = [...Array.from({ length: 100 }, (_, i) => waiter(i + 1, 'greedy', 0)), waiter(101, 'modest', 10 * DAY)]
  const used = { greedy: { used: 500 * HOUR, servedAt: 10 * DAY }, modest: { used: 10 * HOUR, servedAt: 9 * DAY } }
  assert.equal(inServingOrder(line, standings(used), FAIR)[0]!.id, 101)
})

const aProject = fc.constantFrom('a', 'b', 'c')
const someStandings = fc.dictionary(
  aProject,
  fc.record({
    priority: fc.integer({ min: -limits.priorityMax, max: limits.priorityMax }),
    share: fc.integer({ min: 1, max: limits.shareMax }),
    used: fc.integer({ min: 0, max: 1_000 * HOUR }),
    servedAt: fc.option(fc.integer({ min: 0, max: 40 * DAY })),
  }),
)
const aLine = fc
  .array(fc.tuple(aProject, fc.integer({ min: 0, max: 40 * DAY })), { maxLength: 12 })
  .map(list => list.map(([project, since], i) => waiter(i + 1, project, since)))
const someRules = fc.constantFrom(FIFO, FAIR)

test('all agree on the order, however they read the rows; and each project is served by age', () => {
  fc.assert(
    fc.property(aLine, someStandings, someRules, fc.integer(), (line, of, rules, turn) => {
      const known = standings(of)
      const inOrder = inServingOrder(line, known, rules)
      const turned = line.toSorted((a, b) => ((a.id * turn) % 7) - ((b.id * turn) % 7))
      assert.deepEqual(inServingOrder(turned, new Map([...known].toReversed()), rules), inOrder)
      for (const some of Map.groupBy(inOrder, ({ project }) => project).values()) {
        assert.deepEqual(
          some.toSorted((a, b) => a.since - b.since || a.id - b.id),
          some,
        )
      }
    }),
  )
})

test('nobody is passed by one that came later than the head start', () => {
  fc.assert(
    fc.property(aLine, someStandings, (line, of) => {
      const known = standings(of)
      const levels = (one: Waiter) => (known.get(one.project) ?? UNKNOWN).priority
      const inOrder = inServingOrder(line, known, FIFO)
      for (const [i, first] of inOrder.entries()) {
        for (const later of inOrder.slice(i + 1)) {
          assert.ok(first.since - later.since <= (levels(first) - levels(later)) * DAY)
        }
      }
    }),
  )
})

test('in the fair order a project that waits in vain for long enough is before all others', () => {
  fc.assert(
    fc.property(aLine, someStandings, (line, of) => {
      const known = standings({ ...of, starved: { priority: -limits.priorityMax, used: 1_000 * HOUR, share: 1 } })
      // The head start of all others, and how long its share would take to give it what it had.
      const used = [...known.values()].reduce((sum, standing) => sum + standing.used, 0)
      const shares = 1 + 3 * limits.shareMax
      const nodes = Math.max(1, (used * Math.LN2) / FAIR.halfLifeMs)
      const bound = 2 * limits.priorityMax * DAY + (1_000 * HOUR * shares) / nodes
      const starved = waiter(99, 'starved', -bound - 1)
      assert.equal(inServingOrder([...line, starved], known, FAIR)[0], starved)
    }),
  )
})
