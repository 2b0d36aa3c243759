// Every field that takes a text or a document is filled to its limit and listed: whatever rows hold, a list is an answer
// in pieces, and what doesn't fit is refused in words.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { BULK, routes } from '../../src/api/baremetal/routes.ts'
import { largeAnswers } from '../../src/http/pieces.ts'
import { limits } from '../../src/shared/limits.ts'
import { eachMetal, uuid } from '../support/baremetal.ts'
import { Client } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { rounds } from '../support/rounds.ts'

interface Schema {
  type?: string
  maxLength?: number
  maxItems?: number
  pattern?: string
  format?: string
  enum?: unknown[]
  items?: Schema
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  additionalProperties?: unknown
}

/** A text that is longer in UTF-8 and in JSON than it is in characters. */
const textOf = (length: number) => 'é"€x\\'.repeat(Math.ceil(length / 5)).slice(0, length)

/** A document of so many bytes as JSON. */
function documentOf(bytes: number): object {
  const unit = 'é"'
  const count = Math.floor((bytes - '{"text":""}'.length) / (JSON.stringify(unit).length - 1))
  return { text: unit.repeat(count) }
}

const isDocument = ({ type, properties, additionalProperties }: Schema) =>
  type === 'object' && additionalProperties === true && Object.keys(properties ?? {}).length === 0

/** The largest value that the schema allows; undefined if its size can't vary. */
function largestOf(schema: Schema, bodyBytes: number): unknown {
  for (const one of schema.anyOf ?? [schema]) {
    if (isDocument(one)) return documentOf(Math.min(limits.nodeJsonBytesMax, bodyBytes / 2) - 1_024)
    if (one.type === 'string' && one.maxLength !== undefined && !one.pattern && !one.enum) return textOf(one.maxLength)
    if (one.type === 'array' && one.maxItems !== undefined && one.items?.type === 'string') {
      const words = Math.min(one.maxItems, Math.floor(bodyBytes / 300))
      return Array.from({ length: words }, (_, i) => `CUSTOM_${i}_`.padEnd(255, 'X'))
    }
  }
  return undefined
}

interface Collection {
  path: string
  fields: Record<string, Schema>
  bodyBytes: number
}

const collections: Collection[] = Object.entries(routes).flatMap(([path, { GET, POST }]) => {
  const schema: Schema | undefined = POST?.handle.operation.body?.[0]?.schema
  if (!GET || !schema?.properties || path.includes(':')) return []
  return [
    { path, fields: schema.properties, bodyBytes: BULK.has(path) ? limits.bulkBodyBytesMax : limits.bodyBytesMax },
  ]
})

let made = 0
const mac = () =>
  (++made)
    .toString(16)
    .padStart(12, '0')
    .replaceAll(/(..)(?!$)/g, '$1:')

eachMetal('fields filled to their limits', api => {
  let node = ''
  before(async () => {
    node = await api.node()
    await api.put(`/v1/nodes/${node}/states/power`, { target: 'power off' })
  })

  /** The least that a new one of each collection needs. */
  const least: Record<string, () => Promise<object> | object> = {
    '/nodes': () => ({ driver: 'fake-hardware' }),
    '/ports': () => ({ node_uuid: node, address: mac() }),
    '/portgroups': () => ({ node_uuid: node }),
    '/chassis': () => ({}),
    '/allocations': () => ({ resource_class: 'nobody-has' }),
    '/reservations': async () => ({ instance_uuid: uuid(), node_uuid: [await api.node({}, 'available')] }),
    '/volume/connectors': () => ({ node_uuid: node, type: 'iqn', connector_id: `iqn.${++made}` }),
    '/volume/targets': () => ({ node_uuid: node, volume_type: 'iscsi', volume_id: `${++made}`, boot_index: made }),
    '/deploy_templates': () => ({
      name: `CUSTOM_${++made}`,
      steps: [{ interface: 'bios', step: 'apply', args: {}, priority: 10 }],
    }),
  }

  /** Lists and shows while the turns of others are watched. */
  async function listed(path: string): Promise<{ uuid: string }[]> {
    let [most, last, isOver] = [0, largeAnswers.made, false]
    const watch = () => {
      most = Math.max(most, largeAnswers.made - last)
      last = largeAnswers.made
      if (!isOver) setImmediate(watch)
    }
    watch()
    const rows: { uuid: string }[] = []
    for (let next = path; next;) {
      const { body } = expectStatus(await api.get(next), 200)
      const [page] = Object.values(body).filter(Array.isArray) as [{ uuid: string }[]]
      assert.ok(page.length > 0)
      rows.push(...page)
      next = body.next?.slice(body.next.indexOf('/v1/')) ?? ''
    }
    isOver = true
    const row = limits.bulkBodyBytesMax
    assert.ok(most <= 2 * limits.answerPieceBytes + row, `${path}: ${most} bytes in one turn`)
    return rows
  }

  for (const { path, fields, bodyBytes } of collections) {
    void test(`POST /v1${path}`, async () => {
      const stored: string[] = []
      for (const [name, schema] of Object.entries(fields)) {
        const value = largestOf(schema, bodyBytes)
        if (value === undefined) continue
        for (let i = 0; i < rounds(1, 12); i++) {
          const answer = await api.post(`/v1${path}`, { ...(await least[path]!()), [name]: value })
          assert.ok(answer.status < 500, `${name}: ${answer.status}`)
          if (answer.status >= 400) assert.match(JSON.stringify(answer.body), /[a-z]{3} [a-z]/i, name)
          else stored.push(answer.body.uuid ?? answer.body.reservation.uuid)
        }
      }
      const few = path === '/reservations' || stored.length > 0
      assert.ok(few, 'nothing was taken')
      if (stored.length === 0) return
      const detail = api.get(`/v1${path}?detail=True`)
      const rows = await listed((await detail).status === 200 ? `/v1${path}?detail=True` : `/v1${path}`)
      const found = new Set(rows.map(row => row.uuid))
      for (const one of stored) assert.ok(found.has(one), `${one} is not listed`)
      expectStatus(await api.get(`/v1${path}/${stored[0]}`), 200)
    })
  }

  void test('metadata of servers', async () => {
    const compute = new Client('/compute', ...api.origins)
    const options = { version: null, headers: { 'openstack-api-version': 'compute 2.38' } }
    const flavor = { name: 'full', vcpus: 1, ram: 1, disk: 1 }
    const { id } = expectStatus(await compute.post('/v2.1/flavors', { flavor }, options), 200).body.flavor
    const key = (i: number) => `${i}`.padEnd(255, 'k')
    const metadata = Object.fromEntries(
      Array.from({ length: limits.metadataPerServerMax }, (_, i) => [key(i), '€'.repeat(255)]),
    )
    const server = { name: 'x', flavorRef: id, imageRef: '', networks: 'none', metadata, min_count: rounds(2, 60) }
    expectStatus(await compute.post('/v2.1/servers', { server }, options), 202)
    const { servers } = expectStatus(await compute.get('/v2.1/servers/detail', options), 200).body
    assert.ok(servers.length > 0)
    for (const one of servers) assert.deepEqual(one.metadata, metadata)
    compute.close()
  })
})
