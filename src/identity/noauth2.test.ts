import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callerFromNoauth2 } from './noauth2.ts'

const rolesOf = (headers: Record<string, string>) => [...callerFromNoauth2(headers)!.roles]

test('a caller is kept, and a header that is missing is not the word for it', () => {
  const admin = { 'x-auth-token': 'admin' }
  assert.deepEqual(rolesOf(admin), ['admin'])
  assert.equal(callerFromNoauth2(admin), callerFromNoauth2({ ...admin }))
  assert.deepEqual(rolesOf({ ...admin, 'x-roles': 'undefined' }), ['undefined'])
  assert.deepEqual(rolesOf({ ...admin, 'x-roles': 'null' }), ['null'])
  assert.deepEqual(rolesOf({ ...admin, 'x-roles': 'reader, member' }), ['reader', 'member'])
})

test('scope and project are part of who calls', () => {
  const user = { 'x-auth-token': 'anna:lab' }
  assert.equal(callerFromNoauth2(user)!.project, 'lab')
  assert.equal(callerFromNoauth2({ ...user, 'x-project-id': 'other' })!.project, 'other')
  assert.equal(callerFromNoauth2({ ...user, 'openstack-system-scope': 'all' })!.project, null)
  assert.equal(callerFromNoauth2({}), null)
})
