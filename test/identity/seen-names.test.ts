// The names that tokens told one process reach the others, whatever comes between.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { systemClock } from '../../src/clock/clock.ts'
import { Names } from '../../src/identity/names.ts'
import { limits } from '../../src/shared/limits.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { eachDatabase } from '../support/stores.ts'

eachDatabase('names that were seen', ({ create }) => {
  let now = Date.now()
  let isAway = false
  const clock = { ...systemClock, now: () => now }
  const caller = (id: string) => ({
    user: id,
    userName: `name of ${id}`,
    project: 'p',
    projectName: 'lab',
    roles: new Set<string>(),
    systemScope: false,
  })

  /** On SQLite too it is as with other processes. */
  const sharing = (store: Store) =>
    new Proxy(store, {
      get(target, name) {
        if (name === 'dialect') return 'postgres'
        if (isAway && (name === 'write' || name === 'read')) return () => Promise.reject(new Error('away'))
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  const namesOn = (store: Store) =>
    new Names({ store: sharing(store), clock, log: pino({ level: 'silent' }), directory: () => null, ask: null })
  /** Until what was begun is over, and the process has looked. */
  const told = async (names: Names, id: string): Promise<string> => {
    const until = Date.now() + 30_000
    for (;;) {
      now += limits.seenNamesLookMs
      if (names.user(id) !== id || Date.now() > until) return names.user(id)
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }

  void test('a process that nobody asked for long has not missed any', async () => {
    const store = openStore(await create())
    const [one, two] = [namesOn(store), namesOn(store)]
    await Promise.all([one.load(), two.load()])
    one.saw(caller('ann'))
    assert.equal(await told(namesOn(store), 'ann'), 'name of ann', 'it is written')
    now += 3_600_000
    assert.equal(await told(two, 'ann'), 'name of ann')
    await Promise.all([one.stop(), two.stop()])
    await store.close()
  })

  void test('a database that was away until no more could be taken in gets them afterwards', async () => {
    const store = openStore(await create())
    const [one, two] = [namesOn(store), namesOn(store)]
    await Promise.all([one.load(), two.load()])
    isAway = true
    for (let i = 0; i <= limits.seenNamesPerWrite; i++) one.saw(caller(`u${i}`))
    await new Promise(resolve => setTimeout(resolve, 10))
    isAway = false
    now += 3_600_000
    await two.load()
    one.saw(caller('late'))
    assert.equal(await told(two, 'u0'), 'name of u0')
    await Promise.all([one.stop(), two.stop()])
    await store.close()
  })
})
