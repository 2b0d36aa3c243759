import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../shared/limits.ts'
import type { Problem } from '../problems/problem.ts'
import { type Claim, dearest, HASH_PATTERN, hashesFor, hashPassword, Passwords } from './passwords.ts'

const SALT = Buffer.alloc(16, 7)
const LEAST = dearest([])
const ann = (stored: string | null, secret: string): Claim => ({ key: 'ann', stored, secret })
const create = (now = () => 0, threads = 1) => new Passwords({ secret: Buffer.alloc(32, 1), now, threads })

test('a hash matches its password and no other', async () => {
  const stored = await hashPassword('correct horse', SALT)
  assert.match(stored, new RegExp(HASH_PATTERN))
  assert.ok(!stored.includes('correct'))
  const passwords = create()
  assert.equal(await passwords.check(ann(stored, 'correct horse'), LEAST), true)
  assert.equal(await passwords.check(ann(stored, 'correct Horse'), LEAST), false)
  assert.equal(await passwords.check(ann(stored, ''), LEAST), false)
  assert.equal(await passwords.check(ann(null, 'correct horse'), LEAST), false)
  assert.notEqual(await hashPassword('correct horse', Buffer.alloc(16, 8)), stored)
})

test('a right password is cached for a while, for this hash only', async () => {
  let now = 0
  const passwords = create(() => now)
  const stored = await hashPassword('a', SALT)
  assert.equal(passwords.isKnown(ann(stored, 'a')), false)
  await passwords.check(ann(stored, 'a'), LEAST)
  await passwords.check(ann(stored, 'b'), LEAST)
  assert.deepEqual([passwords.isKnown(ann(stored, 'a')), passwords.isKnown(ann(stored, 'b'))], [true, false])
  assert.equal(passwords.isKnown(ann(await hashPassword('a', Buffer.alloc(16, 8)), 'a')), false)
  assert.equal(passwords.isKnown(ann(null, 'a')), false)
  now = limits.rightPasswordMs
  assert.equal(passwords.isKnown(ann(stored, 'a')), false)
})

test('equal checks at the same time share one hash; the others run in turn, until the queue is full', async () => {
  const asked: string[] = []
  const go: (() => void)[] = []
  const compare = async (_stored: string, password: string) => {
    asked.push(password)
    await new Promise<void>(resolve => go.push(resolve))
    return password === 'right'
  }
  const passwords = new Passwords({ secret: Buffer.alloc(32), now: () => 0, threads: 2, compare })
  const checks = [passwords.check(ann('stored', 'right'), LEAST), passwords.check(ann('stored', 'wrong'), LEAST)]
  assert.equal(passwords.isBeingChecked(ann('stored', 'right')), true)
  assert.equal(passwords.check(ann('stored', 'right'), LEAST), checks[0])
  for (let i = 0; i < limits.hashesWaitingMax; i++) checks.push(passwords.check(ann('stored', `waits ${i}`), LEAST))
  assert.deepEqual(asked, ['right', 'wrong'])
  await assert.rejects(
    passwords.check(ann('stored', 'x'), LEAST),
    (error: Problem) => error.kind === 'too_many_attempts',
  )
  const all = Promise.all(checks)
  const isDone = all.then(() => true)
  while (!(await Promise.race([isDone, new Promise<false>(resolve => setImmediate(() => resolve(false)))]))) {
    go.splice(0).forEach(release => release())
  }
  assert.deepEqual(new Set((await all).slice(1)), new Set([false]))
  assert.equal(await checks[0], true)
  assert.equal(asked.length, limits.hashesWaitingMax + 2)
})

test('new secrets share the queue of the checks, and are refused when it is full', async () => {
  const go = Promise.withResolvers<boolean>()
  const passwords = new Passwords({ secret: Buffer.alloc(32), now: () => 0, threads: 1, compare: () => go.promise })
  const first = passwords.check(ann('stored', 'x'), LEAST)
  const hashing = passwords.hash('new', SALT)
  let isHashed = false
  void hashing.then(() => (isHashed = true))
  const waiting = Array.from({ length: limits.hashesWaitingMax - 1 }, (_, i) =>
    passwords.check(ann('stored', `${i}`), LEAST),
  )
  await assert.rejects(passwords.hash('one more', SALT), (error: Problem) => error.kind === 'too_many_attempts')
  assert.equal(isHashed, false)
  go.resolve(false)
  await Promise.all([first, ...waiting])
  assert.match(await hashing, new RegExp(HASH_PATTERN))
})

test('checks of two names never share a hash, whether anyone has the names or not', () => {
  const passwords = new Passwords({ secret: Buffer.alloc(32), now: () => 0, threads: 1, compare: async () => false })
  for (const stored of [null, 'stored']) {
    const claims = ['one', 'two'].map(key => ({ key, stored, secret: 'x' }))
    const checks = claims.map(claim => passwords.check(claim, LEAST))
    assert.notEqual(checks[0], checks[1])
    assert.deepEqual(
      claims.map(claim => passwords.check(claim, LEAST)),
      checks,
    )
  }
})

test('a cheap hash costs as much work as the dearest, and as none', () => {
  const text = (N: number, p: number) => `scrypt$${N}$8$${p}$${'A'.repeat(22)}$${'B'.repeat(43)}`
  const present = [text(16_384, 1), text(32_768, 1), text(65_536, 4)]
  const work = (stored: string) => hashesFor(stored, dearest(present)).reduce((sum, { N, p }) => sum + N * p, 0)
  assert.deepEqual(new Set(present.map(work)), new Set([65_536 * 4]))
  assert.deepEqual(hashesFor(text(32_768, 1), dearest([])), [{ N: 32_768, r: 8, p: 1 }])
})

test('a hash of another cost is compared right', async () => {
  const stored = await hashPassword('a', SALT)
  assert.equal(await create().check(ann(stored, 'a'), LEAST * 3), true)
  assert.equal(await create().check(ann(stored, 'b'), LEAST * 3), false)
})
