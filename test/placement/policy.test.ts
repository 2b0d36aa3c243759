// Who may do what, under each of the three policies.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachStore } from '../support/stores.ts'

const READ = ['GET', '/resource_providers'] as const
const WRITE = ['PUT', '/traits/CUSTOM_POLICY'] as const
const RESHAPE = ['POST', '/reshaper'] as const
const USAGES = ['GET', '/usages?project_id=mine'] as const

/** Callers, named after the one role that they have. */
const CALLERS = ['admin', 'service', 'reader', 'nobody'] as const
type Role = (typeof CALLERS)[number]

/** Who gets past the policy, for each request. */
const POLICIES = {
  secure: [
    [READ, ['admin', 'service']],
    [WRITE, ['admin', 'service']],
    [RESHAPE, ['service']],
    [USAGES, ['admin', 'service', 'reader']],
  ],
  legacy: [
    [READ, ['admin']],
    [WRITE, ['admin']],
    [RESHAPE, ['admin']],
    [USAGES, ['admin']],
  ],
  open: [
    [READ, CALLERS],
    [WRITE, CALLERS],
    [RESHAPE, CALLERS],
    [USAGES, CALLERS],
  ],
} as const

for (const policy of ['secure', 'legacy', 'open'] as const) {
  eachStore(
    `the ${policy} policy`,
    api => {
      for (const [[method, path], allowed] of POLICIES[policy]) {
        test(`lets ${allowed.join(', ')} do ${method} ${path}`, async () => {
          for (const who of CALLERS) {
            const headers = { 'x-roles': who, 'x-project-id': 'mine' }
            const { status } = await api.request(method, path, method === 'POST' ? {} : undefined, {
              token: who,
              headers,
            })
            assert.equal(status !== 403, (allowed as readonly Role[]).includes(who), `${who}: ${status}`)
            assert.notEqual(status, 401)
          }
        })
      }

      if (policy !== 'open') {
        test('lets nobody in with a token for the whole system', async () => {
          const headers = { 'openstack-system-scope': 'all', 'x-roles': 'admin' }
          assert.equal((await api.get('/resource_providers', { headers })).status, 403)
        })
      }
    },
    { placementPolicy: policy },
  )
}

eachStore(
  'no authentication',
  api => {
    test('lets everyone do everything without a token', async () => {
      for (const [method, path] of [READ, WRITE]) {
        assert.ok((await api.request(method, path, undefined, { token: null })).status < 300)
      }
    })
  },
  { auth: 'none', placementPolicy: 'secure' },
)
