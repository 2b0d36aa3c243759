import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../clock.ts'
import type { Store } from '../store/store.ts'
import { FileDirectory } from './directory.ts'
import { Login } from './login.ts'
import { Passwords } from './passwords.ts'
import { Throttle } from './throttle.ts'
import { Tokens } from './tokens.ts'

const HASH = `scrypt$32768$8$1$${'A'.repeat(22)}$${'B'.repeat(43)}`

test('HTTP Basic lets in whose password is right, however the clock ticks meanwhile', async () => {
  let ms = 0
  const now = () => ms++
  const clock = { ...systemClock, now }
  const store = {} as Store
  const people = new FileDirectory({
    projects: { lab: null },
    users: { ann: { password: HASH, roles: { lab: ['admin'] } } },
  })
  const directory = () => people
  const secret = Buffer.alloc(32)
  const login = new Login({
    store,
    clock,
    directory,
    tokens: new Tokens({ store, clock, key: secret, directory }),
    passwords: new Passwords({ secret, now, threads: 1, compare: async () => true }),
    throttle: new Throttle(now),
    isOpen: false,
    tokenMs: 1_000,
    observe: () => {},
  })
  const hashed = await login.basic('ann', 'right', '127.0.0.1')
  assert.equal(hashed?.user.name, 'ann')
  const known = await login.basic('ann', 'right', '127.0.0.1')
  assert.equal(known?.user.name, 'ann')
})
