import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../clock/clock.ts'
import { limits } from '../shared/limits.ts'
import type { Store } from '../store/store.ts'
import { FileDirectory } from './directory.ts'
import { idOf } from './ids.ts'
import { Login, type LoginOptions, type Proof } from './login.ts'
import { Passwords } from './passwords.ts'
import { Throttle } from './throttle.ts'
import { Tokens } from './tokens.ts'

type Observe = LoginOptions['observe']

const HASH = `scrypt$32768$8$1$${'A'.repeat(22)}$${'B'.repeat(43)}`

type Users = ConstructorParameters<typeof FileDirectory>[0]['users']

const ANN: Users = { ann: { password: HASH, roles: { lab: ['admin'] } } }

/** One user, ann, whose password is right or wrong as `compare` says. */
function loginWith({
  now,
  compare,
  observe,
  record,
  users = ANN,
  store = {} as Store,
}: {
  now: () => number
  compare: (stored: string, password: string) => Promise<boolean>
  observe?: Observe
  record?: LoginOptions['record']
  users?: Users
  store?: Store
}) {
  const clock = { ...systemClock, now }
  const people = new FileDirectory({ projects: { lab: null }, users })
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

test('many requests at once with the right password of HTTP Basic are one check, one entry and no guess', async () => {
  const written: unknown[] = []
  const checked: string[] = []
  const login = loginWith({
    now: () => 0,
    compare: async (_, password) => checked.push(password) > 0,
    record: async deed => void written.push(typeof deed.outcome === 'string' ? deed.outcome : deed.outcome.userName),
  })
  const knock = () => login.basic('ann', 'a secret', '10.0.0.7')
  const tokens = await Promise.all(Array.from({ length: 5 * limits.attemptsPerUserMax }, async () => knock()))
  assert.deepEqual(new Set(tokens.map(token => token?.user.name)), new Set(['ann']))
  await knock()
  assert.deepEqual([written, checked], [['ann'], ['a secret']])
})

test('equal wrong logins share a check, and each of them counts and is recorded', async () => {
  for (const name of ['ann', 'nobody-has-this']) {
    const seen: string[] = []
    const login = loginWith({
      now: () => 0,
      compare: async () => (seen.push('check'), false),
      record: async () => void seen.push('entry'),
    })
    const enter = () => login.enter({ method: 'password', user: { name }, password: 'x' }, 'default', '10.0.0.7')
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, enter))
    const kinds = outcomes.map(outcome => (outcome.status === 'rejected' ? outcome.reason.kind : 'entered'))
    const refused = kinds.filter(kind => kind === 'not_authenticated').length
    assert.equal(refused, limits.attemptsPerUserMax)
    assert.equal(kinds.filter(kind => kind === 'too_many_attempts').length, 40 - refused)
    assert.deepEqual(seen, ['check', ...Array.from({ length: refused }, () => 'entry')])
  }
})

test('names that are made up with one password count for their address', async () => {
  let entries = 0
  const login = loginWith({ now: () => 0, compare: async () => false, record: async () => void entries++ })
  const names = Array.from({ length: 3 * limits.attemptsPerAddressMax }, (_, i) => `made-up-${i}`)
  const kinds: unknown[] = []
  // As many at once as may wait for a hash.
  while (names.length > 0) {
    const tries = names.splice(0, limits.hashesWaitingMax).map(name => {
      return login.enter({ method: 'password', user: { name }, password: 'one' }, 'default', '10.0.0.7')
    })
    for (const outcome of await Promise.allSettled(tries)) {
      kinds.push(outcome.status === 'rejected' && outcome.reason.kind)
    }
  }
  assert.equal(entries, limits.attemptsPerAddressMax)
  assert.equal(kinds.filter(kind => kind === 'too_many_attempts').length, kinds.length - entries)
})

/** All that a stranger can see of many logins, in its order, while one hash at a time is let through. */
async function whatAStrangerSees(users: Users): Promise<string[]> {
  const seen: string[] = []
  const waiting: (() => void)[] = []
  const store = {
    // As a store that has no credentials. That it is asked takes time.
    read: async (work: () => Generator<unknown, unknown, unknown>) => {
      const steps = work()
      let step = steps.next()
      for (; !step.done; step = steps.next([{ rows: [], count: 0 }])) seen.push('store asked')
      return step.value
    },
  } as unknown as Store
  const login = loginWith({
    now: () => 0,
    users,
    store,
    compare: async (_, password) => {
      seen.push('hash')
      await new Promise<void>(resolve => waiting.push(resolve))
      // The password of all who have one.
      return password === 'right'
    },
    record: async () => void seen.push('entry'),
  })
  const settled: Promise<unknown>[] = []
  const turn = () => new Promise(resolve => setImmediate(resolve))
  const knock = async (word: string, proof: Proof, address: string) => {
    const kind = await login.enter(proof, 'default', address).then(
      () => 'entered',
      (error: { kind: string }) => error.kind,
    )
    seen.push(`${word} ${kind}`)
  }
  const enter = async (word: string, proof: Proof, address = '10.0.0.7') => {
    settled.push(knock(word, proof, address))
    await turn()
  }
  const byName = (name: string, password: string): Proof => ({ method: 'password', user: { name }, password })
  const byId = (name: string, password: string): Proof => ({
    method: 'password',
    user: { id: idOf('user', name) },
    password,
  })
  const letGo = async () => {
    for (let quiet = 0; quiet < 3; quiet = waiting.length > 0 ? 0 : quiet + 1) {
      waiting.shift()?.()
      await turn()
    }
  }
  const NAMES = ['ann', 'dan', 'bea']
  // The hash threads are busy. Then the same password for each name, twice, with others between.
  await enter('busy', byName('first', 'busy'))
  for (const round of [1, 2]) {
    for (const name of NAMES) await enter(`${name} ${round}`, byName(name, 'guess'))
    for (const name of NAMES) await enter(`${name} by id ${round}`, byId(name, 'guess'))
    await enter(`between ${round}`, byName(`between ${round}`, 'guess'))
  }
  for (const name of NAMES) {
    const credential = { name: 'backup', user: { name } }
    await enter(`${name}'s credential`, { method: 'application_credential', credential, secret: 'guess' })
  }
  await letGo()
  // By name and by id in turn, until it is too many.
  for (let i = 0; i <= limits.attemptsPerUserMax; i++) {
    for (const name of NAMES) {
      await enter(`${name} again ${i}`, (i % 2 ? byName : byId)(name, `guess ${i}`), '10.0.0.8')
      await letGo()
    }
  }
  // Whoever may not enter learns nothing from the right password either.
  for (let i = 0; i <= limits.attemptsPerUserMax; i++) {
    await enter(`dan right ${i}`, byName('dan', 'right'), '10.0.0.9')
    await letGo()
  }
  await Promise.all(settled)
  return seen
}

test('what a stranger sees of logins follows from what was given, never from who exists', async () => {
  const cheap = `scrypt$16384$8$1$${'C'.repeat(22)}$${'C'.repeat(43)}`
  const nobody = await whatAStrangerSees({})
  const some = await whatAStrangerSees({
    ann: { password: HASH, roles: { lab: ['admin'] } },
    dan: { password: HASH, roles: { lab: ['member'] }, enabled: false },
    bea: { password: cheap, roles: { lab: ['member'] } },
  })
  assert.deepEqual(some, nobody)
  assert.ok(nobody.includes('ann again 10 too_many_attempts'), nobody.join('\n'))
  assert.equal(nobody.filter(line => line === 'store asked').length, 3)
})
