import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failing, filtersIn, globOf, matcherOf, toggled } from './filter.ts'
import { machine } from './fixture.ts'

const NOW = Date.parse('2026-11-15T17:12:00Z')
const TRAITS = ['CUSTOM_A100', 'CUSTOM_NVLINK', 'HW_NIC_SRIOV']
const context = {
  now: NOW,
  traits: TRAITS,
  instantIn: (text: string) => (text === 'fri 19:00' ? NOW + 3_600_000 : null),
}
const matches = (query: Record<string, string>, changes: Parameters<typeof machine>[0]) =>
  failing(matcherOf(filtersIn(query), context), machine(changes)).length === 0
const at = (hours: number) => new Date(NOW + hours * 3_600_000).toISOString()

test('a star stands for anything, and letters may be large or small', () => {
  assert.ok(globOf('gpu-*')('gpu-a100'))
  assert.ok(globOf('GPU-?100')('gpu-a100'))
  assert.ok(!globOf('gpu-*')('cpu-gpu-x'))
  assert.ok(!globOf('a.c')('abc'))
  assert.ok(globOf('a(b')('a(b'))
})

test('many stars take no longer than few, so that no address can hold up the page', () => {
  const long = 'a'.repeat(255)
  assert.ok(!globOf(`${'*a'.repeat(40)}*b`)(long))
  assert.ok(globOf(`${'*a'.repeat(40)}?*`)(long))
  assert.ok(globOf('*')('') && globOf('**a')('a') && !globOf('?')('') && !globOf('a*a')('a'))
})

test('several classes: one of them is enough', () => {
  assert.ok(matches({ class: 'cpu-large, gpu-*' }, { class: 'gpu-h100' }))
  assert.ok(!matches({ class: 'cpu-large' }, { class: 'gpu-h100' }))
})

test('none finds machines without a class', () => {
  assert.ok(matches({ class: 'none' }, { class: null }))
  assert.ok(!matches({ class: 'none' }, { class: 'gpu-a100' }))
})

test('several traits: all of them are wanted, with or without CUSTOM_', () => {
  assert.ok(matches({ trait: 'NVLINK,CUSTOM_A100' }, { traits: [0, 1] }))
  assert.ok(!matches({ trait: 'NVLINK,HW_NIC_SRIOV' }, { traits: [0, 1] }))
  assert.ok(!matches({ trait: 'NO_SUCH' }, { traits: [0, 1, 2] }))
})

test('a rack is also found by the end of its name', () => {
  assert.ok(matches({ rack: 'a01' }, { rack: 'rack-a01' }))
  assert.ok(matches({ rack: 'b*,rack-a*' }, { rack: 'rack-a01' }))
  assert.ok(!matches({ rack: '01' }, { rack: 'rack-a01' }))
})

test('until: before, after, by a wall clock, and without an end', () => {
  assert.ok(matches({ until: '<2h' }, { until: at(1), kind: 'allocation' }))
  assert.ok(!matches({ until: '<2h' }, { until: at(3), kind: 'allocation' }))
  assert.ok(!matches({ until: '<2h' }, {}))
  assert.ok(matches({ until: '>1d' }, { until: at(30) }))
  assert.ok(matches({ until: '<fri 19:00' }, { until: at(0.5) }))
  assert.ok(matches({ until: 'none' }, { kind: 'instance' }))
  assert.ok(!matches({ until: 'none' }, {}))
})

test('an end that nobody understands matches nothing, and is told', () => {
  const matcher = matcherOf(filtersIn({ until: '<soon' }), context)
  assert.deepEqual(matcher.wrong, ['until'])
  assert.deepEqual(failing(matcher, machine({ until: at(1) })), ['until'])
})

test('project: who has, owns or leases it', () => {
  assert.ok(matches({ project: 'nlp' }, { project: 'nlp', owner: 'ops' }))
  assert.ok(matches({ project: 'ops' }, { project: 'nlp', owner: 'ops' }))
  assert.ok(matches({ project: 'nlp' }, { lessee: 'nlp' }))
  assert.ok(!matches({ project: 'vision' }, { project: 'nlp', owner: 'ops' }))
})

test('who: a name, or oneself', () => {
  assert.ok(matches({ who: 'bob' }, { who: 'bob' }))
  assert.ok(matches({ who: 'me' }, { who: 'carol', mine: true }))
  assert.ok(!matches({ who: 'me' }, { who: 'bob' }))
})

test('text: all its words, in names, notes, errors, persons, traits and addresses', () => {
  const found = { name: 'n1', note: 'Fan is loud', who: 'bob', addresses: ['52:54:00:aa:bb:01'] }
  assert.ok(matches({ q: 'fan BOB' }, found))
  assert.ok(matches({ q: '54:00:AA' }, found))
  assert.ok(!matches({ q: 'fan alice' }, found))
})

test('the filters that a machine fails', () => {
  const matcher = matcherOf(filtersIn({ class: 'gpu-h100', state: 'free', rack: 'b05' }), context)
  assert.deepEqual(failing(matcher, machine({ class: 'gpu-h100', rack: 'rack-b05' })), [])
  assert.deepEqual(failing(matcher, machine({ class: 'gpu-h100', rack: 'rack-a02' })), ['rack'])
  assert.deepEqual(failing(matcher, machine({ state: 'taken' })), ['class', 'state'])
})

test('a value is added, and taken away', () => {
  assert.equal(toggled('', 'free'), 'free')
  assert.equal(toggled('free', 'held'), 'free,held')
  assert.equal(toggled('free, held', 'free'), 'held')
})
