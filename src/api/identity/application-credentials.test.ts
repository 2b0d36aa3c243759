import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problem } from '../../problems/problem.ts'
import { postCredential } from './application-credentials.ts'
import type { IdentityRequest } from './request.ts'

test('no secret is hashed for a credential that is refused', async () => {
  let hashes = 0
  const refusing = () => Promise.reject(problem('identity_exists', { reason: 'taken' }))
  const token = { project: { name: 'lab' }, user: { id: 'ann', name: 'ann' }, roles: new Set(), facts: {} }
  const request = {
    context: {
      config: { auth: 'password' },
      clock: { newUuid: () => 'an-id', newSecret: (bytes: number) => Buffer.alloc(bytes) },
      store: { read: refusing, write: refusing },
      identity: {
        issuer: { passwords: { hash: async () => `hash ${++hashes}` }, tokens: { check: async () => token } },
      },
    },
    route: { handle: postCredential },
    raw: { body: Buffer.from('{"application_credential":{"name":"taken"}}') },
    caller: { user: 'ann' },
    now: 0,
    param: () => 'ann',
    header: () => 'a token',
  }
  await assert.rejects(postCredential(request as unknown as IdentityRequest), /taken/)
  assert.equal(hashes, 0)
})
