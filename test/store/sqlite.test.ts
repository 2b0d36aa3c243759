// What only the embedded store promises: one writer, one commit for many, and a file that one process serves.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { problem } from '../../src/problem.ts'
import { StoreUnavailable } from '../../src/store/failure.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openStore } from '../../src/store/open.ts'
import { all, run, type Write } from '../../src/store/transaction.ts'
import { Placement } from '../support/placement.ts'
import { runHoldfast, spawnServer } from '../support/server.ts'
import * as sql from './statements.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-'))
after(() => rmSync(folder, { recursive: true }))

async function openNew(name: string) {
  const batches: number[] = []
  const path = join(folder, name)
  const observer = { committed: (transactions: number) => batches.push(transactions), retried: () => {} }
  const store = openStore(`sqlite:${path}`, { observer })
  await migrate(store, 0)
  return { store, path, batches }
}

function* add(name: string, fails = false): Write<void> {
  yield* run(sql.addTrait({ name, now: 0 }))
  if (fails) throw problem('class_not_found', { name })
}

test('writes that wait share one commit, and one of them that fails takes nobody along', async () => {
  const { store, batches } = await openNew('group.db')
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => store.write(() => add(`GROUP_${i}`, i === 7))),
  )
  assert.deepEqual(batches, [20])
  assert.deepEqual(
    outcomes.flatMap(({ status }, i) => (status === 'rejected' ? [i] : [])),
    [7],
  )
  const found = await store.read(() => all(sql.traitsLike({ pattern: 'GROUP_%' })))
  assert.equal(found.length, 19)
  await store.close()
})

test('when the file takes no commit, everyone who waits is told, and the next commit is as good as ever', async () => {
  const { store, path } = await openNew('busy.db')
  const intruder = new DatabaseSync(path)
  intruder.exec('begin immediate')
  const outcomes = await Promise.allSettled([1, 2, 3].map(i => store.write(() => add(`BUSY_${i}`))))
  for (const outcome of outcomes) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof StoreUnavailable)
  }
  intruder.exec('rollback')
  intruder.close()
  await store.write(() => add('BUSY_NO_MORE'))
  const found = await store.read(() => all(sql.traitsLike({ pattern: 'BUSY%' })))
  assert.deepEqual(
    found.map(({ name }) => name),
    ['BUSY_NO_MORE'],
  )
  await store.close()
})

test('a second server on the same file is refused, and the first goes on', async () => {
  const path = join(folder, 'served.db')
  const first = await spawnServer(`sqlite:${path}`)
  const api = new Placement(first.origin)
  const second = await runHoldfast(['serve', '--port', '0', '--database', `sqlite:${path}`]).exit
  assert.notEqual(second.code, 0)
  assert.match(second.stderr, /another holdfast is already serving/)
  await api.provider()
  api.close()
  // However the first ends, the file is free again.
  await first.kill9()
  const third = await spawnServer(`sqlite:${path}`)
  await third.stop()
})

test('a database in memory is served like any other', async () => {
  const server = await spawnServer('sqlite::memory:')
  const api = new Placement(server.origin)
  await api.provider({ VCPU: 1 })
  await api.fsck()
  api.close()
  await server.stop()
})

test('a write that comes after the end is told so, and nobody else notices', async () => {
  const store = openStore('sqlite::memory:')
  await store.close()
  await assert.rejects(
    store.write(function* () {}),
    StoreUnavailable,
  )
})

test('the database, its log and its lock are for their owner’s eyes only', async () => {
  const path = join(folder, 'modes.db')
  const server = await spawnServer(`sqlite:${path}`)
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}.lock`]) {
    assert.equal((statSync(file).mode & 0o777).toString(8), '600', file)
  }
  await server.stop()
})
