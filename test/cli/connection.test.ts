// How the command finds its server and says who it is, and what it says when it can't.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { stringify } from 'yaml'
import { VERSION } from '../../src/shared/version.ts'
import { typeHoldfast } from '../support/command.ts'
import { atLogin, Person } from './person.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-clouds-'))
after(() => rmSync(folder, { recursive: true }))

atLogin('holdfast and who one is', ({ api }) => {
  const person = new Person(() => api.origin)
  const as = (name: string, password = `${name}-pw`) => ({
    OS_USERNAME: name,
    OS_PASSWORD: password,
    OS_PROJECT_NAME: 'lab',
  })

  test('without a name, with a wrong password, and without the role, the exit code is 5', async () => {
    for (const [line, who, said] of [
      ['node list', {}, /^holdfast: [^\n]*OS_USERNAME, OS_PASSWORD[^\n]*\n$/],
      ['node list', as('alice', 'wrong'), /^holdfast: [^\n]+\n$/],
      ['node create', as('bob'), /^holdfast: [^\n]*another role or project[^\n]*\n$/],
    ] as const) {
      const { code, stderr } = await person.types(line, who)
      assert.equal(code, 5, stderr)
      assert.match(stderr, said)
    }
  })

  test('a name and a password in the environment are enough', async () => {
    const { code, stdout, stderr } = await person.types('node create --name by-alice -f value -c name', as('alice'))
    assert.equal(code, 0, stderr)
    assert.equal(stdout, 'by-alice\n')
    const usage = await person.types('usage', as('alice'))
    assert.equal(usage.code, 0, usage.stderr)
  })

  test('a cloud in clouds.yaml says where and who', async () => {
    const file = join(folder, 'clouds.yaml')
    const auth = { auth_url: `${api.origin}/identity`, username: 'alice', password: 'alice-pw', project_name: 'lab' }
    writeFileSync(file, stringify({ clouds: { ours: { auth, region_name: 'RegionOne' } } }))
    const where = { OS_CLIENT_CONFIG_FILE: file, HOLDFAST_URL: 'http://127.0.0.1:9' }
    const { code, stderr } = await person.types('node list --os-cloud ours', where)
    assert.equal(code, 0, stderr)
    const unknown = await person.types('node list --os-cloud theirs', where)
    assert.equal(unknown.code, 2)
    assert.match(unknown.stderr, /has no cloud theirs; it has ours\n$/)
  })

  test('HTTP Basic and a token are ways in as well', async () => {
    const basic = await person.types('node list', { ...as('alice'), OS_AUTH_TYPE: 'http_basic' })
    assert.equal(basic.code, 0, basic.stderr)
    const token = await api.token('alice')
    const withToken = await person.types('node list', { OS_TOKEN: token })
    assert.equal(withToken.code, 0, withToken.stderr)
  })

  test('which version the server is, is told without a login', async () => {
    const { stdout } = await person.types('version')
    assert.equal(stdout, `holdfast ${VERSION}\nserver ${VERSION} at ${api.origin}\n`)
  })
})

const nowhere = (line: string) => typeHoldfast(line.split(' '), { environment: { OS_CLOUD: '' } })

test('where nothing listens, the exit code is 6 and the line says what to do', async () => {
  const { code, stderr } = await nowhere('node list --url http://127.0.0.1:9')
  assert.equal(code, 6)
  assert.match(stderr, /^holdfast: no answer from http:\/\/127\.0\.0\.1:9: [^\n]*HOLDFAST_URL[^\n]*\n$/)
})

test('wrong words are told in one line, with exit code 2', async () => {
  for (const [line, said] of [
    ['node lisst', /unknown command 'lisst' \(Did you mean list\?\)/],
    ['node show', /missing required argument 'node'/],
    ['node list --colour', /unknown option '--colour'/],
    ['node list --url lab', /'lab' is no URL/],
    ['allocation list --limit few', /'few' is no number/],
  ] as const) {
    const { code, stderr } = await nowhere(line)
    assert.equal(code, 2, stderr)
    assert.match(stderr, said)
    assert.match(stderr, /^holdfast: [^\n]+\n$/)
  }
})

test('version says which one it is, where there is no server too', async () => {
  const { code, stdout } = await nowhere('version --url http://127.0.0.1:9')
  assert.equal(code, 0)
  assert.equal(stdout, `holdfast ${VERSION}\n`)
})

test('the help of a command has an example', async () => {
  for (const command of ['node add trait', 'allocation create', 'run', 'reservation-create', 'version']) {
    const { code, stdout } = await nowhere(`${command} --help`)
    assert.equal(code, 0)
    assert.match(stdout, new RegExp(`Example:\n  holdfast ${command}`))
  }
})
