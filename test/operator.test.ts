// For those who run the service: health, readiness, metrics, the ledger's check, and pages from elsewhere.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { expectStatus } from './support/placement.ts'
import { eachStore } from './support/stores.ts'

const ORIGIN = 'http://dashboard.example'

eachStore(
  'operations',
  api => {
    const ask = (path: string, token?: string) =>
      fetch(api.origin + path, { headers: token ? { 'x-auth-token': token } : {} })
    const json = async (path: string) => (await ask(path, 'admin')).json() as Promise<Record<string, unknown>>

    test('healthz says that it is alive and readyz that the database is there', async () => {
      assert.deepEqual(await json('/healthz'), { status: 'alive' })
      assert.deepEqual(await json('/readyz'), { status: 'ready' })
    })

    test('metrics count requests by route and status, claims by outcome, and commits', async () => {
      const provider = await api.provider({ VCPU: 1 })
      expectStatus(await api.claim(randomUUID(), { [provider]: { VCPU: 1 } }), 204)
      expectStatus(await api.claim(randomUUID(), { [provider]: { VCPU: 1 } }), 409)
      const text = await (await fetch(`${api.origin}/metrics`)).text()
      for (const line of [
        /^holdfast_http_request_seconds_count\{method="PUT",route="\/placement\/allocations\/:consumer_uuid",status="204"\} 1$/m,
        /^holdfast_claims_total\{outcome="granted"\} 1$/m,
        /^holdfast_claims_total\{outcome="refused"\} 1$/m,
        /^holdfast_store_commit_transactions_count [1-9]/m,
      ]) {
        assert.match(text, line)
      }
    })

    test('fsck names every invariant with its violations', async () => {
      const { violations, invariants } = await json('/holdfast/v1/fsck')
      assert.equal(violations, 0)
      assert.ok(
        (invariants as { invariant: string }[]).some(({ invariant }) => invariant.includes('sum of its claims')),
      )
    })

    test('fsck is for admins', async () => {
      assert.equal((await ask('/holdfast/v1/fsck')).status, 401)
      assert.equal((await ask('/holdfast/v1/fsck', 'bob')).status, 403)
    })

    test('a path that nobody serves is 404 in one form', async () => {
      const response = await fetch(`${api.origin}/nothing`)
      assert.equal(response.status, 404)
      const { error } = (await response.json()) as { error: Record<string, string> }
      assert.equal(error['request_id'], response.headers.get('x-openstack-request-id'))
    })

    test('pages of the configured origin may call the APIs, others may not', async () => {
      const allowed = async (origin: string) =>
        (await api.get('/', { headers: { origin } })).headers['access-control-allow-origin']
      assert.equal(await allowed(ORIGIN), ORIGIN)
      assert.notEqual(await allowed('http://elsewhere.example'), 'http://elsewhere.example')
    })
  },
  { corsOrigin: ORIGIN },
)
