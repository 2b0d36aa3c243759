import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { UsageError } from '../shared/usage-error.ts'
import { loadConfig } from './config.ts'
import { mask } from './mask.ts'
import { type Given, KEYS, printable, SETTINGS } from './settings.ts'

function fileWith(content: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'holdfast-config-')), 'holdfast.yaml')
  writeFileSync(path, content)
  return path
}
const refusal = (flags: object, environment = {}, file?: string) => {
  try {
    loadConfig(flags, environment, file)
  } catch (error) {
    assert.ok(error instanceof UsageError, String(error))
    return error.message
  }
  throw new Error('this should have been refused')
}

test('the command line wins over the environment, which wins over the file, which wins over the defaults', () => {
  const file = fileWith('port: 1\nauth: noauth2\nplacement-policy: open\n')
  const config = loadConfig({ port: '3' }, { HOLDFAST_PORT: '2', HOLDFAST_AUTH: 'none' }, file)
  assert.deepEqual([config.port, config.auth, config.placementPolicy, config.host], [3, 'none', 'open', '127.0.0.1'])
})

test('a wrong setting is named, with where it came from and what would be right', () => {
  assert.match(refusal({ port: 'x' }), /^port \(from the command line\): 'x' is not valid; expected: port to listen on/)
  assert.match(refusal({}, { HOLDFAST_AUTH: 'maybe' }), /^auth \(from the environment\): 'maybe'/)
  assert.match(refusal({}, {}, fileWith('pony: 1')), /there is no setting 'pony'/)
  assert.match(refusal({}, {}, fileWith('- a')), /must hold settings/)
  assert.match(refusal({}, {}, '/nowhere.yaml'), /can't read the configuration file/)
})

test('listening on a public address without authentication needs --insecure', () => {
  assert.match(refusal({ host: '0.0.0.0' }), /--insecure/)
  assert.equal(loadConfig({ host: '0.0.0.0', insecure: true }, {}, undefined).host, '0.0.0.0')
  for (const host of ['localhost', '::1', '127.0.0.2']) assert.equal(loadConfig({ host }, {}, undefined).host, host)
})

test('passwords are masked wherever a database address is shown', () => {
  assert.equal(mask('postgres://me:secret@db/x?password=other'), 'postgres://me:***@db/x?password=***')
  assert.match(refusal({ database: 'mysql://me:secret@db/x' }), /mysql:\/\/me:\*\*\*@db/)
  const config = loadConfig({ database: 'postgres://me:secret@db/x' }, {}, undefined)
  assert.ok(!JSON.stringify(printable(config)).includes('secret'))
})

test('no secret is shown, whatever is in it', () => {
  assert.equal(mask('postgres://me:a@b:c@db/x'), 'postgres://me:***@db/x')
  const secrets = {
    database: 'postgres://me:p@ss/word@db/x',
    leaseServiceUrl: 'https://me:secret@service/',
    leaseServiceToken: 'secret',
    metricsToken: 'secret',
    keystonePassword: 'secret',
  }
  const shown = JSON.stringify(printable(loadConfig(secrets, {}, undefined)))
  assert.doesNotMatch(shown, /secret|p@ss|word@/)
})

test('a catalog that can not be shown is refused in words', () => {
  const nova = { auth: 'password', compute: 'nova', novaUrl: 'http://nova/v2.1' }
  assert.match(refusal({ catalog: '{"image":"nowhere"}' }), /^catalog: image must be own, hidden/)
  assert.match(refusal({ catalog: '[]' }), /^catalog \(from the command line\): '\[\]' is not valid; expected: where/)
  assert.match(refusal({ catalog: '{"network":"own"}' }), /^catalog: network can't be own: there is none here/)
  assert.match(refusal({ ...nova, catalog: '{"compute":"own"}' }), /compute can't be own: with compute 'nova' there is/)
  const keystone = { auth: 'keystone', keystoneUrl: 'http://k', keystonePassword: 'p' }
  assert.match(
    refusal({ ...keystone, catalog: '{"image":"hidden"}' }),
    /with --auth keystone clients are shown Keystone's/,
  )
  const file = fileWith('catalog:\n  image: hidden\n  network: {name: neutron, url: "http://n"}\n')
  assert.deepEqual(loadConfig({}, {}, file).catalog['network'], { name: 'neutron', url: 'http://n' })
})

test('every default would be right if it were given', () => {
  const defaults: Given = Object.fromEntries(KEYS.map(key => [key, structuredClone(SETTINGS[key].fallback)]))
  assert.deepEqual(loadConfig(defaults, {}, undefined), loadConfig({}, {}, undefined))
})
