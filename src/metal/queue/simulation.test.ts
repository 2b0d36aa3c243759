import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAIR, FIFO, LAB, shares, simulate } from '../../../scripts/queue-simulation.ts'

test('in a month of the fair order, each project that always waits has its share, and nobody waits in vain for a day', () => {
  const results = simulate({ ...LAB, rules: FAIR })
  for (const { name, due, actual } of shares(results)) {
    assert.ok(Math.abs(actual - due) < 0.05 * due, `${name} has ${actual} of ${due}`)
  }
  for (const { name, longestGapHours } of results) assert.ok(longestGapHours < 24, `${name}: ${longestGapHours} h`)
})

test('in the order of arrival the one who asks for most has most, and all are served in turn', () => {
  const results = simulate({ ...LAB, rules: FIFO })
  assert.ok(shares(results).find(({ name }) => name === 'greedy')!.actual > 0.9)
  const longest = results.map(({ longestWaitHours }) => longestWaitHours)
  // All stand in one line, so nobody waits much longer than another.
  assert.ok(Math.max(...longest) - Math.min(...longest) < 12)
})

test('however low its priority, a project is served when the head start of the others is over', () => {
  const projects = LAB.projects.map(one => ({ ...one, priority: one.name === 'modest' ? -3 : 3 }))
  const modest = simulate({ ...LAB, rules: FIFO, projects }).find(({ name }) => name === 'modest')!
  const usual = simulate({ ...LAB, rules: FIFO }).find(({ name }) => name === 'modest')!
  assert.ok(modest.served > 0)
  // Six levels are six days.
  assert.ok(modest.longestWaitHours < usual.longestWaitHours + 6 * 24 + 12)
})
