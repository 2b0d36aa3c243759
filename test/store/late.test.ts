// PostgreSQL ends transactions that are idle for long. A process that is busy, or gets no time, loses none by that.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { CalendarMirror } from '../../src/leases/calendar/mirror.ts'
import { Mirror } from '../../src/ledger/mirror.ts'
import { createProvider } from '../../src/ledger/new-provider.ts'
import { Fleet } from '../../src/metal/nodes/fleet.ts'
import { limits } from '../../src/shared/limits.ts'
import { PostgresStore } from '../../src/store/postgres.ts'
import type { Store } from '../../src/store/store.ts'
import { all, note, type Read, type Write } from '../../src/store/transaction.ts'
import { type SharedPostgres, sharedPostgres } from '../support/postgres.ts'
import { asId } from '../support/ids.ts'
import * as sql from './statements.ts'

const LONG_MS = limits.idleInTransactionMsMax * 1.2

let postgres: SharedPostgres
let store: PostgresStore
const retried: string[] = []

before(async () => {
  postgres = await sharedPostgres()
  const observer = { committed: () => {}, retried: (reason: string) => void retried.push(reason) }
  store = new PostgresStore(await postgres.createDatabase(), { observer })
})
after(async () => {
  await store?.close()
  await postgres?.stop()
})

const named = (name: string) => all(sql.traitsLike({ pattern: name }))

test('a transaction that gives turns to others for longer than that goes on', async () => {
  const found = await store.write(function* () {
    yield* all(sql.addTrait({ name: 'TURNS', now: 0 }))
    for (const until = performance.now() + LONG_MS; performance.now() < until;) yield []
    return yield* named('TURNS')
  })
  assert.equal(found.length, 1)
})

const MOMENTS = {
  'a statement': named,
  *'a turn'() {
    yield []
  },
  *'a note'() {
    yield* note([{ provider: asId(1) }])
    yield []
  },
  *'the commit'() {},
} satisfies Record<string, (name: string) => Write<unknown>>

for (const [moment, next] of Object.entries(MOMENTS)) {
  test(`a process that got no time before ${moment} begins the transaction anew`, async () => {
    const isFirst = once()
    const name = moment.toUpperCase()
    retried.length = 0
    await store.write(function* () {
      yield* all(sql.addTrait({ name, now: 0 }))
      if (isFirst()) for (const until = performance.now() + LONG_MS; performance.now() < until;);
      yield* next(name)
    })
    assert.ok(retried.includes('late'))
    assert.equal((await store.read(() => named(name))).length, 1)
  })
}

test('memory is loaded, although the process stands still between two pages for longer than that', async () => {
  await store.write(() => createProvider({ uuid: randomUUID(), name: 'one', parentUuid: null }, 1))
  const failed = (error: unknown) => assert.fail(String(error))
  for (const load of [
    (slow: Store) => new Mirror(slow, failed).load(),
    (slow: Store) => new CalendarMirror(slow, async () => {}, failed).load(),
    (slow: Store) => new Fleet(slow).load(),
  ]) {
    let steps = 0
    const read: Store['read'] = (work, options) => store.read(() => stillAfter(work(), () => steps++), options)
    await load({ read } as Store)
    assert.ok(steps > 0)
  }
})

test('a read that got no time for so long says so, and does not blame the database', async () => {
  const read = store.read(() => stillAfter(twice(), () => 0))
  await assert.rejects(read, (error: Error) => /this process got no time/.test(error.message))
})

function* twice(): Read<unknown> {
  yield* named('ONE')
  return yield* named('TWO')
}

/** The same transaction, but the process gets no time after its first answers. */
function* stillAfter<T>(transaction: Read<T>, stepped: () => number): Read<T> {
  let step = transaction.next()
  while (!step.done) {
    const answers = yield step.value
    if (stepped() === 0) for (const until = performance.now() + LONG_MS; performance.now() < until;);
    step = transaction.next(answers)
  }
  return step.value
}

/** True at the first call only. */
function once(): () => boolean {
  let calls = 0
  return () => calls++ === 0
}
