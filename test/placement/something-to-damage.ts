// For tests of bad requests: something that they could damage, and a fingerprint that shows it.
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import type { Answer } from '../support/client.ts'
import { consumerBody, expectStatus, type Placement } from '../support/placement.ts'
import type { Known } from './bad-requests.ts'

export const known: Known = { provider: randomUUID(), consumer: randomUUID() }

/** One provider with an inventory and a claim on it, so that there is something to damage. */
export async function arrange(api: Placement): Promise<void> {
  const { provider, consumer } = known
  expectStatus(await api.post('/resource_providers', { name: 'known', uuid: provider }), 200, 409)
  const path = `/resource_providers/${provider}`
  if ((await api.usages(provider))['VCPU'] === undefined) {
    expectStatus(await api.post(`${path}/inventories`, { resource_class: 'VCPU', total: 100 }), 201)
  }
  const { consumer_generation: _, consumer_type: __, ...body } = consumerBody({ [provider]: { VCPU: 1 } })
  await api.put(`/allocations/${consumer}`, body, { version: '1.12' })
}

const SHOWN = [
  '/resource_providers',
  '/resource_classes',
  '/traits',
  '/usages?project_id=a-project',
  `/allocations/${known.consumer}`,
  ...['', '/inventories', '/usages', '/aggregates', '/traits', '/allocations'].map(
    what => `/resource_providers/${known.provider}${what}`,
  ),
]

/** A fingerprint of all that the API shows. */
export async function stateOf(api: Placement): Promise<string> {
  const answers = await Promise.all(SHOWN.map(path => api.get(path)))
  for (const answer of answers) expectStatus(answer, 200)
  return createHash('sha256')
    .update(JSON.stringify(answers.map(({ body }) => body as unknown)))
    .digest('hex')
}

export function expectRefusal({ status, headers, body }: Answer, method = 'GET'): void {
  assert.ok(status >= 400 && status < 500, `${status}: ${JSON.stringify(body)?.slice(0, 500)}`)
  if (method === 'HEAD') return
  const type = headers['content-type']
  // Those who will have no JSON get their refusal as they like it.
  if (type?.startsWith('text/')) return assert.match(String(body), new RegExp(`${status}`))
  assert.equal(type, 'application/json')
  const [error] = body.errors
  assert.equal(error.status, status)
  for (const member of ['title', 'detail', 'request_id']) assert.equal(typeof error[member], 'string', member)
}
