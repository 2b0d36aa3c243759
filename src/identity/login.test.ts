import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../clock/clock.ts'
import type { Store } from '../store/store.ts'
import { FileDirectory } from './directory.ts'
import { Login, type LoginOptions } from './login.ts'
import { Passwords } from './passwords.ts'
import { Throttle } from './throttle.ts'
import { Tokens } from './tokens.ts'

type Observe = LoginOptions['observe']

const HASH = `scrypt$32768$8$1$${'A'.repeat(22)}$${'B'.repeat(43)}`

/** One user, ann, whose password is right or wrong as `compare` says. */
function loginWith({
  now,
  compare,
  observe,
  record,
}: {
  now: () => number
  compare: () => Promise<boolean>
  observe?: Observe
  record?: LoginOptions['record']
}) {
  const clock = { ...systemClock, now }
  const store = {} as Store
  const people = new FileDirectory({
    projects: { lab: null },
    users: { ann: { password: HASH, roles: { lab: ['admin'] } } },
  })
  const directory = () => people
  const secret = Buffer.alloc(32)
  const keys = { sign: async () => '', read: async () => null }
  return new Login({
    store,
    clock,
    directory,
    tokens: new Tokens({ store, clock, keys, directory, lifeMs: 1_000 }),
    passwords: new Passwords({ secret, now, threads: 1, compare }),
    throttle: new Throttle(now),
    isOpen: false,
    tokenMs: 1_000,
    record: record ?? (async () => {}),
    observe: observe ?? (() => {}),
  })
}

test('HTTP Basic accepts the right password, even if the clock ticks during the check', async () => {
  let ms = 0
  const login = loginWith({ now: () => ms++, compare: async () => true })
  const hashed = await login.basic('ann', 'right', '127.0.0.1')
  assert.equal(hashed?.user.name, 'ann')
  const known = await login.basic('ann', 'right', '127.0.0.1')
  assert.equal(known?.user.name, 'ann')
})

test('a wrong password is reported with the address of the client', async () => {
  const told: Parameters<Observe>[] = []
  const login = loginWith({
    now: () => 0,
    compare: async () => false,
    observe: (...outcome) => void told.push(outcome),
  })
  assert.equal(await login.basic('ann', 'wrong', '10.0.0.7'), null)
  assert.deepEqual(told, [['basic', 'refused', '10.0.0.7']])
})

test('HTTP Basic is recorded only when the password was hashed: once for many requests at the same time', async () => {
  for (const [isRight, outcome] of [
    [true, 'ann'],
    [false, 'wrong secret'],
  ] as const) {
    const written: unknown[] = []
    const login = loginWith({
      now: () => 0,
      compare: async () => isRight,
      record: async deed => void written.push(typeof deed.outcome === 'string' ? deed.outcome : deed.outcome.userName),
    })
    await Promise.all(Array.from({ length: 20 }, async () => login.basic('ann', 'a secret', '10.0.0.7')))
    assert.deepEqual(written, [outcome])
    if (isRight) await login.basic('ann', 'a secret', '10.0.0.7')
    assert.equal(written.length, 1)
  }
})
