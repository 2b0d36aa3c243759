import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from './caller.ts'
import { Policy, RULES } from './policy.ts'

const caller = (roles: string, project: string | null = 'mine', systemScope = false): Caller => ({
  user: 'me',
  project,
  roles: new Set(roles.split(',')),
  systemScope,
})
const allows = (rule: string, who: Caller, target = {}) => new Policy({ act: rule }).allows('act', who, target)

void test('admin is also member and reader, member is also reader, and service is none of them', () => {
  for (const [role, rules] of [
    ['admin', ['admin', 'member', 'reader']],
    ['member', ['member', 'reader']],
    ['reader', ['reader']],
    ['service', ['service']],
    ['stranger', []],
  ] as const) {
    const held = ['admin', 'member', 'reader', 'service'].filter(rule => allows(rule, caller(role)))
    assert.deepEqual(held, rules, role)
  }
})

void test('a role in another project, or no project at all, is not a role in the target’s', () => {
  for (const [rule, name] of [
    ['project reader', 'project'],
    ['owner member', 'owner'],
    ['lessee member', 'lessee'],
  ] as const) {
    assert.ok(allows(rule, caller('member'), { [name]: 'mine' }))
    assert.ok(!allows(rule, caller('member'), { [name]: 'theirs' }))
    assert.ok(!allows(rule, caller('member'), { [name]: null }))
    assert.ok(!allows(rule, caller('member'), {}))
    assert.ok(!allows(rule, caller('member', null), { [name]: null }))
  }
})

void test('a rule may name several rules, and one of them is enough', () => {
  assert.ok(allows('nobody or owner reader or admin', caller('admin')))
  assert.ok(allows('nobody or owner reader or admin', caller('reader'), { owner: 'mine' }))
  assert.ok(!allows('nobody or owner reader or admin', caller('reader')))
})

void test('a token for the whole system differs from one for a project', () => {
  const system = caller('admin', null, true)
  assert.deepEqual(
    ['admin', 'scoped admin', 'system reader'].map(rule => allows(rule, system)),
    [true, false, true],
  )
  assert.deepEqual(
    ['admin', 'scoped admin', 'system reader'].map(rule => allows(rule, caller('admin'))),
    [true, true, false],
  )
})

void test('an override replaces the rule of an action, and the error for an invalid one names it', () => {
  const policy = new Policy({ look: 'admin', touch: 'admin' }, { look: 'everyone' })
  assert.ok(policy.allows('look', caller('')))
  assert.ok(!policy.allows('touch', caller('')))
  assert.throws(() => new Policy({ look: 'admin' }, { lok: 'everyone' }), /no action 'lok'/)
  assert.throws(() => new Policy({ look: 'admin' }, { look: 'admin or emperor' }), /look: there is no rule 'emperor'/)
  assert.throws(() => new Policy({ look: 'admin' }, { look: ['admin'] }), /look must be a text/)
})

void test('every rule says what it means', () => {
  for (const [name, { says }] of Object.entries(RULES)) assert.ok(says.length > 0, name)
})
