// The command line: where settings come from, how a wrong one is told, and how the server starts and stops.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { parse } from 'yaml'
import { DEFAULT_RULES } from '../src/metal/nodes/inspection-defaults.ts'
import { inParallel } from './races/clients.ts'
import { typeHoldfast } from './support/command.ts'
import { expectStatus, Placement } from './support/placement.ts'
import { listening, runHoldfast } from './support/server.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-'))
after(() => rmSync(folder, { recursive: true }))
const fileWith = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const newDatabase = () => `sqlite:${join(folder, `${crypto.randomUUID()}.db`)}`

/** Each setting with four values: its default, and one for each place where it can be set. */
const SETTINGS: Record<string, [unknown, unknown, unknown, unknown]> = {
  host: ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'],
  port: [8780, 1001, 1002, 1003],
  database: ['sqlite:./holdfast.db', 'sqlite:./file.db', 'sqlite:./environment.db', 'sqlite:./flag.db'],
  auth: ['none', 'noauth2', 'none', 'noauth2'],
  insecure: [false, true, false, true],
  'host-names': ['', 'file', 'environment', 'flag'],
  users: ['./users.yaml', './file.yaml', './environment.yaml', './flag.yaml'],
  'token-hours': [12, 1, 2, 0.5],
  'keystone-url': [null, 'http://file.example', 'http://environment.example/v3', 'https://flag.example/identity'],
  'keystone-username': ['holdfast', 'file', 'environment', 'flag'],
  // Never shown, whatever it is.
  'keystone-password': [null, '***', '***', '***'],
  'keystone-password-file': [null, '/file', '/environment', '/flag'],
  'keystone-project': ['service', 'file', 'environment', 'flag'],
  'keystone-user-domain': ['Default', 'file', 'environment', 'flag'],
  'keystone-project-domain': ['Default', 'file', 'environment', 'flag'],
  'keystone-cache-seconds': [60, 1, 2, 3],
  'tls-cert': [null, '/file.pem', '/environment.pem', '/flag.pem'],
  'tls-key': [null, '/file.key', '/environment.key', '/flag.key'],
  'tls-client-ca': [null, '/file.ca', '/environment.ca', '/flag.ca'],
  'placement-policy': ['secure', 'legacy', 'open', 'legacy'],
  'policy-file': [null, 'file.yaml', 'environment.yaml', 'flag.yaml'],
  'randomize-candidates': [false, true, false, true],
  'cors-origin': [null, 'http://file.example', 'http://environment.example', 'http://flag.example'],
  ui: ['on', 'off', 'on', 'off'],
  'log-level': ['info', 'debug', 'warn', 'error'],
  'database-connections': [8, 11, 12, 13],
  'requests-max': [1_024, 11, 12, 13],
  'request-share': [25, 11, 12, 13],
  'streams-max': [1_000, 11, 12, 13],
  'linger-ms': [250, 11, 12, 13],
  'event-source': ['/holdfast', '/file', '/environment', '/flag'],
  'webhook-allow': ['', '10.0.0.0/8', '10.1.0.0/16', '10.2.0.0/16'],
  'mail-smtp': [null, 'smtp://file.example', 'smtp://environment.example', 'smtp://flag.example'],
  'mail-from': [null, 'file@example.org', 'environment@example.org', 'flag@example.org'],
  'mail-to-domains': ['', 'file.example', 'environment.example', 'flag.example'],
  'trust-forwarded': ['0', '1', '2', '10.0.0.0/8,::1'],
  'conductor-name': [null, 'file', 'environment', 'flag'],
  'conductor-port': [0, 9_101, 9_102, 9_103],
  'metrics-port': [0, 9_201, 9_202, 9_203],
  'metrics-token': [null, '***', '***', '***'],
  'conductor-group': ['', 'file', 'environment', 'flag'],
  'enabled-drivers': ['', 'fake-hardware', 'redfish', 'redfish,fake-hardware'],
  'allocation-check-ms': [1_000, 2_000, 3_000, 0],
  'reservation-ms': [600_000, 601_000, 602_000, 603_000],
  'reservation-max-ms': [86_400_000, 86_401_000, 86_402_000, 86_403_000],
  'take-over-ms': [10_000, 1_001, 1_002, 1_003],
  'fake-delay-ms': [0, 1, 2, 3],
  'media-url': [null, 'http://file.example', 'http://environment.example', 'http://flag.example'],
  audit: ['on', 'off', 'on', 'off'],
  'audit-keep-days': [0, 1, 2, 3],
  'inspection-rules': [DEFAULT_RULES, [{ set: { resource_class: 'file' } }], [], []],
  hooks: [
    {},
    { lab: { clean: { command: ['/bin/file'] } } },
    { lab: { clean: { command: ['/bin/environment'], seconds: 5 } } },
    { lab: {} },
  ],
  catalog: [
    {},
    { image: 'hidden' },
    { network: 'http://environment.example' },
    { network: { url: 'http://flag.example' } },
  ],
  'power-sync-seconds': [60, 1, 2, 3],
  'history-keep': [300, 1, 2, 3],
  'history-keep-days': [180, 1, 2, 3],
  'damaged-schema': [false, true, false, true],
  'test-clock': [false, true, false, true],
  'resize-confirm-minutes': [1_440, 1, 2, 3],
  queue: ['fifo', 'fair', 'fifo', 'fair'],
  'queue-half-life-hours': [168, 1, 2, 3],
  'lease-before-end-minutes': [60, 1, 2, 3],
  'lease-cleaning-minutes': [0, 1, 2, 3],
  'lease-healing-minutes': [60, 1, 2, 3],
  'lease-seconds-max': [0, 1, 2, 3],
  'lease-exempt-projects': ['', 'file', 'environment', 'flag'],
  'lease-hours-max': [0, 1, 2, 3],
  compute: ['own', 'off', 'own', 'off'],
  'nova-url': [null, 'http://file.example/v2.1', 'http://environment.example/v2.1', 'http://flag.example/v2.1'],
  'nova-poll-seconds': [10, 11, 12, 13],
  'lease-service-url': [null, 'http://file.example', 'http://environment.example', 'http://flag.example'],
  'lease-service-token': [null, '***', '***', '***'],
}

const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

async function printed(args: readonly string[], environment: Record<string, string> = {}) {
  const { code, stdout, stderr } = await typeHoldfast(['serve', '--print-config', ...args], { environment })
  assert.equal(code, 0, stderr)
  return parse(stdout) as Record<string, unknown>
}

test('every setting has a default, and the file, the environment and the flag each win over what is before', async () => {
  const column = (at: number) =>
    Object.fromEntries(Object.entries(SETTINGS).map(([name, values]) => [name, values[at]]))
  const file = fileWith('all.yaml', JSON.stringify(column(1)))
  const environment = Object.fromEntries(
    Object.entries(column(2)).map(([name, value]) => [
      `HOLDFAST_${name.replaceAll('-', '_').toUpperCase()}`,
      asText(value),
    ]),
  )
  const flags = Object.entries(column(3)).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, asText(value)],
  )
  assert.deepEqual(await printed([]), column(0))
  assert.deepEqual(await printed(['--config', file]), column(1))
  assert.deepEqual(await printed([], { HOLDFAST_CONFIG: file }), column(1))
  assert.deepEqual(await printed(['--config', file], environment), column(2))
  assert.deepEqual(await printed(['--config', file, ...flags], environment), column(3))
  const mixed = await printed(['--config', fileWith('some.yaml', 'port: 7\nauth: noauth2\n'), '--port', '9'])
  assert.deepEqual([mixed['port'], mixed['auth']], [9, 'noauth2'])
})

test('passwords are not shown', async () => {
  for (const address of ['postgres://me:s3cret@db/x', 'postgres://db/x?user=me&password=s3cret&sslmode=require']) {
    const { stdout } = await typeHoldfast(['serve', '--print-config', '--database', address])
    assert.doesNotMatch(stdout, /s3cret/)
    assert.match(stdout, /\*\*\*/)
    const { code, stderr } = await typeHoldfast(['serve', '--port', 'x', '--database', address])
    assert.equal(code, 2)
    assert.doesNotMatch(stderr, /s3cret/)
  }
  const ours = await printed([], { HOLDFAST_KEYSTONE_PASSWORD: 's3cret' })
  assert.equal(ours['keystone-password'], '***')
})

test('what is wrong with the command line is said in one line, with exit code 2', async () => {
  const missing = join(folder, 'missing.yaml')
  const wrong: [string[], RegExp][] = [
    [['serve', '--port', 'eighty'], /port .*'eighty'/],
    [['serve', '--database', 'mysql://x'], /database .*'mysql:\/\/x'/],
    [['serve', '--auth', 'trust'], /auth .*'trust'/],
    [['serve', '--database-connections', '0'], /database-connections/],
    [['serve', '--frobnicate'], /--frobnicate/],
    [['serve', '--port'], /--port/],
    [['serve', '--config', missing], /missing\.yaml/],
    [['serve', '--config', fileWith('broken.yaml', 'port: [')], /broken\.yaml/],
    [['serve', '--config', fileWith('list.yaml', '- port')], /list\.yaml/],
    [['serve', '--config', fileWith('unknown.yaml', 'prot: 1')], /no setting 'prot'/],
    [['serve', '--config', fileWith('wrong.yaml', 'port: many')], /wrong\.yaml.*'many'/],
    [['serve', '--policy-file', join(folder, 'no-policy.yaml')], /no-policy\.yaml/],
    [
      ['serve', '--policy-file', fileWith('action.yaml', 'baremetal:node:fly: admin')],
      /no action 'baremetal:node:fly'/,
    ],
    [['serve', '--policy-file', fileWith('rule.yaml', 'baremetal:node:get: emperor')], /node:get: .*no rule 'emperor'/],
    [['serve', '--policy-file', fileWith('rules.yaml', '- admin')], /rules\.yaml.*"action: rule"/],
    [['frobnicate'], /frobnicate/],
    [['serve', '--auth', 'keystone'], /--keystone-url/],
    [['serve', '--auth', 'keystone', '--keystone-url', 'http://k'], /keystone-password/],
    [
      ['serve', '--auth', 'password', '--users', missing, '--database', newDatabase()],
      /users file .*holdfast user add/,
    ],
    [['serve', '--tls-cert', '/x'], /tls-cert and tls-key go together/],
    [['serve', '--tls-cert', missing, '--tls-key', missing, '--database', newDatabase()], /can't serve TLS/],
    [['serve', '--database', `sqlite:${folder}/no/such/folder.db`], /can't open the database/],
  ]
  await inParallel(3, wrong.length, async index => {
    const [args, said] = wrong[index]!
    const { code, stdout, stderr } = await typeHoldfast(args)
    assert.equal(code, 2, `${args.join(' ')}: ${stderr}`)
    assert.equal(stdout, '')
    assert.match(stderr, said)
    assert.match(stderr, /^holdfast: [^\n]+\n$/, 'one line')
  })
  const { code, stderr } = await typeHoldfast(['serve'], { environment: { HOLDFAST_PORT: 'x' } })
  assert.equal(code, 2)
  assert.match(stderr, /port .*environment.*'x'/)
})

test('help is no error', async () => {
  for (const args of [['--help'], ['serve', '--help'], ['help']]) {
    const { code, stdout } = await typeHoldfast(args)
    assert.equal(code, 0)
    assert.match(stdout, /Usage: holdfast/)
  }
})

test('a server that lets everyone in listens to itself only, unless one insists', async () => {
  for (const host of ['0.0.0.0', 'example.org']) {
    const { code, stderr } = await typeHoldfast(['serve', '--auth', 'none', '--host', host, '--port', '0'])
    assert.equal(code, 2)
    assert.match(stderr, /--insecure/)
  }
  const args = [
    'serve',
    '--auth',
    'none',
    '--host',
    '0.0.0.0',
    '--port',
    '0',
    '--insecure',
    '--database',
    newDatabase(),
  ]
  const server = await listening(runHoldfast(args))
  assert.equal((await server.terminate()).code, 0)
})

test('a start tells where it listens and what to try, and the first request is answered', async () => {
  const command = runHoldfast(['serve', '--port', '0', '--database', newDatabase()])
  const server = await listening(command)
  const api = new Placement(server.origin)
  expectStatus(await api.get('/', { token: null, version: null }), 200)
  assert.match(command.stdout(), /database +sqlite:/)
  const urls = [...command.stdout().matchAll(/http:\/\/\S+\/placement\S*/g)].map(([url]) => url)
  assert.equal(urls.length, 3)
  for (const url of urls) assert.equal((await fetch(url)).status, 200, url)
  api.close()
  await server.stop()
})

test('a port that is taken is said in one line', async () => {
  const server = await listening(runHoldfast(['serve', '--port', '0', '--database', newDatabase()]))
  const { port } = new URL(server.origin)
  const { code, stderr } = await typeHoldfast(['serve', '--port', port, '--database', newDatabase()])
  assert.equal(code, 1)
  assert.match(stderr, /^holdfast: .*EADDRINUSE[^\n]*\n$/)
  await server.stop()
})

test('fsck exits with 0 on a whole ledger and with 1 on a broken one, and names what is broken', async () => {
  const database = newDatabase()
  const server = await listening(runHoldfast(['serve', '--port', '0', '--database', database]))
  const api = new Placement(server.origin)
  const provider = await api.provider({ VCPU: 8 })
  expectStatus(await api.claim(crypto.randomUUID(), { [provider]: { VCPU: 2 } }), 204)
  api.close()
  const beside = await typeHoldfast(['fsck', '--database', database])
  assert.equal(beside.code, 0, 'beside a running server')
  const asked = await typeHoldfast(['fsck', '--url', server.origin, '-f', 'json'])
  assert.equal(asked.code, 0, asked.stderr)
  assert.equal(JSON.parse(asked.stdout).violations, 0)
  const both = await typeHoldfast(['--url', server.origin, 'fsck', '--database', database])
  assert.deepEqual([both.code, both.stdout], [2, ''])
  await server.stop()
  const whole = await typeHoldfast(['fsck', '--database', database])
  assert.equal(whole.code, 0, whole.stderr)
  assert.match(whole.stdout, /^ +0 {2}violations in all$/m)

  const file = new DatabaseSync(database.slice('sqlite:'.length))
  file.exec('update inventories set used = 5')
  file.close()
  const broken = await typeHoldfast(['fsck', '--database', database])
  assert.equal(broken.code, 1)
  assert.match(broken.stdout, /^ +1 {2}an inventory’s use is the sum of its claims$/m)
  assert.match(broken.stdout, /^ +1 {2}violations in all$/m)
  const document = await typeHoldfast(['fsck', '--database', database, '-f', 'json'])
  assert.equal(document.code, 1)
  const { violations, invariants } = JSON.parse(document.stdout)
  assert.deepEqual(
    [violations, invariants.filter((found: { violations: number }) => found.violations > 0).length],
    [1, 1],
  )
})
