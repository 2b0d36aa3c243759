// What a store must do, whichever database is behind it: this suite defines the port in src/store/store.ts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Problem, problem } from '../../src/problems/problem.ts'
import { migrate, pendingMigrations } from '../../src/store/migrate.ts'
import type { Change } from '../../src/store/change.ts'
import type { Store } from '../../src/store/store.ts'
import {
  all,
  inTurns,
  later,
  note,
  one,
  run,
  runAll,
  sideBySide,
  together,
  type Write,
} from '../../src/store/transaction.ts'
import * as sql from './statements.ts'
import { asId } from '../support/ids.ts'

const NOW = 1_700_000_000_000

/** Adds a trait unless it is there, as every creator does: look, decide, write. */
function* create(name: string): Write<void> {
  if (yield* one(sql.traitByName({ name }))) throw problem('class_exists', { name })
  yield* run(sql.addTrait({ name, now: NOW }))
}

/** Adds many traits in one burst. */
const many = (name: string, count: number) =>
  runAll(Array.from({ length: count }, (_, i) => sql.addTrait({ name: `${name}_${i}`, now: NOW })))

export function storeSuite(open: () => Promise<Store>): void {
  let store: Store
  before(async () => {
    store = await open()
    await migrate(store, NOW)
  })
  after(() => store.close())

  const names = async (prefix: string) => {
    const rows = await store.read(() => all(sql.traitsLike({ pattern: `${prefix}%` })))
    return rows.map(row => row.name).sort()
  }

  const created = (name: string) => store.write(() => create(name))

  test('a read sees what an answered write has written', async () => {
    await store.write(() => create('SEEN'))
    assert.deepEqual(await names('SEEN'), ['SEEN'])
  })

  test('a write sees its own statements', async () => {
    const found = await store.write(function* () {
      yield* create('OWN')
      return yield* one(sql.traitByName({ name: 'OWN' }))
    })
    assert.equal(found?.name, 'OWN')
    assert.equal(found.created_at, NOW)
  })

  test('what a write leaves for later is there for its next statement, and with the commit', async () => {
    const seen = await store.write(function* () {
      yield* later([sql.addTrait({ name: 'LATER_1', now: NOW })])
      const [found, made] = yield* sideBySide([one(sql.traitByName({ name: 'LATER_1' })), create('LATER_2')])
      yield* later([sql.raiseTime({ name: 'LATER_1' }), sql.addTrait({ name: 'LATER_3', now: NOW })])
      return [found?.created_at, made]
    })
    assert.deepEqual(seen, [NOW, undefined])
    assert.deepEqual(await names('LATER'), ['LATER_1', 'LATER_2', 'LATER_3'])
    assert.equal((await store.read(() => one(sql.traitByName({ name: 'LATER_1' }))))?.created_at, NOW + 1)
  })

  test('what is refused of that undoes the write, and its changes are not told', async () => {
    const told: unknown[] = []
    const stop = store.onCommit(({ changes }) => void told.push(...changes))
    const double = store.write(function* () {
      yield* create('UNDONE_1')
      yield* later([sql.addTrait({ name: 'UNDONE_2', now: NOW }), sql.addTrait({ name: 'UNDONE_1', now: NOW })])
      yield* note([{ provider: asId(1) }])
    })
    await assert.rejects(double)
    stop()
    assert.deepEqual(told, [])
    assert.deepEqual(await names('UNDONE'), [])
    await store.write(() => create('UNDONE_1'))
  })

  test('a write that fails leaves nothing, wherever it fails', async () => {
    const failing = store.write(function* () {
      yield* create('HALF_1')
      yield* create('HALF_2')
      throw problem('class_not_found', { name: 'x' })
    })
    await assert.rejects(failing, Problem)
    const broken = store.write(function* () {
      yield* create('HALF_3')
      yield* run(sql.addTrait({ name: null as unknown as string, now: NOW }))
    })
    await assert.rejects(broken)
    assert.deepEqual(await names('HALF'), [])
  })

  test('writes at once are each whole, and one that fails leaves its neighbours alone', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, i) =>
        store.write(function* () {
          yield* create(`MANY_${i}_A`)
          if (i % 3 === 1) throw problem('class_not_found', { name: 'x' })
          yield* create(`MANY_${i}_B`)
        }),
      ),
    )
    const expected = outcomes.flatMap((_, i) => (i % 3 === 1 ? [] : [`MANY_${i}_A`, `MANY_${i}_B`])).sort()
    assert.deepEqual(
      outcomes.map(({ status }) => status === 'rejected'),
      outcomes.map((_, i) => i % 3 === 1),
    )
    assert.deepEqual(await names('MANY'), expected)
  })

  test('all statements of a read see one state, whatever is written meanwhile', async () => {
    const done = new AbortController()
    const writer = (async () => {
      for (let i = 0; !done.signal.aborted; i++) {
        const both = [sql.addTrait({ name: `LEFT_${i}`, now: i }), sql.addTrait({ name: `RIGHT_${i}`, now: i })]
        await store.write(() => runAll(both), { isLong: i % 2 === 0 })
      }
    })()
    for (let round = 0; round < 50; round++) {
      const counted = function* () {
        const left = yield* all(sql.traitsLike({ pattern: 'LEFT%' }))
        const right = yield* all(sql.traitsLike({ pattern: 'RIGHT%' }))
        return [left.length, right.length] as const
      }
      const [left, right] = await store.read(counted, { isLong: round % 5 === 0 })
      assert.equal(left, right)
    }
    done.abort()
    await writer
  })

  test('of those who create the same thing at once one does, and the others are told so', async () => {
    for (let round = 0; round < 5; round++) {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 16 }, () => store.write(() => create(`SAME_${round}`))),
      )
      const refusals = outcomes.filter(outcome => outcome.status === 'rejected').map(({ reason }) => reason as unknown)
      assert.equal(refusals.length, 15)
      for (const reason of refusals)
        assert.ok(reason instanceof Problem && reason.kind === 'class_exists', String(reason))
    }
  })

  test('writes that take the same rows in opposite order all get through', async () => {
    await store.write(() => runAll(['ONE', 'TWO'].map(name => sql.addTrait({ name, now: 0 }))))
    const raise = (names: readonly string[]) =>
      store.write(function* () {
        for (const name of names) yield* run(sql.raiseTime({ name }))
      })
    for (let round = 0; round < 10; round++) await Promise.all([raise(['ONE', 'TWO']), raise(['TWO', 'ONE'])])
    for (const name of ['ONE', 'TWO']) {
      assert.equal((await store.read(() => one(sql.traitByName({ name }))))?.created_at, 20)
    }
  })

  test('values come back as they went in', async () => {
    const provider = {
      uuid: 'ü-\u{1f600}-\u2028',
      name: `quote ' " \\ % _ ${'x'.repeat(150)}`,
      now: Number.MAX_SAFE_INTEGER,
    }
    await store.write(() => run(sql.addProvider(provider)))
    const found = await store.read(() => one(sql.providerByUuid({ uuid: provider.uuid })))
    assert.equal(found?.name, provider.name)
    assert.equal(found.created_at, Number.MAX_SAFE_INTEGER)
    assert.equal(found.parent_id, null)
  })

  test('the schema itself refuses to oversell and to take away what is in use', async () => {
    const { inventory, claim } = await store.write(sql.inventoryWithClaim)
    await assert.rejects(
      store.write(() => run(sql.setUse({ ...inventory, used: 11 }))),
      'above its ceiling',
    )
    await assert.rejects(
      store.write(() => run(sql.setUse({ ...inventory, used: -1 }))),
      'below nothing',
    )
    await assert.rejects(
      store.write(() => run(sql.removeInventory(inventory))),
      'an inventory in use',
    )
    await assert.rejects(
      store.write(() => run(sql.removeConsumer({ id: claim.consumer_id }))),
      'a consumer with claims',
    )
    await store.write(() => run(sql.setUse({ ...inventory, used: 10 })))
  })

  test('whoever keeps a copy hears of each commit before its writer does, and of no failure', async () => {
    const heard: Change[] = []
    store.onCommit(async ({ changes }) => {
      await Promise.resolve()
      heard.push(...changes)
    })
    const tell = (provider: number, fails: boolean) =>
      store.write(function* () {
        yield* create(`TOLD_${provider}`)
        yield* note([{ provider: asId(provider) }])
        if (fails) throw problem('class_not_found', { name: 'x' })
      })
    await tell(1, false)
    assert.deepEqual(heard, [{ provider: 1 }])
    const outcomes = await Promise.allSettled([tell(2, false), tell(3, true), tell(4, false)])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(
      heard.map(change => change.provider).sort((a, b) => a - b),
      [1, 2, 4],
    )
    store.onCommit(() => {})
  })

  test('any number keep copies: one that fails keeps neither the others nor the writer from a commit', async () => {
    const heard: string[] = []
    const listen = (name: string, fails: boolean) =>
      store.onCommit(({ changes }) => {
        if (changes.length > 0) heard.push(name)
        if (fails) throw new Error('not now')
      })
    const offs = [listen('throws', true), listen('first', false), listen('second', false)]
    const commit = (name: string) =>
      store.write(function* () {
        yield* create(name)
        yield* note([{ provider: asId(5) }])
      })
    await commit('COPIED_1')
    assert.deepEqual(heard, ['throws', 'first', 'second'])
    // One that is taken off isn't asked again either.
    offs[0]!()
    offs[2]!()
    heard.length = 0
    await commit('COPIED_2')
    assert.deepEqual(heard, ['first'])
    assert.deepEqual(await names('COPIED'), ['COPIED_1', 'COPIED_2'])
    offs[1]!()
  })

  test('a long write is whole or not at all, and others read the state before it meanwhile', async () => {
    await created('LONG_BEFORE')
    const halfway = Promise.withResolvers<void>()
    const long = store.write(
      function* () {
        yield* many('LONG_A', 1_500)
        halfway.resolve()
        yield* inTurns(Array.from({ length: 5_000 }), () => {})
        yield* many('LONG_B', 1_500)
        return (yield* all(sql.traitsLike({ pattern: 'LONG_%' }))).length
      },
      { isLong: true },
    )
    await halfway.promise
    assert.deepEqual(await names('LONG'), ['LONG_BEFORE'])
    // Writes that come meanwhile are made before it or after it.
    const small = Promise.all([created('BESIDE_1'), created('BESIDE_2')])
    assert.equal(await long, 3_001)
    await small
    assert.equal((await names('LONG_')).length, 3_001)
    assert.deepEqual(await names('BESIDE'), ['BESIDE_1', 'BESIDE_2'])
  })

  test('a long write that fails leaves nothing, and the next one is as good as ever', async () => {
    const attempt = (name: string, last: string | null) =>
      store.write(
        function* () {
          yield* many(name, 9)
          if (last === 'refused') throw problem('class_not_found', { name: 'x' })
          yield* run(sql.addTrait({ name: last as string, now: NOW }))
        },
        { isLong: true },
      )
    const [refused, broken, good] = await Promise.allSettled([
      attempt('TAKEN_BACK_1', 'refused'),
      attempt('TAKEN_BACK_2', null),
      attempt('TAKEN_BACK_NOT', 'TAKEN_BACK_NOT_AT_ALL'),
    ])
    assert.ok(refused.status === 'rejected' && refused.reason instanceof Problem)
    assert.deepEqual([broken.status, good.status], ['rejected', 'fulfilled'])
    assert.equal((await names('TAKEN_BACK')).length, 10)
  })

  test('a long read has all rows in their order, and the writer of a long write reads it', async () => {
    await store.write(() => many('ROW', 4_321), { isLong: true })
    const rows = await store.read(() => all(sql.traitsLike({ pattern: 'ROW%' })), { isLong: true })
    assert.deepEqual(rows.map(row => row.name).sort(), Array.from({ length: 4_321 }, (_, i) => `ROW_${i}`).sort())
    const [none, one_] = await store.read(
      () => together(sql.traitsLike({ pattern: 'NONE%' }), sql.traitByName({ name: 'ROW_7' })),
      { isLong: true },
    )
    assert.deepEqual([none.length, one_[0]?.name, one_[0]?.created_at], [0, 'ROW_7', NOW])
    await assert.rejects(
      store.read(
        function* () {
          yield* one(sql.traitByName({ name: 'ROW_7' }))
          throw problem('class_not_found', { name: 'x' })
        },
        { isLong: true },
      ),
      Problem,
    )
  })

  test('whoever keeps a copy hears of a long write before its writer does', async () => {
    const heard: Change[] = []
    const off = store.onCommit(({ changes }) => void heard.push(...changes))
    await store.write(
      function* () {
        yield* create('LONG_TOLD')
        yield* note([{ provider: asId(6) }])
      },
      { isLong: true },
    )
    assert.deepEqual(heard, [{ provider: 6 }])
    off()
  })

  test('works that go side by side get their own answers, and one that fails takes all along', async () => {
    await created('SIDE_1')
    const found = await store.write(() =>
      sideBySide(
        ['SIDE_1', 'SIDE_2', 'SIDE_3'].map(function* (name): Write<string> {
          const before = yield* one(sql.traitByName({ name }))
          if (before) return `${name} was there`
          yield* create(name)
          return `${name} is new`
        }),
      ),
    )
    assert.deepEqual(found, ['SIDE_1 was there', 'SIDE_2 is new', 'SIDE_3 is new'])
    await assert.rejects(
      store.write(() => sideBySide([create('SIDE_4'), create('SIDE_1')])),
      Problem,
    )
    assert.deepEqual(await names('SIDE'), ['SIDE_1', 'SIDE_2', 'SIDE_3'])
    assert.deepEqual(await store.write(() => sideBySide([])), [])
  })

  test('a database that is up to date stays as it is', async () => {
    assert.deepEqual(await pendingMigrations(store), [])
    assert.deepEqual(await migrate(store, NOW), [])
    assert.deepEqual(await names('SEEN'), ['SEEN'])
    await store.ping()
  })
}

// What writes does not fit where only reading is allowed: the compiler is the test.
export const neverRun = (store: Store) => [
  // @ts-expect-error -- a command in a read
  store.read(() => run(sql.addTrait({ name: 'x', now: 0 }))),
  // @ts-expect-error -- a promise in a transaction
  store.write(function* () {
    yield Promise.resolve()
  }),
]
