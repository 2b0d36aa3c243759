import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../shared/limits.ts'
import type { Problem } from '../problems/problem.ts'
import { HASH_PATTERN, hashPassword, Passwords } from './passwords.ts'

const SALT = Buffer.alloc(16, 7)
const create = (now = () => 0, threads = 1) => new Passwords({ secret: Buffer.alloc(32, 1), now, threads })

test('a hash matches its password and no other', async () => {
  const stored = await hashPassword('correct horse', SALT)
  assert.match(stored, new RegExp(HASH_PATTERN))
  assert.ok(!stored.includes('correct'))
  const passwords = create()
  assert.equal(await passwords.check(stored, 'correct horse'), true)
  assert.equal(await passwords.check(stored, 'correct Horse'), false)
  assert.equal(await passwords.check(stored, ''), false)
  assert.equal(await passwords.check(null, 'correct horse'), false)
  assert.notEqual(await hashPassword('correct horse', Buffer.alloc(16, 8)), stored)
})

test('a right password is cached for a while, for this hash only', async () => {
  let now = 0
  const passwords = create(() => now)
  const stored = await hashPassword('a', SALT)
  assert.equal(passwords.isKnown(stored, 'a'), false)
  await passwords.check(stored, 'a')
  await passwords.check(stored, 'b')
  assert.deepEqual([passwords.isKnown(stored, 'a'), passwords.isKnown(stored, 'b')], [true, false])
  assert.equal(passwords.isKnown(await hashPassword('a', Buffer.alloc(16, 8)), 'a'), false)
  assert.equal(passwords.isKnown(null, 'a'), false)
  now = limits.rightPasswordMs
  assert.equal(passwords.isKnown(stored, 'a'), false)
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
  const checks = [passwords.check('stored', 'right'), passwords.check('stored', 'wrong')]
  assert.equal(passwords.isBeingChecked('stored', 'right'), true)
  assert.equal(passwords.check('stored', 'right'), checks[0])
  for (let i = 0; i < limits.hashesWaitingMax; i++) checks.push(passwords.check('stored', `waits ${i}`))
  assert.deepEqual(asked, ['right', 'wrong'])
  await assert.rejects(passwords.check('stored', 'x'), (error: Problem) => error.kind === 'too_many_attempts')
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
  const first = passwords.check('stored', 'x')
  const hashing = passwords.hash('new', SALT)
  let isHashed = false
  void hashing.then(() => (isHashed = true))
  const waiting = Array.from({ length: limits.hashesWaitingMax - 1 }, (_, i) => passwords.check('stored', `${i}`))
  await assert.rejects(passwords.hash('one more', SALT), (error: Problem) => error.kind === 'too_many_attempts')
  assert.equal(isHashed, false)
  go.resolve(false)
  await Promise.all([first, ...waiting])
  assert.match(await hashing, new RegExp(HASH_PATTERN))
})
