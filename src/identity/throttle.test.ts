import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../shared/limits.ts'
import type { Problem } from '../problems/problem.ts'
import { Throttle } from './throttle.ts'

const isRefused = (work: () => void): number | null => {
  try {
    work()
    return null
  } catch (error) {
    assert.equal((error as Problem).kind, 'too_many_attempts')
    return ((error as Problem).facts as { retrySeconds: number }).retrySeconds
  }
}
const create = () => {
  const clock = { now: 0 }
  return { clock, throttle: new Throttle(() => clock.now) }
}

test('an address has a few attempts for a user, then none until the span is over', () => {
  const { clock, throttle } = create()
  for (let i = 0; i < limits.attemptsPerUserMax; i++) throttle.begin('ann', '::1')
  clock.now = 20_000
  assert.equal(
    isRefused(() => throttle.begin('ann', '::1')),
    (limits.attemptsSpanMs - 20_000) / 1_000,
  )
  assert.equal(
    isRefused(() => throttle.begin('ben', '::1')),
    null,
    'others there go on',
  )
  assert.equal(
    isRefused(() => throttle.begin('ann', '2001:db8::2')),
    null,
    'and so does she from elsewhere',
  )
  clock.now = limits.attemptsSpanMs
  assert.equal(
    isRefused(() => throttle.begin('ann', '::1')),
    null,
  )
})

test('success takes the attempts back', () => {
  const { throttle } = create()
  for (let i = 0; i < 10 * limits.attemptsPerUserMax; i++) {
    throttle.begin('ann', '::1')
    throttle.succeeded('ann', '::1')
  }
  for (let i = 0; i < limits.attemptsPerUserMax; i++) throttle.begin('ann', '::1')
  assert.notEqual(
    isRefused(() => throttle.begin('ann', '::1')),
    null,
  )
})

test('an address may try a limited number of names; a user who logged in from there before is not affected', () => {
  const { throttle } = create()
  throttle.begin('ann', '::1')
  throttle.succeeded('ann', '::1')
  for (let i = 0; i < limits.attemptsPerAddressMax; i++) throttle.begin(`guess-${i}`, '::1')
  assert.notEqual(
    isRefused(() => throttle.begin('one more', '::1')),
    null,
  )
  assert.equal(
    isRefused(() => throttle.begin('ann', '::1')),
    null,
  )
  assert.equal(
    isRefused(() => throttle.begin('one more', '2001:db8::2')),
    null,
  )
})

test('an attempt that was never checked doesn’t count', () => {
  const { throttle } = create()
  for (let i = 0; i < 1_000; i++) {
    throttle.begin('ann', '::1')
    throttle.withdrawn('ann', '::1')
  }
  assert.equal(
    isRefused(() => throttle.begin('ann', '::1')),
    null,
  )
})

test('all IPv6 addresses of a /64 network count as one', () => {
  const { throttle } = create()
  const addressOf = (i: number) => `2001:db8:0:7::${i.toString(16)}:1`
  for (let i = 0; i < limits.attemptsPerUserMax; i++) throttle.begin('ann', addressOf(i))
  assert.notEqual(
    isRefused(() => throttle.begin('ann', '2001:DB8::7:1:2:3:4')),
    null,
  )
  assert.equal(
    isRefused(() => throttle.begin('ann', '2001:db8:0:8::1')),
    null,
    'the next network is another',
  )
})

test('an IPv4 address counts as one, also when it is mapped into IPv6', () => {
  const { throttle } = create()
  for (let i = 0; i < limits.attemptsPerUserMax; i++) throttle.begin('ann', '::ffff:192.0.2.1')
  assert.notEqual(
    isRefused(() => throttle.begin('ann', '192.0.2.1')),
    null,
  )
  assert.equal(
    isRefused(() => throttle.begin('ann', '::ffff:192.0.2.2')),
    null,
  )
})
