import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { countOf, type EndedUse, type Usage, usagesAt } from './fading.ts'

const HOUR = 3_600_000
const HALF_LIFE = 24 * HOUR

test('an hour counts an hour when it has just passed, and half of that a half-life later', () => {
  const fresh = countOf(0, HOUR, HOUR, HALF_LIFE)
  assert.ok(fresh > 0.98 * HOUR && fresh < HOUR)
  assert.ok(Math.abs(countOf(0, HOUR, HOUR + HALF_LIFE, HALF_LIFE) - fresh / 2) < 1)
})

test('a node that is always in use never counts more than a half-life by the logarithm of two', () => {
  const count = countOf(0, 1_000 * HALF_LIFE, 1_000 * HALF_LIFE, HALF_LIFE)
  assert.ok(Math.abs(count - HALF_LIFE / Math.LN2) < 1)
})

test('a project that has nothing, and whose use has faded, is forgotten', () => {
  const ended = [{ project_id: 'p', from_at: 0, until_at: HOUR }]
  const before = usagesAt({ before: [], ended, running: [] }, HALF_LIFE, HOUR)
  assert.equal(before.length, 1)
  assert.deepEqual(usagesAt({ before, ended: [], running: [] }, HALF_LIFE, 60 * HALF_LIFE), [])
})

const aTime = fc.integer({ min: 0, max: 200 * HOUR })
const someUses = fc
  .array(fc.tuple(fc.constantFrom('p', 'q'), aTime, aTime), { maxLength: 10 })
  .map(list =>
    list.map(([project_id, a, b]): EndedUse => ({ project_id, from_at: Math.min(a, b), until_at: Math.max(a, b) + 1 })),
  )

test('however often it is counted meanwhile, each use counts once and in full', () => {
  fc.assert(
    fc.property(someUses, fc.array(aTime, { maxLength: 6 }), (uses, between) => {
      const end = 200 * HOUR + 1
      let [usages, countedAt]: [Usage[], number] = [[], 0]
      for (const now of [...between, end].toSorted((a, b) => a - b)) {
        const ended = uses.filter(({ until_at }) => until_at > countedAt && until_at <= now)
        const running = uses.filter(({ from_at, until_at }) => from_at <= now && until_at > now)
        usages = usagesAt({ before: usages, ended, running }, HALF_LIFE, now)
        for (const { project_id, used, ended: over } of usages) {
          const own = uses.filter(use => use.project_id === project_id)
          const exact = own.reduce((sum, use) => sum + countOf(use.from_at, use.until_at, now, HALF_LIFE), 0)
          assert.ok(Math.abs(used - exact) < 20 && over <= used, `${used} is not ${exact}`)
        }
        countedAt = now
      }
    }),
  )
})
