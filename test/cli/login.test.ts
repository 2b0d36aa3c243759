// Ways in: a password typed at a terminal, flags, certificates, application credentials; and what becomes of
// `holdfast run` when its token ends or its server goes.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { stringify } from 'yaml'
import { connect, type Holdfast } from '../../src/client/index.ts'
import { hashPassword } from '../../src/identity/passwords.ts'
import { launchHoldfast } from '../support/command.ts'
import { hashOf, usersText } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'
import { type Server, startServer } from '../support/server.ts'
import { atLogin, BIN, hasScript, Person, until } from './person.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-login-'))
after(() => rmSync(folder, { recursive: true }))

const as = (name: string) => ({ OS_USERNAME: name, OS_PASSWORD: `${name}-pw`, OS_PROJECT_NAME: 'lab' })

atLogin('holdfast and ways in', ({ api, file }) => {
  const person = new Person(() => api.origin)

  test(
    'a password that is missing is asked for at a terminal, and not shown',
    { skip: !hasScript && 'script(1) is not here' },
    async () => {
      const { OS_PASSWORD: _, ...who } = as('alice')
      for (const [password, expected] of [
        ['alice-pw', 0],
        ['wrong', 5],
      ] as const) {
        const child = spawn('script', ['-qec', `${BIN} node list -f json`, '/dev/null'], {
          env: { ...process.env, OS_CLOUD: '', OS_PASSWORD: '', HOLDFAST_URL: api.origin, ...who },
          stdio: ['pipe', 'pipe', 'inherit'],
        })
        let shown = ''
        child.stdout.on('data', chunk => (shown += String(chunk)))
        await until(
          async () => shown,
          text => text.includes('Password of alice: '),
        )
        child.stdin.write(`${password}\r`)
        await once(child, 'close')
        assert.equal(child.exitCode, expected, shown)
        assert.ok(!shown.includes(password), shown)
      }
    },
  )

  test('where nobody sits, nobody is asked', async () => {
    const { OS_PASSWORD: _, ...who } = as('alice')
    const { code, stderr } = await person.types('node list', who)
    assert.equal(code, 2)
    assert.equal(stderr, 'holdfast: there is no password for alice; set OS_PASSWORD\n')
  })

  test('a wrong name, password or project are one answer to strangers; who proves to be someone hears their projects', async () => {
    const said = async (who: Record<string, string>) => {
      const { code, stderr } = await person.types('node list', who)
      assert.equal(code, 5, stderr)
      return stderr
    }
    const refused = (who: string) => `holdfast: name, password or project not accepted: ${who}\n`
    assert.equal(await said({ ...as('bob'), OS_PASSWORD: 'wrong' }), refused('bob in lab'))
    assert.equal(await said(as('nobody')), refused('nobody in lab'))
    assert.equal(
      await said({ ...as('bob'), OS_PASSWORD: 'wrong', OS_PROJECT_NAME: 'nowhere' }),
      refused('bob in nowhere'),
    )
    for (const project of ['office', 'nowhere']) {
      const wrong = await said({ ...as('bob'), OS_PROJECT_NAME: project })
      assert.equal(wrong, `holdfast: bob has no role in ${project}; bob's projects: lab\n`)
    }
    assert.match(await said({}), /asks who you are.*set OS_USERNAME, OS_PASSWORD and OS_PROJECT_NAME/)
    assert.match(await said({ OS_TOKEN: 'old' }), /token is not accepted/)
    const basic = { OS_AUTH_TYPE: 'http_basic', OS_USERNAME: 'bob', OS_PASSWORD: 'wrong' }
    assert.match(await said(basic), /name or password not accepted: bob/)
    for (const [settings, missing] of [
      [{ OS_AUTH_TYPE: 'http_basic' }, 'OS_USERNAME'],
      [{ OS_AUTH_TYPE: 'v3applicationcredential' }, 'OS_APPLICATION_CREDENTIAL_ID'],
      [
        { OS_AUTH_TYPE: 'v3applicationcredential', OS_APPLICATION_CREDENTIAL_ID: 'x' },
        'OS_APPLICATION_CREDENTIAL_SECRET',
      ],
    ] as const) {
      const { code, stderr } = await person.types('node list', settings)
      assert.equal(code, 2)
      assert.ok(stderr.includes(`set ${missing}`), stderr)
    }
  })

  test('the flags of the openstack command say who, before the command or after it, and win over the environment', async () => {
    const who = '--os-username alice --os-password alice-pw --os-project-name lab --os-user-domain-name Default'
    const before = await person.types(`${who} node list`)
    assert.equal(before.code, 0, before.stderr)
    const wrong = { ...as('bob'), OS_PROJECT_ID: 'none', OS_TOKEN: 'none' }
    const created = await person.types(`node create --name by-flags -f value -c name ${who}`, wrong)
    assert.equal(created.stdout, 'by-flags\n', created.stderr)
    const nearer = await person.types(`--os-username nobody node list ${who}`, wrong)
    assert.equal(nearer.code, 0, nearer.stderr)
  })

  test('where, by flags: the identity service and its catalog, a token, a cloud with another user', async () => {
    const elsewhere = { HOLDFAST_URL: 'http://127.0.0.1:9' }
    const where = `--os-auth-url ${api.origin}/identity --os-region-name RegionOne`
    const catalog = await person.types(`${where} node list`, { ...as('alice'), ...elsewhere })
    assert.equal(catalog.code, 0, catalog.stderr)
    const lost = await person.types(`--os-auth-url ${api.origin}/identity --os-region-name Mars node list`, as('alice'))
    assert.equal(lost.code, 2)
    assert.match(lost.stderr, /has no Holdfast/)
    const token = await api.token('alice')
    const endpoint = await person.types(
      `node list --os-token ${token} --os-endpoint ${api.origin}/baremetal`,
      elsewhere,
    )
    assert.equal(endpoint.code, 0, endpoint.stderr)
    const clouds = join(folder, 'clouds.yaml')
    const auth = { auth_url: `${api.origin}/identity`, username: 'bob', password: 'bob-pw', project_name: 'lab' }
    writeFileSync(clouds, stringify({ clouds: { ours: { auth } } }))
    const cloud = (line: string) => person.types(line, { OS_CLIENT_CONFIG_FILE: clouds, ...elsewhere })
    assert.equal((await cloud('--os-cloud ours node create')).code, 5)
    const other = await cloud('--os-cloud ours node create --os-username alice --os-password alice-pw')
    assert.equal(other.code, 0, other.stderr)
  })

  test('an application credential is a way in', async () => {
    const { body, headers } = expectStatus(await api.logIn('alice'), 201)
    const path = `/v3/users/${body.token.user.id}/application_credentials`
    const options = { token: headers['x-subject-token'] as string }
    const made = expectStatus(await api.post(path, { application_credential: { name: 'robot' } }, options), 201)
    const { id, secret } = made.body.application_credential
    for (const credential of [
      { OS_APPLICATION_CREDENTIAL_ID: id },
      { OS_APPLICATION_CREDENTIAL_NAME: 'robot', OS_USERNAME: 'alice' },
    ]) {
      const environment = { OS_AUTH_TYPE: 'v3applicationcredential', OS_APPLICATION_CREDENTIAL_SECRET: secret }
      const { code, stderr } = await person.types('node list', { ...environment, ...credential })
      assert.equal(code, 0, stderr)
    }
    const wrong = { OS_APPLICATION_CREDENTIAL_ID: id, OS_APPLICATION_CREDENTIAL_SECRET: 'wrong' }
    assert.equal((await person.types('node list', wrong)).code, 5)
  })

  async function addNode(nodes: Holdfast['nodes'], resource_class: string): Promise<string> {
    const { uuid } = await nodes.create({ driver: 'fake-hardware', resource_class })
    for (const [verb, state] of [
      ['manage', 'manageable'],
      ['provide', 'available'],
    ] as const) {
      await nodes.provision(uuid, verb)
      await until(
        () => nodes.show(uuid),
        ({ provision_state }) => provision_state === state,
      )
    }
    return uuid
  }

  /** Sets the same password anew: all tokens of alice from before end. */
  async function endTokens(): Promise<void> {
    const before = await api.token('alice')
    const text = (await usersText()).replace(await hashOf('alice-pw'), await hashPassword('alice-pw', randomBytes(16)))
    writeFileSync(file(), text)
    assert.equal(
      await until(
        () => api.knock(before),
        status => status === 401,
      ),
      401,
    )
  }

  test('when its token ends, run logs in again and keeps its node', async () => {
    const library = () => connect({ url: api.origin, env: as('alice') })
    const { nodes } = await library()
    await addNode(nodes, 'gpu')
    const sign = join(folder, `run-${new URL(api.origin).port}`)
    const script = `touch ${sign}; while [ ! -e ${sign}.end ]; do sleep 0.1; done`
    const line = ['run', '--resource-class', 'gpu', '--renew-every', '2', '--', 'sh', '-c', script]
    const { exit } = person.starts(line, as('alice'))
    assert.ok(await until(async () => existsSync(sign), Boolean), 'it has begun')
    await endTokens()
    const { allocations } = await library()
    const [first] = await allocations.list()
    const renewed = await until(
      async () => (await allocations.list())[0],
      // Longer than a term, so that it was renewed with a token of the new user.
      found => Date.parse(found?.expires_at ?? '') > Date.parse(first!.expires_at!) + 6_000,
    )
    assert.equal(renewed?.uuid, first!.uuid)
    writeFileSync(`${sign}.end`, '')
    const { code, stderr } = await exit
    assert.equal(code, 0, stderr)
    assert.deepEqual(await allocations.list(), [])
  })

  test('when its token ends, a command that waits logs in again and goes on', async () => {
    const library = () => connect({ url: api.origin, env: as('alice') })
    const command = person.begins('allocation create --resource-class late --wait-until 10m --wait', as('alice'))
    const says = (words: string) =>
      until(
        async () => command.said.stderr,
        text => text.includes(words),
      )
    assert.match(await says('waiting for a node'), /there is none of class late/)
    await endTokens()
    const { nodes } = await library()
    const uuid = await addNode(nodes, 'late')
    const { code, stderr, stdout } = await command.exit
    assert.equal(code, 0, stderr)
    assert.match(stdout, new RegExp(`^node_uuid +${uuid}$`, 'm'))
  })
})

test('when the server is gone, run ends its command before the allocation ends', async () => {
  const path = join(folder, 'lost.db')
  const server = await startServer(`sqlite:${path}`, { auth: 'none' })
  const person = new Person(() => server.origin)
  await person.node('gpu-1')
  const [began, ended] = [join(folder, 'began'), join(folder, 'ended')]
  const script = `trap 'date +%s%3N > ${ended}; exit 0' TERM; touch ${began}; while :; do sleep 0.05; done`
  const { exit } = person.starts(['run', '--resource-class', 'gpu', '--renew-every', '3', '--', 'sh', '-c', script])
  assert.ok(await until(async () => existsSync(began), Boolean), 'it has begun')
  await server.stop()
  const { code, stderr } = await exit
  assert.equal(code, 4, stderr)
  assert.match(stderr, /the node is lost: the server was away for too long \(no answer .*\); the command was ended/)
  const database = new DatabaseSync(path, { readOnly: true })
  const { expires_at: endsAt } = database.prepare('select expires_at from allocations').get() as { expires_at: number }
  database.close()
  assert.ok(Number(readFileSync(ended, 'utf8')) < endsAt)
})

const noOpenssl = spawnSync('openssl', ['version']).status !== 0 && 'needs openssl to make certificates'

describe('holdfast and TLS', { skip: noOpenssl }, () => {
  const [cert, key] = [join(folder, 'tls.pem'), join(folder, 'tls.key')]
  let server: Server
  // Whom a process trusts, it trusts to its end.
  const person = new Person(() => server.origin, launchHoldfast)
  before(async () => {
    const how = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    const what = ['-subj', '/CN=lab', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert]
    execFileSync('openssl', [...how, ...what], { stdio: 'ignore' })
    server = await startServer('sqlite::memory:', { auth: 'none', tlsCert: cert, tlsKey: key })
  })
  after(() => server?.stop())

  test('a certificate that nobody knows is refused, and the line says how to trust it', async () => {
    await person.isRefused('node list', 6, /self-signed certificate \(.*--os-cacert/)
  })

  test('one that is named is trusted: by a flag, in the environment, in clouds.yaml', async () => {
    for (const [line, environment] of [
      [`node list --os-cacert ${cert}`, {}],
      ['node list', { OS_CACERT: cert }],
    ] as const) {
      const { code, stderr } = await person.types(line, environment)
      assert.equal(code, 0, stderr)
    }
    const file = join(folder, 'tls-clouds.yaml')
    const cloud = { auth_type: 'none', auth: { endpoint: server.origin }, cacert: cert }
    writeFileSync(file, stringify({ clouds: { ours: cloud } }))
    const { code, stderr } = await person.types('node list --os-cloud ours', { OS_CLIENT_CONFIG_FILE: file })
    assert.equal(code, 0, stderr)
    await person.isRefused('node list --os-cacert /nonexistent.pem', 2, /can't use the certificates in \/nonexistent/)
  })

  test('the doctor says until when it is valid, and what to do about one that is not trusted', async () => {
    const rows = async (...more: string[]) => {
      const { code, stdout } = await person.types(['doctor', '--url', server.origin, '-f', 'json', ...more])
      return { code, tls: JSON.parse(stdout).find(({ check }: { check: string }) => check === 'tls') }
    }
    const unknown = await rows()
    assert.deepEqual([unknown.code, unknown.tls.grade], [1, 'wrong'])
    assert.match(unknown.tls.hint, /--os-cacert/)
    const trusted = await rows('--os-cacert', cert)
    assert.deepEqual([trusted.code, trusted.tls.grade], [0, 'warning'])
    assert.match(trusted.tls.found, /^TLSv1\.3, the certificate is valid until \d{4}-\d\d-\d\d, 1 more day$/)
  })
})
