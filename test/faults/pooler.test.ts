// A pooler between Holdfast and PostgreSQL that gives each transaction another connection: it is noticed, and refused in
// words that say what to do.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { StoreUnavailable } from '../../src/store/failure.ts'
import { PostgresStore } from '../../src/store/postgres.ts'
import { one } from '../../src/store/transaction.ts'
import { traitByName } from '../store/statements.ts'
import { type Pooler, startPooler } from '../support/pooler.ts'
import { type SharedPostgres, sharedPostgres } from '../support/postgres.ts'
import { runHoldfast } from '../support/server.ts'

const WORDS = /pooler in transaction mode.*use session mode/

describe('a pooler in transaction mode', { timeout: 120_000 }, () => {
  let postgres: SharedPostgres
  let database: string
  let pooler: Pooler
  before(async () => {
    postgres = await sharedPostgres()
    database = await postgres.createDatabase()
    pooler = await startPooler(database)
  })
  after(async () => {
    await pooler?.stop()
    await postgres?.stop()
  })

  const AT_ANY_PORT = ['--port', '0', '--auth', 'none']
  for (const [command, more] of Object.entries({ serve: AT_ANY_PORT, api: AT_ANY_PORT, conductor: [], migrate: [] })) {
    test(`is refused by ${command} at its start, in one line`, async () => {
      const { code, stderr } = await runHoldfast([command, ...more, '--database', pooler.url]).exit
      assert.equal(code, 1, stderr)
      assert.match(stderr, WORDS)
      assert.equal(stderr.trim().split('\n').length, 1)
    })
  }

  test('that takes the place of a server later is refused too: nothing fails in other words', async () => {
    const store = new PostgresStore(pooler.url)
    const failures = new Set<unknown>()
    const ask = () => store.read(() => one(traitByName({ name: 'X' }))).catch(error => failures.add(error))
    for (let i = 0; i < 10; i++) await Promise.all([ask(), ask(), ask(), store.ordered().catch(e => failures.add(e))])
    await store.close()
    assert.ok(failures.size > 0)
    for (const error of failures) {
      assert.ok(error instanceof StoreUnavailable, String(error))
      assert.match(error.message, WORDS)
    }
  })

  test('is not seen where there is none', async () => {
    const store = new PostgresStore(database)
    await store.requireSessions()
    await store.close()
  })
})
