// Consoles: upstream's verbs, and the web socket with those who may and may not see it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { eachIdentity } from '../support/identity.ts'
import { startServer, type Server } from '../support/server.ts'
import { type Bmc, lacking, startBmc } from '../support/ipmi-sim.ts'

const ADMIN = { 'x-roles': 'admin', 'x-project-id': 'ops' }
const MINE = { 'x-roles': 'member', 'x-project-id': 'mine' }
const OTHER = { 'x-roles': 'member', 'x-project-id': 'other' }
const VERSION = { 'x-openstack-ironic-api-version': '1.80' }

let server: Server
before(async () => (server = await startServer('sqlite::memory:')))
after(() => server.stop())

type Headers = Record<string, string>

async function call(method: string, path: string, body?: object, headers: Headers = ADMIN) {
  const answer = await fetch(server.origin + path, {
    method,
    headers: { 'x-auth-token': 'x', 'content-type': 'application/json', ...VERSION, ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? null : JSON.parse(text), text }
}

let made = 0
async function newNode(more: object = {}): Promise<string> {
  const { body, status, text } = await call('POST', '/baremetal/v1/nodes', {
    name: `console-${++made}`,
    driver: 'fake-hardware',
    lessee: 'mine',
    ...more,
  })
  assert.equal(status, 201, text)
  return body.uuid
}
const enable = (uuid: string, enabled = true, headers: Headers = ADMIN) =>
  call('PUT', `/baremetal/v1/nodes/${uuid}/states/console`, { enabled }, headers)

/** A viewer, with all that it was shown and told. */
class Watching {
  shown = ''
  told: string[] = []
  readonly socket: WebSocket
  readonly closed: Promise<{ code: number; reason: string }>

  constructor(uuid: string, headers: Headers = { 'x-auth-token': 'x', ...MINE }, protocols: string[] = []) {
    const url = `${server.origin.replace('http', 'ws')}/holdfast/v1/nodes/${uuid}/console`
    this.socket = new WebSocket(url, protocols, { headers })
    this.socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.shown += data.toString('latin1')
      else this.told.push(data.toString())
    })
    this.closed = once(this.socket, 'close').then(([code, reason]) => ({ code, reason: String(reason) }))
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await sleep(10)
  }
}

/** The status with which a socket is refused. */
async function refusal(uuid: string, headers: Headers): Promise<number> {
  const { socket } = new Watching(uuid, headers)
  const [request, response] = await once(socket, 'unexpected-response')
  request.destroy()
  return response.statusCode
}

test('a console that is enabled says where it is', async () => {
  const uuid = await newNode()
  const path = `/baremetal/v1/nodes/${uuid}/states/console`
  assert.deepEqual((await call('GET', path)).body, { console_enabled: false, console_info: null })
  assert.equal((await enable(uuid)).status, 202)
  const url = `${server.origin.replace('http', 'ws')}/holdfast/v1/nodes/${uuid}/console`
  assert.deepEqual((await call('GET', path)).body, { console_enabled: true, console_info: { type: 'websocket', url } })
  assert.equal((await call('GET', `/baremetal/v1/nodes/${uuid}`)).body.console_enabled, true)
  assert.equal((await enable(uuid, false)).status, 202)
  assert.equal((await call('GET', path)).body.console_info, null)
})

test('a node without a console interface has none, and bad bodies are refused', async () => {
  const uuid = await newNode({ console_interface: 'no-console' })
  const refused = await enable(uuid)
  assert.equal(refused.status, 400)
  assert.match(refused.text, /console interface is switched off/)
  for (const body of [{}, { enabled: 'maybe' }, { enabled: true, more: 1 }]) {
    assert.equal((await call('PUT', `/baremetal/v1/nodes/${uuid}/states/console`, body)).status, 400)
  }
})

test('several viewers share one console: what one types, all see, and who comes later sees what was', async () => {
  const uuid = await newNode()
  await enable(uuid, true, MINE)
  const [one, two] = [new Watching(uuid), new Watching(uuid)]
  await one.until(() => one.shown.includes('$ ') && two.shown.includes('$ '))
  one.socket.send(Buffer.from('hello\r'))
  await two.until(() => two.shown.includes('hello'))
  const late = new Watching(uuid)
  await late.until(() => late.shown.includes('hello'))
  await call('PUT', `/baremetal/v1/nodes/${uuid}/states/power`, { target: 'power on' })
  await late.until(() => late.shown.includes('power on: power on'))
  assert.ok(late.told.includes('the console is open'))
  for (const { socket } of [one, two, late]) socket.close()
})

test('a page opens it with a ticket among the protocols, which is not repeated', async () => {
  const uuid = await newNode()
  await enable(uuid)
  const { body } = await call('POST', '/holdfast/v1/events/tickets', {}, MINE)
  const page = new Watching(uuid, {}, ['holdfast', `ticket.${body.ticket}`])
  await page.until(() => page.shown !== '')
  assert.equal(page.socket.protocol, 'holdfast')
  page.socket.close()
  // Neither again, nor in another spelling.
  for (const ticket of [body.ticket, `${body.ticket}_`, `${body.ticket}-`]) {
    assert.equal(await refusal(uuid, { 'sec-websocket-protocol': `holdfast, ticket.${ticket}` }), 401)
  }
})

test('a ticket in the address opens no console', async () => {
  const uuid = await newNode()
  await enable(uuid)
  const { body } = await call('POST', '/holdfast/v1/events/tickets', {}, MINE)
  const path = `/holdfast/v1/nodes/${uuid}/console?ticket=${body.ticket}`
  assert.equal((await fetch(server.origin + path)).status, 401)
  const socket = new WebSocket(server.origin.replace('http', 'ws') + path)
  const [request, response] = await once(socket, 'unexpected-response')
  request.destroy()
  assert.equal(response.statusCode, 401)
})

test('strangers, other projects and consoles that are not enabled are refused before anything is opened', async () => {
  const uuid = await newNode()
  assert.equal(await refusal(uuid, { 'x-auth-token': 'x', ...MINE }), 400)
  await enable(uuid)
  assert.equal(await refusal(uuid, {}), 401)
  assert.equal(await refusal(uuid, { 'sec-websocket-protocol': 'ticket.nonsense' }), 401)
  assert.equal(await refusal(uuid, { 'x-auth-token': 'x', ...OTHER }), 404)
  assert.equal(await refusal(uuid, { 'x-auth-token': 'x', 'x-roles': 'reader', 'x-project-id': 'mine' }), 403)
  assert.equal(await refusal('nobody', { 'x-auth-token': 'x', ...ADMIN }), 404)
  assert.equal(await refusal(uuid, { 'x-auth-token': 'x', ...MINE, origin: 'http://evil.example' }), 403)
})

test('a machine that goes to someone else cuts off who had it, and shows nothing of them', async () => {
  const uuid = await newNode()
  await enable(uuid)
  const before = new Watching(uuid)
  const operator = new Watching(uuid, { 'x-auth-token': 'x', ...ADMIN })
  await before.until(() => before.shown.includes('$ '))
  before.socket.send(Buffer.from('my secret\r'))
  await operator.until(() => operator.shown.includes('my secret'))
  await call('PATCH', `/baremetal/v1/nodes/${uuid}`, [{ op: 'replace', path: '/lessee', value: 'other' }])
  assert.deepEqual(await before.closed, { code: 1008, reason: 'you may no longer see this machine' })
  const next = new Watching(uuid, { 'x-auth-token': 'x', ...OTHER })
  await next.until(() => next.told.length > 0)
  next.socket.send(Buffer.from('ls\r'))
  await next.until(() => next.shown.includes('ls'))
  assert.doesNotMatch(next.shown, /my secret/)
  assert.equal((await enable(uuid, false)).status, 202)
  assert.equal((await next.closed).code, 1008)
  operator.socket.close()
})

test('a line that is lost is said, and opened again', async () => {
  const uuid = await newNode({ driver_info: { fake_fail: 'console' } })
  await enable(uuid)
  const viewer = new Watching(uuid)
  await viewer.until(() => viewer.told.some(words => /told to fail at console.*Trying again in 2 seconds/.test(words)))
  await call('PATCH', `/baremetal/v1/nodes/${uuid}`, [{ op: 'remove', path: '/driver_info/fake_fail' }])
  await viewer.until(() => viewer.told.includes('the console is open'))
  viewer.socket.close()
})

test('a request that asks for another upgrade is served as it is', async () => {
  const request = get(`${server.origin}/healthz`, { headers: { connection: 'upgrade', upgrade: 'h2c' }, agent: false })
  const [response] = await once(request, 'response')
  assert.equal(response.statusCode, 200)
  response.resume()
})

suite('a console over IPMI', { skip: lacking }, () => {
  let bmc: Bmc
  before(async () => (bmc = await startBmc()))
  after(() => bmc[Symbol.asyncDispose]())

  test('what the machine prints is shown, and what is typed reaches it', async () => {
    const uuid = await newNode({ driver: 'ipmi', driver_info: bmc.driverInfo })
    assert.equal((await enable(uuid)).status, 202)
    const viewer = new Watching(uuid)
    await viewer.until(() => viewer.told.includes('the console is open'))
    bmc.print('Debian GNU/Linux ttyS1\r\n')
    await viewer.until(() => viewer.shown.includes('Debian GNU/Linux'))
    viewer.socket.send(Buffer.from('root\r'))
    await viewer.until(() => bmc.typed().includes('root\r') && viewer.shown.includes('heard root'))
    viewer.socket.close()
  })
})

eachIdentity('consoles where people log in', ({ api }) => {
  test('a page of another site opens none, even with a ticket of someone who may', async () => {
    const token = await api.token('alice')
    const ask = (method: string, path: string, body: object) =>
      fetch(api.origin + path, {
        method,
        headers: { 'x-auth-token': token, 'content-type': 'application/json', ...VERSION },
        body: JSON.stringify(body),
      })
    const made = await ask('POST', '/baremetal/v1/nodes', { driver: 'fake-hardware' })
    const { uuid } = (await made.json()) as { uuid: string }
    assert.equal((await ask('PUT', `/baremetal/v1/nodes/${uuid}/states/console`, { enabled: true })).status, 202)
    const { ticket } = (await (await ask('POST', '/holdfast/v1/events/tickets', {})).json()) as { ticket: string }
    const open = (origin: string) =>
      new WebSocket(
        `${api.origin.replace('http', 'ws')}/holdfast/v1/nodes/${uuid}/console`,
        ['holdfast', `ticket.${ticket}`],
        {
          headers: { origin },
        },
      )
    const [request, response] = await once(open('https://evil.example'), 'unexpected-response')
    request.destroy()
    assert.equal(response.statusCode, 403)
    const own = open(api.origin)
    await once(own, 'open')
    own.close()
  })
})
