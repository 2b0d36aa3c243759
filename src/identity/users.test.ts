import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { followUsers } from './users.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-users-'))
after(() => rmSync(folder, { recursive: true }))

const HASH = `scrypt$32768$8$1$${'A'.repeat(22)}$${'B'.repeat(43)}`
const withUser = (name: string) => `projects: {}\nusers: {${name}: {password: ${HASH}}}\n`

test('a broken file is logged without its hashes, and the users stay; the next valid file is used', async () => {
  const path = join(folder, 'users.yaml')
  const said: { reason?: string }[] = []
  const note = (entry: { reason?: string }) => void said.push(entry)
  const log = { info: note, error: note } as unknown as Logger
  const heard = async (count: number) => {
    for (const deadline = performance.now() + 20_000; said.length < count && performance.now() < deadline;) {
      await sleep(20)
    }
    assert.equal(said.length, count)
  }
  writeFileSync(path, withUser('ann'))
  const users = followUsers(path, log)
  try {
    for (const [index, broken] of ['', 'users: [', `${withUser('ben')}pony: 1\n`].entries()) {
      writeFileSync(path, broken)
      await heard(index + 1)
      assert.ok(users.directory().user('ann'))
      assert.ok(!JSON.stringify(said).includes('scrypt'))
    }
    rmSync(path)
    await heard(4)
    assert.match(said[3]!.reason!, /no such file/)
    assert.ok(users.directory().user('ann'))
    writeFileSync(path, withUser('ben'))
    await heard(5)
    assert.deepEqual([users.directory().user('ann'), users.directory().user('ben')?.name], [null, 'ben'])
  } finally {
    users.stop()
  }
})

test('a file that can not even be looked at is logged, and the users stay', () => {
  const path = join(folder, 'circle.yaml')
  const said: { reason?: string }[] = []
  const note = (entry: { reason?: string }) => void said.push(entry)
  writeFileSync(path, withUser('ann'))
  const users = followUsers(path, { info: note, error: note } as unknown as Logger)
  try {
    rmSync(path)
    symlinkSync(path, path)
    users.look()
    assert.match(said[0]!.reason!, /ELOOP/)
    assert.ok(users.directory().user('ann'))
  } finally {
    users.stop()
  }
})
