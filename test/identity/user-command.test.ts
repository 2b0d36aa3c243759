// holdfast user: makes and changes the users file.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { FileDirectory } from '../../src/identity/directory.ts'
import { dearest, Passwords } from '../../src/identity/passwords.ts'
import { readUsersFile } from '../../src/identity/users-file.ts'
import { typeHoldfast } from '../support/command.ts'
import { startServer } from '../support/server.ts'

const BIN = fileURLToPath(new URL('../../bin/holdfast', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'holdfast-user-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'users.yaml')

const user = (words: string[], input = '', environment: Record<string, string> = { HOLDFAST_USERS: file }) =>
  typeHoldfast(['user', ...words], { input, environment })

/** In the folder, where the file has the name that it has unless another is said. */
async function userHere(words: string[], input: string) {
  const child = spawn(BIN, ['user', ...words], { cwd: folder })
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, stdout, stderr }
}
const isRight = (name: string, password: string) =>
  new Passwords({ secret: Buffer.alloc(32), now: () => 0, threads: 1 }).check(
    { key: name, stored: readUsersFile(file).users[name]!.password, secret: password },
    dearest([]),
  )

test('add makes the file for its owner’s eyes only, and never writes a password', async () => {
  const { code, stdout, stderr } = await userHere(['add', 'ann', '--role', 'admin', '--project', 'lab'], 's3cret\n')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /ann is admin in lab/)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.doesNotMatch(readFileSync(file, 'utf8') + stdout + stderr, /s3cret/)
  assert.equal(await isRight('ann', 's3cret'), true)
  assert.match(readUsersFile(file).users['ann']!.id!, /^[0-9a-f]{32}$/)
})

test('add goes on in the file that is there, wherever it was named', async () => {
  const inEnvironment = await user(['add', 'ben', '--password-stdin'], 'b', { HOLDFAST_USERS: file })
  assert.equal(inEnvironment.code, 0, inEnvironment.stderr)
  const config = join(folder, 'holdfast.yaml')
  writeFileSync(config, `users: ${file}\n`)
  const two = ['add', 'carl', '--password', 'c', '--role', 'reader', 'service', '--config', config]
  const inConfig = await user(two, '', {})
  assert.equal(inConfig.code, 0, inConfig.stderr)
  const { users, projects } = readUsersFile(file)
  assert.deepEqual(Object.keys(users), ['ann', 'ben', 'carl'])
  assert.deepEqual(Object.keys(projects), ['lab', 'default'])
  assert.deepEqual(users['carl']!.roles, { default: ['reader', 'service'] })
  const { stdout } = await user(['list', '-f', 'value', '-c', 'name', '-c', 'roles'])
  assert.deepEqual(stdout.trim().split('\n'), [
    'ann lab: admin',
    'ben default: member',
    'carl default: reader, service',
  ])
})

test('passwd changes the password and nothing else', async () => {
  const before = readUsersFile(file)
  assert.equal((await user(['passwd', 'ben', '--password-stdin'], 'new one\n')).code, 0)
  assert.deepEqual([await isRight('ben', 'new one'), await isRight('ben', 'b')], [true, false])
  const after = readUsersFile(file)
  assert.deepEqual({ ...after.users['ben'], password: '' }, { ...before.users['ben'], password: '' })
  assert.deepEqual(after.users['ann'], before.users['ann'])
})

test('clouds-yaml prints what the openstack command reads, with a password only if it was given one', async () => {
  const { stdout } = await user(['clouds-yaml', 'ann', '--url', 'https://cloud.example/', '--cloud', 'ours'])
  assert.deepEqual(parse(stdout), {
    clouds: {
      ours: {
        auth: {
          auth_url: 'https://cloud.example/identity/v3',
          username: 'ann',
          project_name: 'lab',
          user_domain_name: 'Default',
          project_domain_name: 'Default',
        },
        region_name: 'RegionOne',
      },
    },
  })
  const withPassword = await user(['clouds-yaml', 'ann', '--password-stdin'], 's3cret')
  assert.equal(parse(withPassword.stdout).clouds.holdfast.auth.password, 's3cret')
})

test('remove removes', async () => {
  assert.equal((await user(['remove', 'carl'])).code, 0)
  assert.deepEqual(Object.keys(readUsersFile(file).users), ['ann', 'ben'])
})

test('what can’t be done is said in one line with exit code 2, and changes nothing', async () => {
  const before = readFileSync(file, 'utf8')
  const wrong: [string[], RegExp, string?][] = [
    [['add', 'ann'], /a user ann already/, 'x'],
    [['add', 'a:b'], /can't be a name/, 'x'],
    [['add', 'dora'], /can not be empty/, ''],
    [['add', 'dora', '--role', 'boss'], /boss/],
    [['passwd', 'nobody'], /no user nobody/, 'x'],
    [['remove', 'nobody'], /no user nobody/],
    [['clouds-yaml', 'nobody'], /no user nobody/],
    [['clouds-yaml', 'ann', '--project', 'other'], /lab/],
    [['list', '--users', join(folder, 'none.yaml')], /no such file/],
    [['add'], /name/],
    [['frobnicate'], /frobnicate/],
  ]
  for (const [words, said, input] of wrong) {
    const { code, stderr } = await user(words, input)
    assert.equal(code, 2, `${words.join(' ')}: ${stderr}`)
    assert.match(stderr, said)
    assert.match(stderr, /^holdfast: [^\n]+\n$/, 'one line')
  }
  assert.equal(readFileSync(file, 'utf8'), before)
  assert.ok(!existsSync(`${file}.new`))
})

test('sign-out ends the tokens of a user, and leaves the password', async () => {
  const stamp = () => new FileDirectory(readUsersFile(file)).user('ann')!.stamp
  const before = stamp()
  const { code, stdout, stderr } = await user(['sign-out', 'ann'])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /all tokens of ann end/)
  assert.notEqual(stamp(), before)
  assert.equal(await isRight('ann', 's3cret'), true)
  const unknown = await user(['sign-out', 'nobody'])
  assert.equal(unknown.code, 2)
  assert.match(unknown.stderr, /there is no user nobody/)
})

test('keys of a database that isn’t there, or is no ledger, are told to be so, and nothing is made', async () => {
  const missing = await user(['keys', 'rotate', '--database', `sqlite:${join(folder, 'missing.db')}`])
  assert.deepEqual([missing.code, existsSync(join(folder, 'missing.db'))], [2, false])
  assert.match(missing.stderr, /^holdfast: there is no database file .*missing\.db\n$/)
  writeFileSync(join(folder, 'empty.db'), '')
  const empty = await user(['keys', 'list', '--database', `sqlite:${join(folder, 'empty.db')}`])
  assert.equal(empty.code, 2)
  assert.match(empty.stderr, /^holdfast: this database has no ledger of this version; run: holdfast migrate\n$/)
})

test('keys rotate puts a new key beside the old one, or in its place; list tells which are accepted', async () => {
  const database = `sqlite:${join(folder, 'keys.db')}`
  const server = await startServer(database, { auth: 'none' })
  await server.stop()
  const keys = async (...words: string[]) => {
    const { code, stdout, stderr } = await user(['keys', ...words, '--database', database])
    assert.equal(code, 0, stderr)
    return stdout
  }
  assert.match(await keys('rotate'), /^key 2 is in use; tokens of the keys before it last until they end$/m)
  assert.match(await keys('list'), /^2 {2}made .*in use\n1 {2}made .*accepted until .*Z$/m)
  assert.match(await keys('rotate', '--now'), /^key 3 is in use; all tokens of the keys before it have ended$/m)
  assert.match(await keys('list'), /^3 {2}made \S+ {2}in use\n$/)
})
