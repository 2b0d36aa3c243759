// The doors of all APIs: who isn't known isn't listened to, and nobody takes what the others need.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../src/config/config.ts'
import { limits } from '../src/shared/limits.ts'
import { rawAnswer } from './placement/raw.ts'
import { CALLS } from './policy/routes.ts'
import { type Server, startServer } from './support/server.ts'

const PATIENCE_MS = 15_000

/** One server for a group of tests. */
function served(settings: Partial<Config> = {}): { origin: string } {
  const at = { origin: '' }
  let server: Server | undefined
  before(async () => {
    server = await startServer('sqlite::memory:', settings)
    at.origin = server.origin
  })
  after(() => server?.stop())
  return at
}

/** A connection on which so much was said and nothing more will be. */
async function unfinished(
  origin: string,
  head: string,
  localAddress?: string,
): Promise<{ socket: Socket; text: () => string }> {
  const { hostname, port } = new URL(origin)
  const socket = connect({ host: hostname, port: Number(port), localAddress, allowHalfOpen: true })
  socket.on('error', () => {})
  let text = ''
  socket.setEncoding('utf8').on('data', (more: string) => (text += more))
  await once(socket, 'connect')
  socket.write(head)
  return { socket, text: () => text }
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; !(await isSo()); await sleep(20)) {
    assert.ok(performance.now() < deadline, `${what}: never`)
  }
}

async function metric(origin: string, name: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

const AS_ADMIN = {
  'content-type': 'application/json',
  'x-auth-token': 'admin',
  'openstack-api-version': 'placement 1.39',
  'x-openstack-ironic-api-version': '1.83',
}
const headOf = (line: string, headers: readonly string[]) =>
  `${line} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers.join('\r\n')}\r\n\r\n`
const bodied = CALLS.filter(({ method }) => /POST|PUT|PATCH/.test(method))

void describe('the host of a request', () => {
  const at = served()

  void test('is said once: two Host headers, or a target with another host, are refused', async () => {
    const { host } = new URL(at.origin)
    const status = async (line: string, headers: string[]) =>
      (await rawAnswer(at.origin, { line, headers, body: '' })).status
    assert.equal(await status('GET /healthz HTTP/1.1', [`host: ${host}`]), 400)
    assert.equal(await status('GET http://evil.example/healthz HTTP/1.1', []), 400)
    assert.equal(await status('GET http://127.0.0.1/healthz HTTP/1.1', []), 200)
    assert.equal(await status('GET /healthz HTTP/1.1', []), 200)
  })
})

void describe('bodies', () => {
  const at = served()

  for (const { method, path, action } of bodied.filter(call => call.action !== null)) {
    void test(`${method} ${path} tells a stranger who never sends the body to go (${action})`, async () => {
      const answer = await rawAnswer(at.origin, {
        line: `${method} ${path.replaceAll(/:\w+/g, 'x')} HTTP/1.1`,
        headers: ['content-type: application/json', 'content-length: 200000'],
        body: '{',
      })
      assert.equal(answer.status, 401)
    })
  }

  void test('nobody waits for a body at a path that is none', async () => {
    for (const prefix of ['', '/baremetal', '/compute', '/image', '/identity', '/holdfast/v1']) {
      const answer = await rawAnswer(at.origin, {
        line: `POST ${prefix}/nowhere HTTP/1.1`,
        headers: ['content-type: application/json', 'content-length: 200000', 'x-auth-token: admin'],
        body: '{',
      })
      assert.equal(answer.status, 404, prefix)
    }
  })

  void test('are at most 256 KiB, told in the words of each API; those of bulk routes may be larger', async () => {
    const send = (path: string, body: string) =>
      fetch(`${at.origin}${path}`, { method: 'POST', body, headers: AS_ADMIN })
    const text = (bytes: number) => JSON.stringify({ name: 'x'.repeat(bytes) })
    const said = async (path: string) => {
      const answer = await send(path, text(limits.bodyBytesMax))
      assert.equal(answer.status, 413, path)
      return (await answer.json()) as Record<string, unknown>
    }
    const [placement] = (await said('/placement/resource_providers'))['errors'] as { status: number; detail: string }[]
    assert.equal(placement!.status, 413)
    assert.match(placement!.detail, /too large/)
    assert.match(String((await said('/baremetal/v1/ports'))['error_message']), /too large/)
    assert.match(JSON.stringify((await said('/compute/v2.1/servers'))['overLimit']), /too large/)
    assert.equal((await said('/reservation/v1/leases'))['error'], 413)
    assert.match(JSON.stringify((await said('/holdfast/v1/hypervisor-state'))['error']), /too large/)
    for (const path of ['/placement/allocations', '/placement/reshaper', '/baremetal/v1/allocations']) {
      assert.equal((await send(path, text(limits.bodyBytesMax))).status, 400, path)
      assert.equal((await send(path, text(limits.bulkBodyBytesMax))).status, 413, path)
    }
    const node = { driver: 'fake-hardware', extra: { a: 'x'.repeat(250_000) }, properties: { b: 'x'.repeat(250_000) } }
    assert.equal((await send('/baremetal/v1/nodes', JSON.stringify(node))).status, 201)
  })

  void test('of nothing but brackets, or of too many values, are refused', async () => {
    for (const body of ['['.repeat(4_000_000), `[${'0,'.repeat(1_000_000)}0]`]) {
      const answer = await fetch(`${at.origin}/placement/reshaper`, { method: 'POST', body, headers: AS_ADMIN })
      assert.equal(answer.status, 400)
      assert.match(await answer.text(), /nested too deep|more than 250000 values/)
    }
  })

  void test('that never end take a bounded part of the memory, and leave room for those of others', async () => {
    const head = headOf('POST /placement/allocations', [
      'content-type: application/json',
      'x-auth-token: admin:greedy',
      `content-length: ${limits.bulkBodyBytesMax}`,
    ])
    const greedy = await Promise.all(Array.from({ length: 200 }, () => unfinished(at.origin, head)))
    const fitting = limits.bodiesBytesMax / 2 / limits.bulkBodyBytesMax
    await until('the others are told', () => greedy.filter(({ text }) => text() !== '').length === 200 - fitting)
    for (const { text } of greedy) assert.match(text(), /^(HTTP\/1.1 429 (.|\r\n)*\r\nretry-after: 1\r\n|$)/i)
    assert.equal(await metric(at.origin, 'holdfast_body_bytes_in_flight'), limits.bodiesBytesMax / 2)
    const headers = { ...AS_ADMIN, 'x-auth-token': 'admin:honest' }
    const body = JSON.stringify({ name: 'honest' })
    const honest = await fetch(`${at.origin}/placement/resource_providers`, { method: 'POST', body, headers })
    assert.equal(honest.status, 200)
    for (const { socket } of greedy) socket.destroy()
    await until('all is given back', async () => (await metric(at.origin, 'holdfast_body_bytes_in_flight')) === 0)
  })
})

void describe('connections', () => {
  const at = served()

  void test('that speak no HTTP are gone after the answer, though their other end stays', async () => {
    const broken = await Promise.all(Array.from({ length: 60 }, () => unfinished(at.origin, 'NONSENSE\r\n\r\n')))
    await until('they are told', () => broken.every(({ text }) => text().startsWith('HTTP/1.1 400 ')))
    await until('they are gone', () => {
      for (const { socket } of broken) if (!socket.destroyed) socket.write('more')
      return broken.every(({ socket }) => socket.destroyed)
    })
  })
})

/** A path of each API that a body can be sent to, and where its refusals have the status. */
const PATHS: Record<string, (body: string) => unknown> = {
  '/placement/resource_providers': body => JSON.parse(body).errors[0].status,
  '/baremetal/v1/nodes': body => /share/.test(JSON.parse(JSON.parse(body).error_message).faultstring) && 429,
  '/compute/v2.1/servers': body => JSON.parse(body).badRequest.code,
  '/image/v2/images': body => JSON.parse(body).error.code,
  '/reservation/v1/leases': body => JSON.parse(body).error,
  '/identity/v3/auth/tokens': body => JSON.parse(body).error.code,
  '/holdfast/v1/clock': body => JSON.parse(body).error.kind === 'too_many_requests' && 429,
}

void describe('a share of what is in flight', () => {
  const at = served({ requestsMax: 8, requestShare: 25 })
  const open: Socket[] = []
  /** A request that stays in flight: its body doesn't come. */
  const hold = async (from: string, project: string) => {
    const headers = ['content-type: application/json', `x-auth-token: admin:${project}`, 'content-length: 9']
    const held = await unfinished(at.origin, headOf('POST /baremetal/v1/nodes', headers), from)
    open.push(held.socket)
    return held
  }
  const inFlight = async () => (await metric(at.origin, 'holdfast_requests_in_flight')) - 1
  /** The answer to a request that is over at once. */
  const ask = async (from: string, project: string, path: string) => {
    const headers = [`x-auth-token: admin:${project}`, 'connection: close']
    const { socket, text } = await unfinished(at.origin, headOf(`GET ${path}`, headers), from)
    await until('it is answered', () => socket.readableEnded || socket.destroyed)
    socket.destroy()
    const [head = '', body = ''] = text().split('\r\n\r\n')
    return { status: Number(head.slice(9, 12)), head, body }
  }
  const release = async () => {
    for (const socket of open.splice(0)) socket.destroy()
    await until('all are given back', async () => (await inFlight()) === 0)
  }

  void test('by address: one too many is told to come back by every API, and others don’t notice', async () => {
    for (let i = 0; i < 4; i++) await hold('127.0.0.2', `project-${i}`)
    await until('all are there', async () => (await inFlight()) === 4)
    for (const [path, statusIn] of Object.entries(PATHS)) {
      const { status, head, body } = await ask('127.0.0.2', 'another', path)
      assert.equal(status, 429, `${path}: ${body}`)
      assert.match(head, /\r\nretry-after: 1(\r\n|$)/i)
      assert.equal(statusIn(body), 429, body)
    }
    assert.equal((await ask('127.0.0.3', 'another', '/baremetal/v1/nodes')).status, 200)
    await release()
    assert.equal((await ask('127.0.0.2', 'another', '/baremetal/v1/nodes')).status, 200)
  })

  void test('by project, from wherever it comes', async () => {
    for (let i = 2; i < 6; i++) await hold(`127.0.0.${i}`, 'greedy')
    await until('all are there', async () => (await inFlight()) === 4)
    for (const path of Object.keys(PATHS).filter(path => !path.startsWith('/identity'))) {
      assert.equal((await ask('127.0.0.6', 'greedy', path)).status, 429, path)
    }
    assert.equal((await ask('127.0.0.6', 'honest', '/baremetal/v1/nodes')).status, 200)
    await release()
  })

  void test('nobody is refused while less than half is taken, and all are when everything is; but we say that we live', async () => {
    for (let i = 2; i < 10; i++) assert.equal((await hold(`127.0.0.${i}`, `project-${i}`)).text(), '')
    await until('all are taken', async () => (await ask('127.0.0.20', 'another', '/baremetal/v1/nodes')).status === 503)
    assert.equal((await ask('127.0.0.20', 'another', '/healthz')).status, 200)
    await release()
  })
})

void describe('addresses', () => {
  /** The address that the audit has for a request that came with these words of proxies. */
  const noted = async (origin: string, forwarded: string) => {
    const headers = { ...AS_ADMIN, 'x-forwarded-for': forwarded }
    const body = JSON.stringify({ name: `from ${forwarded}` })
    const made = await fetch(`${origin}/placement/resource_providers`, { method: 'POST', body, headers })
    assert.equal(made.status, 200)
    const { entries } = (await (await fetch(`${origin}/holdfast/v1/audit?limit=1`, { headers: AS_ADMIN })).json()) as {
      entries: { address: string }[]
    }
    return entries[0]!.address
  }
  const cases: [setting: string, forwarded: string, address: string][] = [
    ['0', '198.51.100.7', '127.0.0.1'],
    ['1', '203.0.113.9, 198.51.100.7', '198.51.100.7'],
    ['1', '203.0.113.9, no address', '127.0.0.1'],
    ['2', '203.0.113.9, 198.51.100.7, 192.0.2.1', '198.51.100.7'],
    ['127.0.0.0/8', '203.0.113.9, 198.51.100.7, 127.0.0.9', '198.51.100.7'],
    ['127.0.0.0/8', '203.0.113.9, <script>', '127.0.0.1'],
    ['10.0.0.0/8', '198.51.100.7', '127.0.0.1'],
  ]
  for (const [trustForwarded, forwarded, address] of cases) {
    void test(`with --trust-forwarded ${trustForwarded}, "${forwarded}" is ${address}`, async () => {
      const server = await startServer('sqlite::memory:', { trustForwarded })
      try {
        assert.equal(await noted(server.origin, forwarded), address)
      } finally {
        await server.stop()
      }
    })
  }
})

for (const auth of ['none', 'noauth2'] as const) {
  void describe(`web pages and --auth ${auth}`, () => {
    const at = served({ auth, corsOrigin: 'http://ours.example', hostNames: 'lab.example,other' })
    const body = '{"name": "by a page"}'
    const BODIED = [
      '/placement/resource_providers',
      '/baremetal/v1/nodes',
      '/compute/v2.1/servers',
      '/reservation/v1/leases',
      ...(auth === 'none' ? ['/identity/v3/auth/tokens'] : []),
      '/holdfast/v1/hypervisor-state',
    ]
    const post = async (path: string, headers: Record<string, string>, host = new URL(at.origin).host) => {
      const lines = { 'content-length': body.length, 'x-auth-token': 'admin', ...headers }
      const { socket, text } = await unfinished(
        at.origin,
        `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n${Object.entries(lines)
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('')}\r\n${body}`,
      )
      await until('it is answered', () => socket.readableEnded || socket.destroyed)
      socket.destroy()
      return Number(text().slice(9, 12))
    }
    const json = { 'content-type': 'application/json' }

    void test('a page of another site is refused by every API, whatever it does to look harmless', async () => {
      for (const path of BODIED) {
        assert.equal(await post(path, { ...json, origin: 'http://evil.example' }), 403, path)
        assert.equal(await post(path, { ...json, origin: 'null' }), 403, path)
        assert.equal(await post(path, { ...json, 'sec-fetch-site': 'cross-site' }), 403, path)
        assert.equal(await post(path, json, 'evil.example:8780'), 403, path)
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
          const status = await post(path, { 'content-type': type })
          assert.ok([400, 415].includes(status), `${path} as ${type}: ${status}`)
        }
      }
      const made = await fetch(`${at.origin}/placement/resource_providers?name=by%20a%20page`, { headers: AS_ADMIN })
      assert.deepEqual(((await made.json()) as { resource_providers: object[] }).resource_providers, [])
    })

    void test('our own pages, the names that we have, and clients that are no browsers are let in', async () => {
      const isIn = (status: number) => assert.ok(![403, 415].includes(status), String(status))
      for (const path of BODIED) {
        isIn(await post(path, { ...json, origin: 'http://ours.example', 'sec-fetch-site': 'cross-site' }))
        isIn(await post(path, { ...json, origin: at.origin, 'sec-fetch-site': 'same-origin' }))
        isIn(await post(path, {}))
        for (const host of [
          'localhost',
          'LOCALHOST:8780',
          'a.localhost',
          '127.1.2.3:1',
          '[::1]:8780',
          'lab.example',
          'other:80',
        ]) {
          isIn(await post(path, json, host))
        }
      }
    })
  })
}
