import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problem } from '../../problems/problem.ts'
import { postCredential } from './application-credentials.ts'
import type { IdentityRequest } from './request.ts'

test('a credential that will be refused costs no hash', async () => {
  let hashes = 0
  const refusing = () => Promise.reject(problem('identity_exists', { reason: 'taken' }))
  const request = {
    context: {
      config: { auth: 'password' },
      clock: { newUuid: () => 'an-id', newSecret: (bytes: number) => Buffer.alloc(bytes) },
      store: { read: refusing, write: refusing },
    },
    issuer: { passwords: { hash: async () => `hash ${++hashes}` } },
    caller: { user: 'ann' },
    now: 0,
    param: () => 'ann',
    callersToken: async () => ({
      project: { name: 'lab' },
      user: { id: 'ann', name: 'ann' },
      roles: new Set(),
      facts: {},
    }),
    object: () => ({ name: 'taken' }),
  }
  await assert.rejects(postCredential(request as unknown as IdentityRequest), /taken/)
  assert.equal(hashes, 0)
})
