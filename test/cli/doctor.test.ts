// holdfast doctor: what it finds, what it says to do, and that it leaves everything as it was.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { examine } from '../../src/cli/doctor/examine.ts'
import { localChecks } from '../../src/cli/doctor/local.ts'
import { openStore } from '../../src/store/open.ts'
import { VERSION } from '../../src/shared/version.ts'
import { stateOf } from '../policy/state.ts'
import { typeHoldfast } from '../support/command.ts'
import { Compute } from '../support/compute.ts'
import { usersText } from '../support/identity.ts'
import { runHoldfast, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { atLogin, atShell } from './person.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-doctor-'))
after(() => rmSync(folder, { recursive: true }))

interface Row {
  side: string
  check: string
  grade: string
  found: string
  hint: string | null
}

/** What it found, by the name of the check. In a folder it is a process of its own: that is how it finds what is there. */
async function examined(line: string, more: Record<string, string> = {}, cwd: string | null = null) {
  const calm = { OS_CLOUD: '', OS_AUTH_URL: '', OS_USERNAME: '', OS_TOKEN: '', OS_ENDPOINT: '', HOME: '/nonexistent' }
  const words = ['doctor', ...line.split(' ').filter(Boolean), '-f', 'json']
  const environment = { ...calm, ...more }
  const { code, stdout, stderr } = await (cwd === null
    ? typeHoldfast(words, { environment })
    : runHoldfast(words, environment, cwd).exit)
  assert.equal(stderr, '')
  return { code, ...summed(JSON.parse(stdout) as Row[]) }
}

const summed = (rows: readonly Row[]) => ({
  checks: rows.map(({ check }) => check),
  sides: new Set(rows.map(({ side }) => side)),
  of: (check: string) => rows.find(row => row.check === check)!,
  notOk: rows.filter(({ grade }) => grade !== 'ok').map(({ check, grade }) => `${check}: ${grade}`),
})

/** The same for this machine, without a process for each look. */
async function lookedAt(flags: Record<string, string>) {
  const rows: Row[] = []
  for await (const result of examine(localChecks, { flags, env: {} })) rows.push({ side: 'machine', ...result })
  return summed(rows)
}

const ON_THE_WAY = ['address', 'port', 'alive', 'ready', 'version', 'clock', 'login']
const APIS = ['placement', 'baremetal', 'compute', 'image', 'reservation', 'identity']

atShell('holdfast doctor', person => {
  test('a server that is well has nothing but good marks', async () => {
    const { code, checks, notOk, of, sides } = await examined(`--url ${person.origin}`)
    assert.deepEqual([code, notOk, [...sides]], [0, [], ['server']])
    assert.deepEqual(checks, [
      ...ON_THE_WAY,
      ...APIS,
      'conductors',
      'drivers',
      'nodes',
      'twins',
      'machines',
      'hosts',
      'nova',
      'fsck',
    ])
    assert.equal(of('address').found, `${person.origin} (from: --url)`)
    assert.match(of('baremetal').found, /microversions 1\.1 to 1\.83/)
    assert.match(of('version').found, new RegExp(VERSION.replaceAll('.', '\\.')))
  })

  test('compute may be a Nova, or off', async () => {
    for (const [settings, found] of [
      [{ compute: 'nova', novaUrl: 'http://127.0.0.1:9/v2.1' }, 'served by the Nova at http://127.0.0.1:9/v2.1/'],
      [{ compute: 'off' }, 'off'],
    ] as const) {
      const server = await startServer('sqlite::memory:', { auth: 'none', ...settings })
      const { of } = await examined(`--url ${server.origin}`)
      assert.deepEqual([of('compute').grade, of('compute').found], ['ok', found])
      await server.stop()
    }
  })

  test('nodes in maintenance and in failed states are counted', async () => {
    const { nodes } = await person.library()
    const { uuid } = await nodes.create({ driver: 'fake-hardware', name: 'resting' })
    await nodes.startMaintenance(uuid)
    const { of } = await examined(`--url ${person.origin}`)
    assert.match(of('nodes').found, /1 in sight, 1 in maintenance, 0 in a failed state/)
  })

  test('machines that do not answer are told with their reasons', async () => {
    const { nodes } = await person.library()
    const [well, ill] = ['doctor-well', 'doctor-ill']
    await nodes.create({ driver: 'fake-hardware', name: well })
    await nodes.create({ driver: 'fake-hardware', name: ill, driver_info: { fake_fail: 'validate' } })
    const { code, of } = await examined(`--url ${person.origin}`)
    assert.deepEqual([code, of('machines').grade], [0, 'warning'])
    assert.match(of('machines').found, /^1 of \d+ can't be driven. doctor-ill: fake-hardware was told to fail/)
    assert.match(of('drivers').found, /fake-hardware/)
    for (const name of [well, ill]) await nodes.delete(name)
  })

  test('in a pipe its signs are words, and each is a line', async () => {
    const { code, stdout } = await person.types(`doctor --url ${person.origin}`)
    assert.equal(code, 0)
    assert.match(stdout, /^ {2}ok {3}address {6}\S+ \(from: --url\)$/m)
    assert.match(stdout, /^All 21 checks are fine\.$/m)
    // oxlint-disable-next-line no-control-regex -- that is what it is about
    assert.match(stdout, /^[\x00-\x7f]*$/)
  })
})

atLogin('holdfast doctor and who one is', ({ api }) => {
  const as = (name: string) => ({ OS_USERNAME: name, OS_PASSWORD: `${name}-pw`, OS_PROJECT_NAME: 'lab' })

  test('it says as whom one is logged in, and leaves out what is not for them', async () => {
    const alice = await examined(`--url ${api.origin}`, as('alice'))
    assert.deepEqual([alice.code, alice.notOk], [0, []])
    assert.equal(alice.of('login').found, 'alice in lab: admin, member, reader')
    const bob = await examined(`--url ${api.origin}`, as('bob'))
    assert.deepEqual([bob.code, bob.notOk], [0, ['hosts: unknown', 'nova: unknown', 'fsck: unknown']])
    const token = await examined(`--url ${api.origin}`, { OS_TOKEN: await api.token('carol', undefined) })
    assert.match(token.of('login').found, /^carol in /)
  })

  test('nobody is told what to do, a wrong password what was tried, and what needs a login is left out', async () => {
    const examinedAs = async (who: Record<string, string>) => {
      const { code, checks, of } = await examined(`--url ${api.origin}`, who)
      assert.equal(code, 1)
      assert.deepEqual(checks, ON_THE_WAY)
      assert.equal(of('login').grade, 'wrong')
      return of('login')
    }
    assert.match((await examinedAs({})).hint!, /OS_USERNAME/)
    assert.match((await examinedAs({ ...as('alice'), OS_PASSWORD: 'wrong' })).found, /not accepted: alice/)
  })

  test('where only the identity service is known, its catalog says where Holdfast is', async () => {
    const { code, of } = await examined(`--os-auth-url ${api.origin}/identity`, as('alice'))
    assert.equal(code, 0)
    assert.match(of('address').found, /^the catalog of \S+\/identity\/v3 \(from: --os-auth-url\)$/)
    assert.equal(of('catalog').found, `Holdfast is at ${api.origin}`)
  })
})

/** Something that listens, and is sick in a way that the test says. */
async function listening(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('where nothing listens, where there is no such host, and where something else is, it stops there', async () => {
  const refused = await examined('--url http://127.0.0.1:9')
  assert.deepEqual([refused.code, refused.checks], [1, ['address', 'port']])
  assert.match(refused.of('port').hint!, /holdfast serve/)
  const lost = await examined('--url http://no-such-host.invalid')
  assert.deepEqual([lost.code, lost.checks], [1, ['address', 'name']])
  const other = await examined(`--url ${await listening((_, response) => response.end('hello'))}`)
  assert.deepEqual([other.code, other.checks], [1, ['address', 'port', 'alive']])
  assert.match(other.of('alive').found, /is no Holdfast/)
  const unclear = await examined('--os-cloud none')
  assert.deepEqual([unclear.code, unclear.checks], [1, ['address']])
})

test('a database that is away, another version, a clock that is off and dead conductors are told apart', async () => {
  const answers: Record<string, [number, unknown]> = {
    '/': [200, { name: 'holdfast', version: '99.0.0' }],
    '/healthz': [200, { status: 'alive' }],
    '/readyz': [503, { error: {} }],
    '/baremetal/v1/nodes': [200, { nodes: [{ uuid: 'u', provision_state: 'clean failed', maintenance: false }] }],
    '/baremetal/v1/conductors': [200, { conductors: [{ hostname: 'c1', alive: false }] }],
  }
  const url = await listening((request, response) => {
    const [status, body] = answers[request.url!.split('?', 1)[0]!] ?? [404, {}]
    response.writeHead(status, { date: new Date(Date.now() - 3_600_000).toUTCString() })
    response.end(JSON.stringify(body))
  })
  const { code, of, checks } = await examined(`--url ${url}`)
  assert.equal(code, 1)
  assert.match(of('ready').found, /503/)
  assert.deepEqual([of('ready').grade, of('conductors').grade], ['wrong', 'wrong'])
  assert.deepEqual([of('version').grade, of('clock').grade], ['warning', 'warning'])
  assert.match(of('clock').found, /(3600|3599)\.\d s behind/)
  assert.match(of('nodes').found, /1 in a failed state\. Out of use: /)
  assert.equal(of('nodes').grade, 'warning')
  assert.equal(of('placement').grade, 'wrong')
  assert.ok(!checks.includes('fsck'), 'what needs the database is left out')
})

eachDatabase('holdfast doctor on the machine that runs it', databases => {
  test("it says whose servers there are, and that some of our own are left where they are a Nova's", async () => {
    const database = await databases.create()
    const nova = { auth: 'password', compute: 'nova', novaUrl: 'http://nova:8774/v2.1' }
    const look = async (flags: Record<string, string>) =>
      (await lookedAt({ database, port: '0', ...flags })).of('compute')
    assert.equal(await look({}), undefined)
    assert.deepEqual(await look({ compute: 'off' }), {
      side: 'machine',
      check: 'compute',
      grade: 'ok',
      found: 'compute is off',
      hint: null,
    })
    assert.equal((await look(nova)).found, 'servers are those of the Nova at http://nova:8774/v2.1')
    const server = await startServer(database)
    const api = new Compute(server.origin)
    await api.hypervisor()
    await api.server(await api.flavor())
    api.close()
    await server.stop()
    const { grade, found, hint } = await look(nova)
    assert.equal(grade, 'warning')
    assert.match(found, /v2\.1, but 1 server of our own compute is left$/)
    assert.match(hint!, /start once with --compute own and delete them there/)
    assert.equal((await look({ compute: 'off' })).grade, 'warning')
  })

  test('a new database lacks its migrations, a served one has them, and looking changes nothing', async () => {
    const database = await databases.createEmpty()
    const isFile = databases.kind === 'sqlite'
    const first = await examined(`--database ${database} --port 0`)
    assert.equal(first.code, 0)
    assert.deepEqual(first.notOk, [isFile ? 'database: warning' : 'migrations: warning'])
    const file = database.slice('sqlite:'.length)
    const beside = () => (isFile ? readdirSync(dirname(file)).filter(name => name.startsWith(basename(file))) : [])
    assert.deepEqual(beside(), [], 'no file was made')

    const server = await startServer(database, { auth: 'none' })
    const { port } = new URL(server.origin)
    const state = await stateOf(database)
    const before = await state.hash()
    const running = await examined(`--database ${database} --port ${port}`)
    assert.deepEqual([running.code, running.notOk], [0, []])
    assert.equal(running.of('port').found, `a Holdfast listens on ${port}`)
    const own = isFile ? ['disk', 'migrations', 'schema'] : ['migrations', 'schema', 'clock']
    assert.deepEqual(running.checks, ['settings', 'database', ...own, 'drivers', 'port'])
    assert.match(running.of('drivers').found, /^a conductor here offers fake-hardware/)
    assert.equal(await state.hash(), before)
    await state.close()
    await server.stop()

    const rest = beside()
    const stopped = await examined(`--database ${database} --port ${port}`)
    assert.deepEqual([stopped.code, stopped.notOk], [0, []])
    assert.equal(stopped.of('port').found, `${port} on 127.0.0.1 is free`)
    assert.deepEqual(beside(), rest, 'no file came or went')
  })

  test('a database that lacks a part of its schema is wrong, and a warning where it is served all the same', async () => {
    const database = await databases.create()
    const store = openStore(database)
    await store.script(run => run('drop index deliveries_due'))
    await store.close()
    const look = async (flags: object) => (await lookedAt({ database, port: '0', ...flags })).of('schema')
    const { grade, found } = await look({})
    assert.deepEqual(
      [grade, found],
      ['wrong', "the database's schema is damaged: it lacks index deliveries.deliveries_due"],
    )
    assert.equal((await look({ damagedSchema: true })).grade, 'warning')
  })
})

test('settings are told by where they came from; wrong ones end it', async () => {
  const file = join(folder, 'settings.yaml')
  writeFileSync(file, `port: 0\ndatabase: sqlite:${join(folder, 'settings.db')}\n`)
  const good = await examined(`--config ${file}`, { HOLDFAST_AUTH: 'noauth2' })
  assert.match(
    good.of('settings').found,
    new RegExp(`^port, database from ${file}; auth from the environment; \\d+ by default$`),
  )
  const bad = await examined('--port many')
  assert.deepEqual([bad.code, bad.checks], [1, ['settings']])
  assert.match(bad.of('settings').found, /'many' is not valid/)
})

test('a users file for all eyes is a warning, one that all may change is wrong, and so is none', async () => {
  const users = join(folder, 'users.yaml')
  const flags = { auth: 'password', users, port: '0', database: 'sqlite::memory:' }
  const grade = async () => (await lookedAt(flags)).of('users').grade
  assert.equal(await grade(), 'wrong')
  writeFileSync(users, await usersText())
  for (const [mode, expected] of [
    [0o600, 'ok'],
    [0o644, 'warning'],
    [0o666, 'wrong'],
  ] as const) {
    chmodSync(users, mode)
    assert.equal(await grade(), expected)
  }
})

test('a database that everyone may read is warned of: keys and passwords of machines are in it', async () => {
  const path = join(folder, 'wide.db')
  const server = await startServer(`sqlite:${path}`)
  await server.stop()
  const grade = async () => (await lookedAt({ database: `sqlite:${path}`, port: '0' })).of('database')
  assert.equal((await grade()).grade, 'ok')
  chmodSync(path, 0o644)
  assert.deepEqual([(await grade()).grade, (await grade()).hint], ['warning', `chmod 600 ${path}`])
})

test('a file that is no database, a folder that is not there and a port that others have are wrong', async () => {
  writeFileSync(join(folder, 'text.db'), 'no database '.repeat(1_000))
  const notOk = async (flags: Record<string, string>) => (await lookedAt({ port: '0', ...flags })).notOk
  for (const name of ['text.db', 'no/such/a.db']) {
    assert.deepEqual(await notOk({ database: `sqlite:${join(folder, name)}` }), ['database: wrong'])
  }
  const { port } = new URL(await listening((_, response) => response.end('hello')))
  assert.deepEqual(await notOk({ database: 'sqlite::memory:', port }), ['database: warning', 'port: wrong'])
  const away = await lookedAt({ database: 'postgres://me:s3cret@127.0.0.1:9/x', port: '0' })
  assert.deepEqual(away.notOk, ['database: wrong'])
  assert.doesNotMatch(away.of('database').found, /s3cret/)
})

test('without a word it looks at the server, and at this machine where the service seems to be at home', async () => {
  const nowhere = { HOLDFAST_URL: 'http://127.0.0.1:9' }
  const empty = mkdtempSync(join(folder, 'empty-'))
  const home = mkdtempSync(join(folder, 'home-'))
  writeFileSync(join(home, 'holdfast.db'), '')
  assert.deepEqual([...(await examined('', nowhere, home)).sides], ['machine', 'server'])
  const set = { ...nowhere, HOLDFAST_DATABASE: 'sqlite::memory:' }
  assert.deepEqual([...(await examined('', set, empty)).sides], ['machine', 'server'])
  assert.deepEqual([...(await examined('--url http://127.0.0.1:9', set, home)).sides], ['server'])
})
