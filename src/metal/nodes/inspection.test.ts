// Inspection rules: conditions on what was found, and what they set.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyRules, type InspectionRule, wrongIn } from './inspection.ts'

const trait = (when: InspectionRule['when']): InspectionRule => ({
  ...(when && { when }),
  set: { traits: ['CUSTOM_X'] },
})
const holds = (found: Record<string, unknown>, field: string, op: string, value?: string | number | boolean) =>
  applyRules([trait([{ field, op, ...(value !== undefined && { value }) } as never])], found).traits.length === 1

void test('each condition', () => {
  const found = { cpus: 8, arch: 'x86_64', gpu: { model: 'A100', memory: 80 }, nics: ['a', 'b'] }
  assert.ok(holds(found, 'cpus', 'eq', 8) && !holds(found, 'cpus', 'eq', '8'))
  assert.ok(holds(found, 'cpus', 'ne', 4) && !holds(found, 'cpus', 'ne', 8))
  assert.ok(holds(found, 'cpus', 'gt', 7) && !holds(found, 'cpus', 'gt', 8))
  assert.ok(holds(found, 'cpus', 'ge', 8) && holds(found, 'cpus', 'le', 8) && holds(found, 'cpus', 'lt', 9))
  assert.ok(holds(found, 'gpu.model', 'matches', 'A1\\d+') && !holds(found, 'gpu.model', 'matches', 'A'))
  assert.ok(holds(found, 'nics', 'contains', 'b') && holds(found, 'arch', 'contains', '86'))
  assert.ok(holds(found, 'gpu.memory', 'present') && !holds(found, 'gpu.nothing.deeper', 'present'))
  assert.ok(!holds(found, 'constructor', 'present') && !holds(found, 'nothing', 'gt', 1))
})

void test('what is missing, blank or no scalar satisfies no comparison', () => {
  const found = { nothing: null, empty: '', blank: ' ', nested: { object: 1 }, list: [8], size: '8', ready: true }
  assert.ok(!holds(found, 'missing', 'contains', 'undef') && !holds(found, 'nothing', 'contains', 'null'))
  assert.ok(!holds(found, 'nested', 'contains', 'object'))
  assert.ok(holds(found, 'size', 'contains', 8) && holds(found, 'ready', 'contains', 'true'))
  for (const field of ['missing', 'nothing', 'empty', 'blank', 'nested', 'list']) {
    for (const op of ['lt', 'le']) assert.ok(!holds(found, field, op, 9), `${field} ${op} 9`)
    for (const op of ['gt', 'ge']) assert.ok(!holds(found, field, op, -1), `${field} ${op} -1`)
  }
  assert.ok(holds(found, 'size', 'gt', 7) && holds(found, 'size', 'le', '8'))
})

void test('all conditions of a rule must hold; the last class wins, traits add up', () => {
  const rules: InspectionRule[] = [
    { set: { resource_class: 'one', traits: ['CUSTOM_A'], properties: { a: 1 } } },
    {
      when: [
        { field: 'cpus', op: 'gt', value: 1 },
        { field: 'cpus', op: 'lt', value: 2 },
      ],
      set: { resource_class: 'never' },
    },
    { when: [{ field: 'cpus', op: 'gt', value: 1 }], set: { resource_class: 'two', traits: ['CUSTOM_B'] } },
  ]
  const expected = { resourceClass: 'two', traits: ['CUSTOM_A', 'CUSTOM_B'], properties: { a: 1 } }
  assert.deepEqual(applyRules(rules, { cpus: 4 }), expected)
  assert.deepEqual(wrongIn([{ set: { traits: ['CUSTOM_A', 'nonsense'] } }]), ['nonsense'])
  assert.deepEqual(wrongIn([trait([{ field: 'a', op: 'matches', value: '(' }])]), ['('])
})
