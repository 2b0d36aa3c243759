// Which server a client talks to, and as which user.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConnectionUnclear } from './errors.ts'
import { whereIs } from './where.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-where-'))
after(() => rmSync(folder, { recursive: true }))
const CLOUDS = join(folder, 'openstack', 'clouds.yaml')
mkdirSync(join(folder, 'openstack'))
writeFileSync(
  CLOUDS,
  `clouds:
  lab:
    auth: {auth_url: "http://lab:8780/identity", username: ann, password: 5, project_name: lab, user_domain_name: Default}
    region_name: RegionOne
    cacert: /ca.pem
  robot:
    auth_type: v3applicationcredential
    auth: {auth_url: "http://lab:8780/identity/v3", application_credential_id: abc, application_credential_secret: s}
  plain:
    auth_type: http_basic
    auth: {endpoint: "http://lab:8780/baremetal/", username: ann, password: p}
  blind: {verify: false}
`,
)
const env = { XDG_CONFIG_HOME: folder, HOME: folder }

test('without options it is this machine, without a user', () => {
  const { url, credentials } = whereIs({ env: {} })
  assert.equal(url, 'http://127.0.0.1:8780')
  assert.deepEqual(credentials, { kind: 'nobody' })
})

test('an option wins over the environment, and the address of one API gives that of all', () => {
  const HOLDFAST_URL = 'https://a.example/holdfast-here/'
  assert.equal(whereIs({ env: { HOLDFAST_URL } }).url, 'https://a.example/holdfast-here')
  assert.equal(whereIs({ url: 'http://b:1', env: { HOLDFAST_URL } }).url, 'http://b:1')
  for (const api of ['baremetal', 'baremetal/v1', 'placement/', 'reservation/v1', 'identity/v3/']) {
    assert.equal(whereIs({ env: { OS_AUTH_TYPE: 'none', OS_ENDPOINT: `http://c:1/${api}` } }).url, 'http://c:1')
  }
})

test('environment variables have the names of OpenStack’s clients', () => {
  const given = {
    OS_AUTH_URL: 'http://k/v3/',
    OS_USERNAME: 'ann',
    OS_PASSWORD: 'p',
    OS_PROJECT_NAME: 'lab',
    OS_USER_DOMAIN_NAME: 'D',
  }
  assert.deepEqual(whereIs({ env: given }), {
    url: null,
    authUrl: 'http://k/v3',
    credentials: {
      kind: 'password',
      user: { name: 'ann', domain: { name: 'D' } },
      password: 'p',
      project: { name: 'lab', domain: { id: 'default' } },
      isSystem: false,
    },
    region: null,
    cacert: null,
    from: 'OS_AUTH_URL',
  })
  assert.deepEqual(whereIs({ env: { OS_TOKEN: 't', HOLDFAST_URL: 'http://h' } }).credentials, {
    kind: 'token',
    token: 't',
  })
  assert.deepEqual(whereIs({ env: { OS_USERNAME: '' } }).credentials, { kind: 'nobody' })
})

test('a cloud is found where OpenStack’s clients look, and wins over HOLDFAST_URL only if an option names it', () => {
  const lab = whereIs({ cloud: 'lab', env: { ...env, HOLDFAST_URL: 'http://other' } })
  assert.deepEqual(
    [lab.url, lab.authUrl, lab.region, lab.cacert],
    [null, 'http://lab:8780/identity/v3', 'RegionOne', '/ca.pem'],
  )
  assert.deepEqual(lab.credentials.kind === 'password' && lab.credentials.password, '5')
  assert.equal(whereIs({ env: { ...env, OS_CLOUD: 'lab', HOLDFAST_URL: 'http://other' } }).url, 'http://other')
  assert.deepEqual(whereIs({ cloud: 'robot', env }).credentials, {
    kind: 'application credential',
    credential: { id: 'abc' },
    user: null,
    secret: 's',
  })
  const plain = whereIs({ cloud: 'plain', env: { OS_CLIENT_CONFIG_FILE: CLOUDS } })
  assert.deepEqual([plain.url, plain.credentials.kind], ['http://lab:8780', 'basic'])
})

test('command line settings win over the cloud and the environment, and replace settings that contradict them', () => {
  const environment = { HOLDFAST_URL: 'http://other', OS_ENDPOINT: 'http://e', OS_TOKEN: 't', OS_PROJECT_ID: '7' }
  const kept = whereIs({ env: environment, said: { username: 'ann', project_name: 'lab' } })
  assert.deepEqual([kept.url, kept.credentials.kind], ['http://other', 'password'])
  assert.deepEqual(kept.credentials.kind === 'password' && kept.credentials.project, {
    name: 'lab',
    domain: { id: 'default' },
  })
  assert.deepEqual(whereIs({ env: environment, said: { auth_url: 'http://k' } }).authUrl, 'http://k/v3')
  assert.equal(whereIs({ env: environment, said: { auth_url: 'http://k' } }).url, null)
  assert.equal(whereIs({ env: environment, said: { endpoint: 'http://f/placement' } }).url, 'http://f')
  const bob = whereIs({ cloud: 'lab', env, said: { username: 'bob', cacert: '/other.pem' } })
  assert.deepEqual(bob.credentials.kind === 'password' && bob.credentials.user, {
    name: 'bob',
    domain: { name: 'Default' },
  })
  assert.equal(bob.cacert, '/other.pem')
  const token = { kind: 'token', token: 'mine' }
  for (const cloud of ['lab', 'robot', 'plain'])
    assert.deepEqual(whereIs({ cloud, env, said: { token: 'mine' } }).credentials, token)
})

test('the source of the address is reported', () => {
  const told: [Parameters<typeof whereIs>[0], string][] = [
    [{ env: {} }, 'default'],
    [{ url: 'http://a', env: { HOLDFAST_URL: 'http://b' } }, '--url'],
    [{ env: { HOLDFAST_URL: 'http://b', OS_ENDPOINT: 'http://c' } }, 'HOLDFAST_URL'],
    [{ env: { OS_ENDPOINT: 'http://c' } }, 'OS_ENDPOINT'],
    [{ env: { OS_AUTH_URL: 'http://k' } }, 'OS_AUTH_URL'],
    [{ env: { OS_AUTH_URL: 'http://k' }, said: { auth_url: 'http://l' } }, '--os-auth-url'],
    [{ cloud: 'plain', env }, `cloud plain in ${CLOUDS}`],
  ]
  for (const [options, from] of told) assert.equal(whereIs(options).from, from)
})

test('invalid settings are refused', () => {
  const wrong: [Parameters<typeof whereIs>[0], RegExp][] = [
    [{ url: 'lab:8780', env: {} }, /'lab:8780' is no URL/],
    [{ cloud: 'none', env }, /has no cloud none; it has lab, robot/],
    [{ cloud: 'lab', env: { HOME: '/nowhere', OS_CLIENT_CONFIG_FILE: '/nowhere/c.yaml' } }, /there is no clouds.yaml/],
    [{ cloud: 'blind', env }, /'verify: false' is not supported/],
    [{ env: { OS_AUTH_URL: 'identity' } }, /no URL of an identity service/],
  ]
  for (const [options, said] of wrong) {
    assert.throws(
      () => whereIs(options),
      (error: Error) => error instanceof ConnectionUnclear && said.test(error.message),
    )
  }
})
