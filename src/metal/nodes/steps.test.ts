// How wanted steps are put together and in order.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InterfaceName } from '../drivers/port.ts'
import { cleanStepsIn, deployStepsIn, mergedSteps } from './steps.ts'

const step = (name: InterfaceName, what: string, priority: number, args = {}) => ({
  interface: name,
  step: what,
  args,
  priority,
})
const words = (steps: readonly { interface: string; step: string }[]) =>
  steps.map(one => `${one.interface}.${one.step}`)

void test('the highest priority comes first, and equal ones by interface', () => {
  const templates = [step('raid', 'a', 5), step('bios', 'b', 5), step('deploy', 'c', 1)]
  assert.deepEqual(words(mergedSteps(templates, [step('power', 'd', 9)])), ['power.d', 'bios.b', 'raid.a', 'deploy.c'])
})

void test('the request replaces what templates say of a step, and 0 switches it off', () => {
  const templates = [step('raid', 'a', 5), step('bios', 'b', 5, { x: 1 })]
  const merged = mergedSteps(templates, [step('raid', 'a', 0), step('bios', 'b', 7, { x: 2 })])
  assert.deepEqual(merged, [step('bios', 'b', 7, { x: 2 })])
})

void test('two templates may want the same step with other arguments', () => {
  const twice = [step('bios', 'b', 5, { x: 1 }), step('bios', 'b', 5, { x: 2 })]
  assert.deepEqual(mergedSteps(twice, []), twice)
})

void test('a priority may be written as text, and arguments may be left out', () => {
  assert.deepEqual(deployStepsIn([{ interface: 'bios', step: 'b', priority: '7' }], 'steps'), [step('bios', 'b', 7)])
})

void test('clean steps keep their order, and may be repeated', () => {
  const twice = [
    { interface: 'raid', step: 'a' },
    { interface: 'bios', step: 'b' },
    { interface: 'raid', step: 'a' },
  ]
  assert.deepEqual(words(cleanStepsIn(twice, 'clean_steps')), ['raid.a', 'bios.b', 'raid.a'])
  assert.throws(() => cleanStepsIn([{ ...twice[0], priority: 1 }], 'clean_steps'), /without priority/)
})
