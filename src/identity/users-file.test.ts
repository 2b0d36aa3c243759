import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { FileDirectory } from './directory.ts'
import { idOf, SERVICE_USER_ID } from './ids.ts'
import { addUserTo, changeUser, removeProject, removeUser, revokeRole } from './user-edits.ts'
import { editUsersFile, parseUsersFile, UsersFileError } from './users-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-users-file-'))
after(() => rmSync(folder, { recursive: true }))

const HASH = `scrypt$32768$8$1$${'A'.repeat(22)}$${'B'.repeat(43)}`
const entry = (more = '') => `{password: ${HASH}, roles: {lab: [member]}${more}}`
const whole = (more = '') => `projects: {lab: }\nusers: {ann: ${entry(more)}}\n`

test('an error names the invalid place and never shows a hash', () => {
  const wrong: [string, RegExp][] = [
    ['users: [', /not YAML at line/],
    ['- a', /projects and users|users|additional/i],
    ['7', /projects and users/],
    ['pony: 1', /can't have pony/],
    [whole().replace(HASH, 'secret'), /users\.ann\.password must be a hash/],
    [whole(', pony: 1'), /users\.ann can't have pony/],
    [whole().replace('member', 'boss'), /must be one of admin, member, reader, service/],
    [whole().replace('{lab: }', '{}'), /names the project lab, which is not among the projects/],
    [whole(', default-project: other'), /no role in its default-project other/],
    [whole(', id: short'), /users\.ann\.id/],
    [whole().replace('ann', '"a:b"'), /can't have a:b/],
    [`projects: {lab: {id: ${'a'.repeat(32)}}}\nusers: {ann: ${entry(`, id: ${'a'.repeat(32)}`)}}`, /given twice/],
    [`projects: {lab: , hall: {id: ${idOf('project', 'lab')}}}`, /given twice/],
    [`users: {ann: ${entry(`, id: ${SERVICE_USER_ID}`)}}`, /the id \w+ is that of the built-in service user/],
    [whole().replace('ann', '"\\x9b31m"'), /users can't have/],
    ['projects: &a {lab: }\nusers: {}\nx: *a', /not YAML/],
  ]
  for (const [text, said] of wrong) {
    assert.throws(
      () => parseUsersFile(text),
      (error: Error) => {
        assert.ok(error instanceof UsersFileError, String(error))
        assert.match(error.message, said, text)
        assert.doesNotMatch(error.message, /secret|scrypt/)
        return true
      },
    )
  }
  assert.deepEqual(parseUsersFile('users: {}'), { projects: {}, users: {} })
  for (const text of ['', '\n', '# nobody\n']) assert.throws(() => parseUsersFile(text), /it is empty/)
})

test('roles imply others, in their own project only', () => {
  const directory = new FileDirectory(
    parseUsersFile(`projects: {lab: , office: }\nusers: {ann: {password: ${HASH}, roles: {lab: [admin]}}}`),
  )
  const ann = directory.user('ann')!
  const roles = (project: string) => [...directory.rolesOn(ann, directory.project(project)!)].sort()
  assert.deepEqual(roles('lab'), ['admin', 'member', 'reader'])
  assert.deepEqual(roles('office'), [])
  assert.equal(ann.defaultProject, 'lab')
})

test('a derived id is always the same, and a given id is used', () => {
  const user = (text: string) => new FileDirectory(parseUsersFile(text)).user('ann')!
  assert.equal(user(whole()).id, user(whole()).id)
  assert.match(user(whole()).id, /^[0-9a-f]{32}$/)
  assert.equal(user(whole(`, id: ${'c'.repeat(32)}`)).id, 'c'.repeat(32))
})

test('a project with the former name of another one is a project of its own', () => {
  const path = join(folder, 'renamed.yaml')
  writeFileSync(path, `projects: {hall: {id: ${idOf('project', 'lab')}}}\nusers: {}\n`)
  const user = { id: 'd'.repeat(32), name: 'ann', password: HASH, project: 'lab', roles: ['member'] as const }
  editUsersFile(path, (document, content) => addUserTo(document, content, user))
  const directory = new FileDirectory(parseUsersFile(readFileSync(path, 'utf8')))
  assert.notEqual(directory.project('lab')!.id, directory.project('hall')!.id)
})

test('who is called by a number in a file that was written by hand is changed as all others are', () => {
  const path = join(folder, 'numbers.yaml')
  const read = () => new FileDirectory(parseUsersFile(readFileSync(path, 'utf8')))
  writeFileSync(
    path,
    `projects: {2024: , true: }\nusers: {7: {password: ${HASH}, roles: {2024: [member, reader], true: [reader]}}}`,
  )
  const [user, project] = [read().user('7')!.id, read().project('2024')!.id]
  editUsersFile(path, revokeRole({ user, project, role: 'member' }))
  assert.deepEqual(
    [...read().user('7')!.assignments],
    [
      ['2024', ['reader']],
      ['true', ['reader']],
    ],
  )
  editUsersFile(path, changeUser(user, { enabled: false }))
  assert.deepEqual([read().users.length, read().user('7')!.isEnabled], [1, false])
  editUsersFile(path, removeProject(project))
  assert.deepEqual([...read().user('7')!.assignments.keys()], ['true'])
  editUsersFile(path, removeUser(user))
  assert.deepEqual([read().users, read().projects.map(({ name }) => name)], [[], ['true']])
})

test('an edit keeps comments, makes the file private to its owner, and is refused if the result is broken', () => {
  const path = join(folder, 'users.yaml')
  writeFileSync(path, `# ours\n${whole()}`, { mode: 0o644 })
  editUsersFile(path, document => document.setIn(['projects', 'office'], {}))
  const text = readFileSync(path, 'utf8')
  assert.match(text, /^# ours\n/)
  assert.ok('office' in parseUsersFile(text).projects)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.throws(() => editUsersFile(path, document => document.setIn(['users', 'ann', 'roles'], 7)), UsersFileError)
  assert.equal(readFileSync(path, 'utf8'), text)
  writeFileSync(`${path}.new`, '')
  assert.throws(() => editUsersFile(path, () => {}), /someone else is changing/)
  assert.equal(readFileSync(path, 'utf8'), text)
})

test('a disk that takes only a part of it leaves the file as it was', () => {
  const path = join(folder, 'full.yaml')
  const before = `# ${'x'.repeat(900)}\n${whole()}`
  writeFileSync(path, before)
  const program = `
    import { editUsersFile, UsersFileError } from '${new URL('users-file.ts', import.meta.url).href}'
    try {
      editUsersFile('${path}', document => void (document.comment = 'y'.repeat(5_000)))
    } catch (error) {
      console.log(error instanceof UsersFileError, error.message)
    }`
  // No file may grow beyond two blocks: what is written stops in the middle, as on a full disk.
  const limited = `ulimit -f 2; '${process.execPath}' --input-type=module-typescript --eval "$PROGRAM" 2>&1 | cat`
  const { stdout } = spawnSync('bash', ['-c', limited], { encoding: 'utf8', env: { ...process.env, PROGRAM: program } })
  assert.match(stdout, /^true EFBIG/)
  assert.equal(readFileSync(path, 'utf8'), before)
  assert.equal(statSync(`${path}.new`, { throwIfNoEntry: false }), undefined)
})
