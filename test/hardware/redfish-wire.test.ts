// The wire to a BMC: logins, ETags, tasks, redirects, certificates, repetitions, and the words for what goes wrong.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type Bmc, BmcAway, BmcRefusal } from '../../src/metal/drivers/redfish/bmc.ts'
import type { Pace } from '../../src/metal/drivers/redfish/client.ts'
import { Bmcs } from '../../src/metal/drivers/redfish/pool.ts'
import { bmcSettingsOf } from '../../src/metal/drivers/redfish/settings.ts'
import { Wire } from '../../src/metal/drivers/redfish/wire.ts'
import type { Json } from '../../src/shared/json.ts'
import { type BmcOptions, startBmc, startBmcs, type TestBmc } from '../support/bmc.ts'

const QUICK: Partial<Pace> = { pauseMs: 5, taskPollMs: 5, readMs: 2_000, postMs: 2_000 }
const UUID = '5f1e7a3c-0000-4000-8000-000000000001'

async function bmcWith(t: TestContext, options: BmcOptions = {}, pace: Partial<Pace> = {}) {
  const bmc = await startBmc(options)
  const bmcs = new Bmcs({ ...QUICK, ...pace })
  t.after(async () => {
    await bmcs.stop()
    await bmc.stop()
  })
  const ask = (driverInfo: Json = {}, signal = AbortSignal.timeout(20_000)): Bmc =>
    bmcs.of({ uuid: UUID, driverInfo: { ...bmc.driverInfo(), ...driverInfo } }, signal)
  return { bmc, bmcs, ask }
}

const logins = (bmc: TestBmc) => bmc.seen('POST', '/Sessions').length
const reset = (bmc: TestBmc) => `${bmc.machine.path}/Actions/ComputerSystem.Reset`

test('a session is opened once, shared by all requests, and closed at the end', async t => {
  const { bmc, bmcs, ask } = await bmcWith(t)
  const all = await Promise.all([ask().system(), ask().system(), ask().managers(), ask().chassis()])
  assert.equal(all[0].path, '/redfish/v1/Systems/1')
  assert.equal(logins(bmc), 1)
  assert.equal(bmc.sessions.size, 1)
  assert.ok(bmc.requests.every(({ headers }) => headers['accept-encoding'] === 'identity'))
  await bmcs.stop()
  assert.equal(bmc.sessions.size, 0)
})

test('a session that the BMC forgot is opened again, once, and nobody notices', async t => {
  const { bmc, ask } = await bmcWith(t)
  await ask().system()
  bmc.forgetSessions()
  const all = await Promise.all([ask().system(), ask().system(), ask().post(reset(bmc), { ResetType: 'On' })])
  assert.equal(all.length, 3)
  assert.equal(logins(bmc), 2)
  assert.deepEqual(bmc.machine.resets, ['On'])
})

test('auto takes basic where there are no sessions, and asks for none', async t => {
  const { bmc, ask } = await bmcWith(t, { auth: 'basic' })
  await ask().system()
  assert.equal(logins(bmc), 0)
})

test('auth type session says so where there are no sessions', async t => {
  const { ask } = await bmcWith(t, { auth: 'basic' })
  await assert.rejects(ask({ redfish_auth_type: 'session' }).system(), /gives no session\. It has no sessions: set/)
})

test('auto takes basic where the first login is refused', async t => {
  const { bmc, ask } = await bmcWith(t)
  bmc.fail({ kind: 'status', status: 405, method: 'POST', path: /Sessions$/ })
  await ask().system()
  await ask().system()
  assert.equal(logins(bmc), 1)
})

test('after a session has worked, basic is not taken because of one refusal', async t => {
  const { bmc, ask } = await bmcWith(t)
  await ask().system()
  bmc.forgetSessions()
  bmc.fail({ kind: 'status', status: 500, method: 'POST', path: /Sessions$/, times: 1 })
  await assert.rejects(ask().system(), /answers 500 to POST/)
  assert.ok(bmc.requests.every(({ headers }) => headers.authorization === undefined))
  await ask().system()
})

test('when all sessions are used up, basic helps; with auth type session it is said', async t => {
  const { bmc, ask } = await bmcWith(t, { sessionsMax: 0 }, { tries: 2 })
  await ask().system()
  assert.ok(bmc.requests.some(({ headers }) => headers.authorization !== undefined))
  await assert.rejects(
    ask({ redfish_auth_type: 'session' }).system(),
    /gives no session\. All are in use: .* It says: The maximum number of user sessions/,
  )
})

test('a wrong password is said, with the user and the address and without the password', async t => {
  const { bmc, ask } = await bmcWith(t)
  bmc.password = 'another-word'
  for (const redfish_auth_type of ['auto', 'session', 'basic']) {
    await assert.rejects(ask({ redfish_auth_type, redfish_password: 'wrong-word' }).system(), (error: Error) => {
      assert.ok(error instanceof BmcRefusal)
      assert.match(error.message, /^The BMC at 127\.0\.0\.1:\d+ refuses the login of user admin/)
      assert.doesNotMatch(error.message, /wrong-word/)
      return true
    })
  }
  await ask({ redfish_password: 'another-word' }).system()
})

test('a node without credentials is told to have some', async t => {
  const { ask } = await bmcWith(t)
  const none = { redfish_username: null, redfish_password: null }
  await assert.rejects(ask(none).system(), /asks for a login: set redfish_username/)
})

test('a session that is refused one thing leaves none behind', async t => {
  const { bmc, ask } = await bmcWith(t)
  bmc.fail({ kind: 'status', status: 403, method: 'PATCH' })
  await assert.rejects(ask().patch(bmc.machine.path, { AssetTag: 'x' }), /does not allow user admin PATCH/)
  assert.equal(logins(bmc), 2)
  while (bmc.sessions.size > 0) await setImmediate()
  await ask().system()
  assert.equal(bmc.sessions.size, 1)
})

test('whoever was refused one thing can go on with others', async t => {
  const { bmc, ask } = await bmcWith(t)
  const one = ask()
  bmc.fail({ kind: 'status', status: 403, method: 'PATCH' })
  await assert.rejects(one.patch(bmc.machine.path, { AssetTag: 'x' }), BmcRefusal)
  for (let round = 0; round < 20; round++) {
    const all = await Promise.all([one.system(), one.managers(), one.root(), one.chassis()])
    assert.equal(all.length, 4)
  }
  while (bmc.sessions.size > 0) await setImmediate()
})

for (const etags of ['none', 'strong', 'strict', 'weak'] as const) {
  test(`a change is made with ETags: ${etags}`, async t => {
    const { bmc, ask } = await bmcWith(t, { etags })
    await ask().patch(bmc.machine.path, { IndicatorLED: 'Lit' })
    assert.equal(bmc.machine.system['IndicatorLED'], 'Lit')
  })
}

test('a BMC that refuses its own ETags is changed without', async t => {
  const { bmc, ask } = await bmcWith(t, { etags: 'strong' })
  bmc.fail({ kind: 'status', status: 412, method: 'PATCH', times: 1 })
  await ask().patch(bmc.machine.path, { IndicatorLED: 'Lit' })
  assert.deepEqual(
    bmc.seen('PATCH').map(({ headers }) => headers['if-match'] !== undefined),
    [true, false],
  )
})

test('a BMC that wants an ETag and gives none gets any', async t => {
  const { bmc, ask } = await bmcWith(t)
  bmc.fail({ kind: 'status', status: 428, method: 'PATCH', times: 1 })
  await ask().patch(bmc.machine.path, { IndicatorLED: 'Lit' })
  assert.equal(bmc.seen('PATCH').at(-1)!.headers['if-match'], '*')
})

test('a task is awaited to its end', async t => {
  const { bmc, ask } = await bmcWith(t, { taskPolls: 3 })
  await ask().post(reset(bmc), { ResetType: 'On' })
  assert.equal(bmc.requests.filter(({ path }) => path.includes('/TaskMonitors/')).length, 3)
  assert.equal(bmc.machine.power, 'On')
})

test('a task that was cleared away before we looked is done', async t => {
  const { bmc, ask } = await bmcWith(t, { taskPolls: 3 })
  bmc.fail({ kind: 'status', status: 404, path: /TaskMonitors/ })
  await ask().post(reset(bmc), { ResetType: 'On' })
  assert.equal(bmc.machine.power, 'On')
})

test('a task that fails says why', async t => {
  const { bmc, ask } = await bmcWith(t, { taskPolls: 2 })
  const Messages = [{ MessageId: 'X.1.Bad', Message: 'The drive is on fire.', Severity: 'Critical' }]
  bmc.fail({ kind: 'status', status: 200, path: /TaskMonitors/, body: { TaskState: 'Exception', Messages } })
  await assert.rejects(ask().post(reset(bmc), { ResetType: 'On' }), /The drive is on fire/)
})

test('a task that does not end is given up', async t => {
  const { bmc, ask } = await bmcWith(t, { taskPolls: 1_000_000 }, { taskMs: 30 })
  await assert.rejects(ask().post(reset(bmc), { ResetType: 'On' }), /did not finish POST/)
})

test('a busy BMC is asked again, and a POST that it refused too', async t => {
  const { bmc, ask } = await bmcWith(t)
  bmc.fail({ kind: 'busy', retryAfter: 0, times: 2 })
  await ask().system()
  bmc.fail({ kind: 'busy', retryAfter: 0, method: 'POST', path: /Reset/, times: 2 })
  await ask().post(reset(bmc), { ResetType: 'On' })
  assert.deepEqual(bmc.machine.resets, ['On'])
})

test('a BMC that stays busy is told so', async t => {
  const { bmc, ask } = await bmcWith(t)
  await ask().system()
  bmc.fail({ kind: 'busy' })
  await assert.rejects(
    ask().system(),
    /is busy: it answers 503 to GET .*, after 5 tries\. It says: The service is busy/,
  )
})

test('a BMC that restarts says so with 400, and is asked again', async t => {
  const { bmc, ask } = await bmcWith(t)
  bmc.fail({
    kind: 'status',
    status: 400,
    body: 'SWC0700: iDRAC is not ready',
    method: 'POST',
    path: /Reset/,
    times: 1,
  })
  await ask().post(reset(bmc), { ResetType: 'On' })
  assert.equal(bmc.machine.power, 'On')
})

test('a GET whose connection broke is repeated', async t => {
  const { bmc, ask } = await bmcWith(t)
  bmc.fail({ kind: 'drop', method: 'GET', path: /Systems/, times: 2 })
  assert.equal((await ask().system()).path, bmc.machine.path)
})

test('a reset whose answer is lost is not sent twice', async t => {
  const { bmc, ask } = await bmcWith(t)
  bmc.fail({ kind: 'drop answer', method: 'POST', path: /Reset/ })
  await assert.rejects(ask().post(reset(bmc), { ResetType: 'ForceRestart' }), BmcAway)
  assert.equal(bmc.seen('POST', 'Reset').length, 1)
})

test('a BMC that hangs is given up in time, and others are not held up', async t => {
  const { bmc, ask } = await bmcWith(t, {}, { readMs: 50, requestMs: 100 })
  bmc.fail({ kind: 'hang', path: /Systems/ })
  await assert.rejects(ask().system(), /gave no answer to GET \/redfish\/v1\/Systems in 0\.1 s/)
  await ask().root()
  bmc.heal()
  await ask().system()
})

test('the signal of the caller ends everything', async t => {
  const { bmc, ask } = await bmcWith(t)
  bmc.fail({ kind: 'hang' })
  const stopping = new AbortController()
  const asked = ask({}, stopping.signal).system()
  stopping.abort(new Error('the process stops'))
  await assert.rejects(asked, /the process stops/)
  await assert.rejects(ask({}, AbortSignal.timeout(30)).system(), /gave no answer to .* in time/)
})

test('redirects are followed on the same host, with method and body, and not without end', async t => {
  const { bmc, ask } = await bmcWith(t)
  bmc.fail({
    kind: 'redirect',
    method: 'POST',
    path: /Sessions$/,
    to: '/redfish/v1/SessionService/Sessions/',
    times: 1,
  })
  await ask().system()
  assert.equal(bmc.sessions.size, 1)
  bmc.fail({ kind: 'redirect', path: /Systems\/1$/, to: 'http://192.0.2.1/redfish/v1/Systems/1', times: 1 })
  await assert.rejects(ask().system(), /leads elsewhere/)
  bmc.fail({ kind: 'redirect', path: /Systems\/1$/, to: '/redfish/v1/Systems/1' })
  await assert.rejects(ask().system(), /redirects GET .* without end/)
})

test('garbage and answers without end are said', async t => {
  const { bmc, ask } = await bmcWith(t)
  bmc.fail({ kind: 'garbage', path: /Systems$/, times: 1 })
  await assert.rejects(ask().system(), /with something that is not JSON/)
  bmc.fail({ kind: 'huge', path: /Systems/, times: 1 })
  await assert.rejects(ask().system(), /too large/)
  await ask().system()
})

test('plain text and pages are repeated as words, and shortened', async t => {
  const { bmc, ask } = await bmcWith(t)
  const page = '<html><head><title>x</title></head><body>No <b>such</b> device</body></html>'
  bmc.fail({ kind: 'status', status: 400, body: page, method: 'PATCH', times: 1 })
  await assert.rejects(ask().patch(bmc.machine.path, {}), /answers 400 to PATCH .* It says: No such device$/)
  bmc.fail({ kind: 'status', status: 400, body: 'x'.repeat(10_000), method: 'PATCH', times: 1 })
  await assert.rejects(ask().patch(bmc.machine.path, {}), ({ message }: Error) => message.length < 700)
})

test('a refusal has the status and the message ids', async t => {
  const { bmc, ask } = await bmcWith(t)
  await assert.rejects(ask().post(reset(bmc), { ResetType: 'Sideways' }), (error: BmcRefusal) => {
    assert.equal(error.status, 400)
    assert.deepEqual(error.messageIds, ['ActionParameterNotSupported'])
    return true
  })
})

test('a system is found by path, id and UUID; several must be told apart', async t => {
  const { bmc, ask } = await bmcWith(t, { machines: [{ id: 'left' }, { id: 'right' }] })
  const [, right] = bmc.machines
  for (const redfish_system_id of [right!.path, 'right', 'RIGHT', right!.system['UUID'], 'machine-2']) {
    assert.equal((await ask({ redfish_system_id }).system()).path, right!.path)
  }
  await assert.rejects(ask().system(), /several systems: set redfish_system_id to one of .*left, .*right\.$/)
  await assert.rejects(ask({ redfish_system_id: 'middle' }).system(), /has no system middle: .*left/)
})

test('a collection is read to its last page, and what is gone is skipped', async t => {
  const { bmc, ask } = await bmcWith(t)
  const nics = bmc.machine.below('EthernetInterfaces')
  const [first, second] = nics['Members'] as Json[]
  nics['Members'] = [first, { '@odata.id': '/redfish/v1/Systems/1/EthernetInterfaces/gone' }]
  nics['Members@odata.nextLink'] = '/redfish/v1/page2'
  bmc.resources.set('/redfish/v1/page2', { Members: [second], 'Members@odata.nextLink': '/redfish/v1/page2' })
  const found = await ask().members('/redfish/v1/Systems/1/EthernetInterfaces')
  assert.deepEqual(
    found.map(({ body }) => body['Id']),
    ['NIC1', 'NIC2'],
  )
  assert.deepEqual(await ask().members('/redfish/v1/nothing'), [])
  assert.deepEqual(await ask().members(null), [])
})

test('nobody there is said', async t => {
  const { ask } = await bmcWith(t, {}, { tries: 1 })
  await assert.rejects(ask({ redfish_address: 'http://127.0.0.1:1' }).system(), (error: Error) => {
    assert.ok(error instanceof BmcAway)
    assert.equal(error.message, 'Nobody answers at 127.0.0.1:1: it refuses the connection.')
    return true
  })
})

test('one who is away is asked as often as said, and no more', async t => {
  const { bmc, ask } = await bmcWith(t, {}, { tries: 3 })
  bmc.fail({ kind: 'drop' })
  await assert.rejects(ask().system(), /The connection to the BMC at .* broke during GET/)
  assert.equal(bmc.requests.length, 3)
})

test('a BMC that is away and comes back keeps its session', async t => {
  const { bmc, ask } = await bmcWith(t, {}, { tries: 1 })
  await ask().system()
  bmc.fail({ kind: 'drop' })
  await assert.rejects(ask().system(), BmcAway)
  bmc.heal()
  await ask().system()
  assert.equal(logins(bmc), 1)
})

test('who has another password now leaves no session behind', async t => {
  const { bmc, ask } = await bmcWith(t, {}, { idleMs: 0 })
  await ask().system()
  bmc.password = 'another-word'
  await ask({ redfish_password: 'another-word' }).system()
  while (bmc.sessions.size > 1) await setImmediate()
})

test('a BMC that hangs does not hold up the end of the process', async t => {
  const { bmc, bmcs, ask } = await bmcWith(t)
  await ask().system()
  bmc.fail({ kind: 'hang' })
  await bmcs.stop()
  assert.equal(bmc.seen('DELETE').length, 1)
})

test('a certificate must be trusted, unless the node says otherwise', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'bmc-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=bmc'
  const files = ['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert]
  execFileSync('openssl', [...words.split(' '), ...files], { stdio: 'ignore' })
  const tls = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  const { bmc, ask } = await bmcWith(t, { tls })
  await assert.rejects(ask().system(), /certificate of the BMC at .* is not trusted .*: set redfish_verify_ca/)
  await ask({ redfish_verify_ca: cert }).system()
  await ask({ redfish_verify_ca: false }).system()
  await ask({ redfish_verify_ca: cert, redfish_tls_minimum_version: '1.3' }).system()
  await assert.rejects(ask({ redfish_verify_ca: join(folder, 'none.pem') }).system(), /can't be read here \(ENOENT\)/)
  writeFileSync(join(folder, 'bad.pem'), 'not a certificate')
  await assert.rejects(ask({ redfish_verify_ca: join(folder, 'bad.pem') }).system(), BmcAway)
  await assert.rejects(ask({ redfish_address: bmc.address.replace('https', 'http') }).system(), BmcAway)
})

test('a hundred BMCs behind one server keep apart', async t => {
  const farm = await startBmcs(100)
  const bmcs = new Bmcs(QUICK)
  t.after(async () => {
    await bmcs.stop()
    await farm.stop()
  })
  const signal = AbortSignal.timeout(20_000)
  const read = farm.bmcs.map(async (bmc, at) => {
    const machine = { uuid: UUID, driverInfo: bmc.driverInfo() }
    if (at === 7)
      await bmcs.of(machine, signal).post(`${bmc.machine.path}/Actions/ComputerSystem.Reset`, { ResetType: 'On' })
    return (await bmcs.of(machine, signal).system()).body['PowerState']
  })
  const states = await Promise.all(read)
  assert.deepEqual(states.indexOf('On'), states.lastIndexOf('On'))
  assert.equal(states[7], 'On')
})

test('a change that is answered with 204 is done, also if the BMC announces a body', async t => {
  const server = createServer((_, response) => {
    response.sendDate = false
    response.socket!.end('HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const driverInfo = { redfish_address: `http://127.0.0.1:${port}`, redfish_username: 'admin', redfish_password: 'x' }
  const { access } = bmcSettingsOf({ uuid: UUID, driverInfo })
  const wire = new Wire(access, 2_000)
  t.after(async () => {
    await wire.close()
    server.close()
  })
  const signal = AbortSignal.timeout(20_000)
  const reply = await wire.ask({ method: 'POST', path: '/redfish/v1/x', body: {}, signal, ms: 10_000 })
  assert.deepEqual([reply.status, reply.text, reply.body], [204, '', null])
})
