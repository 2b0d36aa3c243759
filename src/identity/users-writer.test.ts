import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Problem } from '../problems/problem.ts'
import { addProject, removeUser } from './user-edits.ts'
import { parseUsersFile } from './users-file.ts'
import { UsersWriter } from './users-writer.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-users-writer-'))
after(() => rmSync(folder, { recursive: true }))

const HASH = `scrypt$32768$8$1$${'A'.repeat(22)}$${'B'.repeat(43)}`
const ANN = 'a'.repeat(32)
const path = join(folder, 'users.yaml')
const text = `projects: {lab: }\nusers: {ann: {id: ${ANN}, password: ${HASH}, roles: {lab: [admin]}}}\n`

function written() {
  writeFileSync(path, text)
  let followed = 0
  const writer = new UsersWriter({ path, follow: () => followed++ })
  return {
    writer,
    followed: () => followed,
    names: () => Object.keys(parseUsersFile(readFileSync(path, 'utf8')).projects),
  }
}
const office = addProject('b'.repeat(32), { name: 'office' })

test('what the audit can not record is not done, and leaves no lock', async () => {
  const { writer, followed } = written()
  await assert.rejects(
    writer.change(office, () => Promise.reject(new Error('no disk'))),
    /no disk/,
  )
  assert.equal(readFileSync(path, 'utf8'), text)
  assert.ok(!existsSync(`${path}.new`))
  assert.equal(followed(), 0)
  await writer.change(office, async () => assert.equal(readFileSync(path, 'utf8'), text, 'recorded before it is made'))
  assert.equal(followed(), 1)
})

test('the last admin stays, and nothing is recorded of the attempt', async () => {
  const { writer } = written()
  const gone = writer.change(removeUser(ANN), () => assert.fail('it was recorded'))
  await assert.rejects(gone, (error: Error) => error instanceof Problem && error.kind === 'identity_refused')
  assert.equal(readFileSync(path, 'utf8'), text)
})

test('changes at once are made one after the other', async () => {
  const { writer, names } = written()
  const wanted = Array.from({ length: 20 }, (_, i) => `p${i}`)
  await Promise.all(
    wanted.map((name, i) => writer.change(addProject(String(i).padStart(32, '0'), { name }), () => Promise.resolve())),
  )
  assert.deepEqual(names(), ['lab', ...wanted])
})

test('whoever was taken for dead changes nothing, and tries again', async () => {
  const { writer, names } = written()
  let attempts = 0
  await writer.change(office, async () => {
    // Someone else takes our draft away, makes a change, and is done.
    if (attempts++ > 0) return
    writeFileSync(`${path}.other`, text.replace('{lab: }', '{lab: , theirs: }'))
    rmSync(`${path}.new`)
    renameSync(`${path}.other`, path)
  })
  assert.equal(attempts, 2)
  assert.deepEqual(names(), ['lab', 'theirs', 'office'])
})
