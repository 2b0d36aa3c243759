import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileDirectory } from './directory.ts'
import { idOf } from './ids.ts'
import { asIn, asThen, inMode, type Maker } from './standing.ts'

const directory = (roles: Record<string, ('admin' | 'member' | 'reader')[]>, more: object = {}) =>
  new FileDirectory({
    projects: { lab: {}, shut: { enabled: false } },
    users: { bob: { password: 'x', roles, ...more } },
  })
const maker = (more: Partial<Maker> = {}): Maker => ({
  auth: 'password',
  user: idOf('user', 'bob'),
  project: idOf('project', 'lab'),
  roles: ['member', 'reader'],
  ...more,
})
const rolesNow = (present: FileDirectory, who = maker()) => {
  const caller = asIn(() => present)(who)
  return caller && [...caller.roles].toSorted()
}

test('someone has the roles that they still have, and none more', () => {
  assert.deepEqual(rolesNow(directory({ lab: ['admin'] })), ['member', 'reader'])
  assert.deepEqual(rolesNow(directory({ lab: ['reader'] })), ['reader'])
  assert.deepEqual(rolesNow(directory({ lab: ['member'] }), maker({ roles: ['reader'] })), ['reader'])
})

test('without a role, a user or a project nobody is left', () => {
  assert.equal(rolesNow(directory({})), null)
  assert.equal(rolesNow(directory({ lab: ['member'] }, { enabled: false })), null)
  assert.equal(rolesNow(directory({ lab: ['member'] }), maker({ user: 'nobody' })), null)
  assert.equal(rolesNow(directory({ lab: ['member'] }), maker({ project: 'nowhere' })), null)
  assert.equal(rolesNow(directory({ shut: ['member'] }), maker({ project: idOf('project', 'shut') })), null)
})

test('for the whole system only admins have rights', () => {
  const ofSystem = maker({ project: null, roles: ['admin', 'member', 'reader'] })
  assert.deepEqual(rolesNow(directory({ lab: ['admin'] }), ofSystem), ['admin', 'member', 'reader'])
  assert.equal(rolesNow(directory({ lab: ['member'] }), ofSystem), null)
})

test('who was known in another way is nobody here', () => {
  assert.ok(inMode('keystone', asThen)(maker({ auth: 'keystone' })))
  assert.equal(inMode('keystone', asThen)(maker()), null)
})
