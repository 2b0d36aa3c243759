import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../shared/limits.ts'
import { migrate } from '../store/migrate.ts'
import { openStore } from '../store/open.ts'
import { SchemaWatch } from './schema-watch.ts'

test('the schema is looked at again after a while; what changed is logged once, and said until it is mended', async () => {
  const store = openStore('sqlite::memory:')
  await migrate(store, 0)
  const logged: unknown[] = []
  const log = { error: (_: unknown, said: string) => logged.push(said), info: (said: string) => logged.push(said) }
  let now = 0
  const made = (mayBeDamaged: boolean) => new SchemaWatch({ store, log: log as never, mayBeDamaged, now: () => now })
  const watch = made(false)
  await watch.requireWhole()

  await store.script(run => run('drop index deliveries_due'))
  now = limits.schemaLookMs - 1
  await watch.requireWhole()
  now++
  const words = "the database's schema is damaged: it lacks index deliveries.deliveries_due"
  await assert.rejects(watch.requireWhole(), { message: words })
  await assert.rejects(watch.requireWhole(), { message: words })
  assert.deepEqual(logged, [words])
  assert.equal(watch.faults, 1)
  const indulgent = made(true)
  await indulgent.requireWhole()
  assert.equal(indulgent.words, words)

  await store.script(run => run('create index deliveries_due on deliveries (due_at, id) where due_at is not null'))
  now *= 2
  await watch.requireWhole()
  assert.equal(watch.words, null)
  await store.close()
})
