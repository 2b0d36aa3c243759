// When machines are asked for their power, by whom, and what follows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../../shared/limits.ts'
import { changeBy, hasTurn, isWatched, lookerOf, POWER_FAULT, turnOf } from './plan.ts'

const PERIOD = 60_000
const ids = Array.from({ length: 1_000 }, (_, i) => i + 1)

test('each node has one turn in a period, however the time is cut', () => {
  for (const step of [1, 7, 250, 999, 30_000]) {
    const turns = new Map(ids.slice(0, 50).map(id => [id, 0]))
    const start = 123_456.7
    let at = start
    while (at < start + 3 * PERIOD) {
      const to = Math.min(at + step, start + 3 * PERIOD)
      for (const [id, count] of turns) if (hasTurn(turnOf(id, PERIOD), at, to, PERIOD)) turns.set(id, count + 1)
      at = to
    }
    assert.deepEqual([...new Set(turns.values())], [3], `steps of ${step}`)
  }
})

test('after a long sleep all have a turn', () => {
  assert.ok(ids.every(id => hasTurn(turnOf(id, PERIOD), 0, PERIOD, PERIOD)))
})

test('turns are spread evenly', () => {
  const seconds = Map.groupBy(ids, id => Math.floor(turnOf(id, PERIOD) / 1_000))
  assert.equal(seconds.size, 60)
  assert.ok([...seconds.values()].every(({ length }) => length >= 15 && length <= 19))
})

test('conductors share the nodes evenly, and when one goes the others keep theirs', () => {
  const all = ['a', 'b', 'c', 'd']
  const before = new Map(ids.map(id => [id, lookerOf(id, all)]))
  for (const name of all) {
    const count = ids.filter(id => before.get(id) === name).length
    assert.ok(count > 180 && count < 320, `${name} has ${count}`)
  }
  const left = all.filter(name => name !== 'c')
  for (const id of ids) {
    const now = lookerOf(id, left.toReversed())
    if (before.get(id) === 'c') assert.ok(left.includes(now!))
    else assert.equal(now, before.get(id))
  }
  assert.equal(lookerOf(1, []), null)
})

const quiet = {
  provision_state: 'available',
  transition: null,
  lock_incarnation: null,
  maintenance: 0,
  fault: null,
} as const

test('nodes at work, in the hands of people, or never reached are left alone', () => {
  assert.ok(isWatched(quiet))
  assert.ok(isWatched({ ...quiet, provision_state: 'active' }))
  assert.ok(isWatched({ ...quiet, maintenance: 1, fault: POWER_FAULT }))
  assert.ok(!isWatched({ ...quiet, maintenance: 1 }))
  assert.ok(!isWatched({ ...quiet, maintenance: 1, fault: 'clean failure' }))
  assert.ok(!isWatched({ ...quiet, lock_incarnation: 'x' }))
  assert.ok(!isWatched({ ...quiet, provision_state: 'enroll' }))
  assert.ok(!isWatched({ ...quiet, provision_state: 'adopt failed' }))
})

const on = { power_state: 'power on', maintenance: 0, maintenance_reason: null, fault: null } as const
const faulty = { power_state: null, maintenance: 1, maintenance_reason: 'x', fault: POWER_FAULT } as const

test('what is so already changes nothing, and what differs is written down', () => {
  assert.equal(changeBy(on, { power: 'power on' }, 0), null)
  assert.deepEqual(changeBy(on, { power: 'power off' }, 0), { ...on, power_state: 'power off' })
  assert.deepEqual(changeBy({ ...on, power_state: null }, { power: 'power on' }, 0), on)
})

test('a machine that does not answer goes out of use at the limit, and comes back when it answers', () => {
  const max = limits.powerFailuresMax
  for (let failures = 1; failures < max; failures++) assert.equal(changeBy(on, { failure: 'x' }, failures), null)
  assert.deepEqual(changeBy(on, { failure: 'no route' }, max), {
    power_state: null,
    maintenance: 1,
    maintenance_reason: `The power could not be read ${max} times in a row: no route`,
    fault: POWER_FAULT,
  })
  assert.equal(changeBy(faulty, { failure: 'still away' }, max + 1), null)
  assert.deepEqual(changeBy(faulty, { power: 'power on' }, 0), on)
})
