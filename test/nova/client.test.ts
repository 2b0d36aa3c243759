// The client of Nova: what it sends, and that no answer crashes it.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { NovaClient } from '../../src/nova/client.ts'
import { NovaAway, NovaRefusal } from '../../src/nova/port.ts'
import { inFull } from '../../src/nova/words.ts'
import { Answers, LOST } from './answers.ts'

const answers = new Answers()
let [issued, refused] = [0, 0]
const login = {
  token: () => Promise.resolve(`token-${issued}`),
  refused: () => {
    issued++
    refused++
  },
}
let nova: NovaClient

before(async () => {
  await answers.start()
  nova = new NovaClient({ url: `${answers.url}/`, login })
})
beforeEach(() => {
  answers.asked.length = 0
  answers.next.length = 0
  issued = 0
  refused = 0
})
after(async () => {
  await nova.close()
  await answers.stop()
})

test('a private flavor is made with the version that we speak', async () => {
  answers.next.push({ status: 200, body: { flavor: {} } })
  const wanted = {
    id: 'r1',
    name: 'reservation:r1',
    vcpus: 2,
    ram_mb: 512,
    disk_gb: 0,
    is_public: false,
    extra_specs: {},
  }
  assert.equal(await nova.createFlavor(wanted), 'made')
  const [{ method, path, headers, body }] = answers.asked as [(typeof answers.asked)[0]]
  assert.deepEqual([method, path, headers['openstack-api-version']], ['POST', '/v2.1/flavors', 'compute 2.61'])
  const flavor = { id: 'r1', name: 'reservation:r1', vcpus: 2, ram: 512, disk: 0, 'os-flavor-access:is_public': false }
  assert.deepEqual(body, { flavor })
  answers.next.push({
    status: 409,
    body: { conflictingRequest: { code: 409, message: 'Flavor with ID r1 already exists.' } },
  })
  assert.equal(await nova.createFlavor(wanted), 'taken')
})

test('ephemeral disk and swap are read and sent where a flavor has them', async () => {
  const sizes = { vcpus: 2, ram: 512, disk: 1, 'OS-FLV-EXT-DATA:ephemeral': 7, swap: 2048 }
  answers.next.push({ status: 200, body: { flavor: { id: 'f', name: 'f', ...sizes } } })
  const flavor = (await nova.flavor('f'))!
  assert.deepEqual([flavor.ephemeral_gb, flavor.swap_mb], [7, 2048])
  answers.next.push({ status: 200, body: { flavor: {} } })
  await nova.createFlavor(flavor)
  const { body } = answers.asked[1] as { body: { flavor: Record<string, unknown> } }
  assert.deepEqual([body.flavor['OS-FLV-EXT-DATA:ephemeral'], body.flavor['swap']], [7, 2048])
})

test('what is done already counts as done', async () => {
  answers.next.push({ status: 404 }, { status: 409 }, { status: 404 }, { status: 404 }, { status: 404 })
  await nova.deleteFlavor('r1')
  await nova.grantAccess('r1', 'p')
  await nova.revokeAccess('r1', 'p')
  assert.equal(await nova.deleteServer('s', false), 'gone')
  assert.equal(await nova.flavor('r1'), null)
  assert.deepEqual(
    answers.asked.map(({ method, path }) => `${method} ${path}`),
    [
      'DELETE /v2.1/flavors/r1',
      'POST /v2.1/flavors/r1/action',
      'POST /v2.1/flavors/r1/action',
      'DELETE /v2.1/servers/s',
      'GET /v2.1/flavors/r1',
    ],
  )
})

test('a refused token is renewed once, and the request repeated', async () => {
  answers.next.push(
    { status: 401, body: { error: { code: 401, message: 'The request you have made…' } } },
    { status: 404 },
  )
  assert.equal(await nova.server('s'), null)
  assert.deepEqual(
    answers.asked.map(({ headers }) => headers['x-auth-token']),
    ['token-0', 'token-1'],
  )
  answers.next.push({ status: 401, text: 'Authentication required' }, { status: 401, text: 'Authentication required' })
  await assert.rejects(nova.server('s'), NovaAway)
  assert.equal(refused, 2)
})

test('no answer, a failure and what is no JSON mean that Nova is away', async () => {
  const bare = {
    message: 'The server is currently unavailable.',
    code: '503 Service Unavailable',
    title: 'Unavailable',
  }
  answers.next.push({ status: 503, body: bare })
  await assert.rejects(nova.flavor('r1'), (error: Error) => {
    assert.ok(error instanceof NovaAway)
    assert.match(error.message, /answered 503 to GET \/flavors\/r1: The server is currently unavailable\.$/)
    return true
  })
  for (const told of [
    LOST,
    { status: 500, text: '<html>no</html>' },
    { status: 200, text: '<html>a proxy</html>' },
    { status: 200, body: [1] },
    { status: 200, body: { flavor: 'x' } },
    { status: 429, body: { overLimit: { code: 429, message: 'slow' } } },
  ] as const) {
    answers.next.push(told)
    await assert.rejects(nova.flavor('r1'), NovaAway, JSON.stringify(told))
  }
  const nowhere = new NovaClient({ url: 'http://127.0.0.1:1/v2.1', login })
  await assert.rejects(nowhere.hypervisors(), /can't be reached: nothing listens there/)
  await nowhere.close()
})

test('a refusal says what Nova said, in one line, without our token', async () => {
  const message = `Project ID p is not\na valid project; token-0 ${'x'.repeat(2_000)}`
  answers.next.push({ status: 400, body: { badRequest: { code: 400, message } } })
  await assert.rejects(nova.grantAccess('r1', 'p'), (error: Error) => {
    assert.ok(error instanceof NovaRefusal)
    assert.equal(error.status, 400)
    assert.match(
      error.message,
      /^Nova answered 400 to POST \/flavors\/r1\/action: Project ID p is not a valid project; \*{6} x+…$/,
    )
    assert.ok(error.message.length < 600)
    return true
  })
})

test('why Nova is away names no address, file or user: owners of leases read it', async () => {
  const broken = (error: Error) => {
    const token = async () => {
      throw error
    }
    return new NovaClient({ url: answers.url, login: { ...login, token } })
  }
  const inner = Object.assign(new Error('connect EHOSTUNREACH 10.0.0.5:5000'), { code: 'EHOSTUNREACH' })
  for (const [error, words] of [
    [new Error('Keystone answered 401 to our own login as svc'), 'the log says why'],
    [Object.assign(new Error("ENOENT: open '/etc/secret'"), { code: 'ENOENT' }), 'the log says why (ENOENT)'],
    [new TypeError('fetch failed', { cause: inner }), 'no way leads there'],
  ] as const) {
    const client = broken(error)
    await assert.rejects(client.flavor('r1'), (away: Error) => {
      assert.equal(away.message, `Our own login for Nova fails: ${words}.`)
      assert.ok(inFull(away).includes(error.message))
      return true
    })
    await client.close()
  }
})

test('lists are read to their last page, also when their links name another address', async () => {
  const row = (id: string) => ({
    id,
    tenant_id: 'p',
    status: 'ACTIVE',
    'OS-EXT-STS:task_state': null,
    'OS-EXT-SRV-ATTR:host': 'c1',
  })
  const links = [{ rel: 'next', href: 'http://inside:8774/v2.1/servers/detail?all_tenants=1&flavor=r1&marker=a' }]
  answers.next.push({ status: 200, body: { servers: [row('a')], servers_links: links } })
  answers.next.push({ status: 200, body: { servers: [row('b'), null] } })
  assert.deepEqual(
    (await nova.serversOfFlavor('r1')).map(({ id }) => id),
    ['a', 'b'],
  )
  assert.equal(answers.asked[1]!.path, '/v2.1/servers/detail?all_tenants=1&flavor=r1&marker=a')
})

test('hypervisors have the uuid of their provider, and say whether they are up', async () => {
  const service = { host: 'c1', id: 'x', disabled_reason: 'fans' }
  const row = { id: 'u', hypervisor_hostname: 'c1.lab', state: 'up', status: 'disabled', service }
  answers.next.push({ status: 200, body: { hypervisors: [row] } })
  assert.deepEqual(await nova.hypervisors(), [
    { id: 'u', hostname: 'c1.lab', service: 'c1', state: 'up', status: 'disabled', disabledReason: 'fans' },
  ])
})
