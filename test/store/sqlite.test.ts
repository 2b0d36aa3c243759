// What only the embedded store promises: one writer, one commit for many, and a file that one process serves.
import assert from 'node:assert/strict'
import { existsSync, linkSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../src/shared/limits.ts'
import { problem } from '../../src/problems/problem.ts'
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

test('while another process writes, the loop goes on, reads are answered, and the write waits its turn', async () => {
  const { store, path } = await openNew('outside.db')
  await store.write(() => add('TURN_BEFORE'))
  const intruder = new DatabaseSync(path)
  intruder.exec('begin immediate')
  const waiting = store.write(() => add('TURN_AFTER'))
  // Each of them needs a turn of the loop: had the store waited in it, the write would have been refused by then.
  for (let turn = 0; turn < 5; turn++) await sleep(1)
  assert.equal((await store.read(() => all(sql.traitsLike({ pattern: 'TURN%' })))).length, 1)
  intruder.exec('rollback')
  intruder.close()
  await waiting
  assert.equal((await store.read(() => all(sql.traitsLike({ pattern: 'TURN%' })))).length, 2)
  await store.close()
})

test('while a long transaction writes, readiness waits for nobody, and a close waits for the transaction', async () => {
  const { store, path } = await openNew('long.db')
  await store.ping()
  const halfway = Promise.withResolvers<void>()
  const long = store.write(
    function* () {
      yield* add('LONG_1')
      halfway.resolve()
      for (let i = 0; i < 200; i++) yield* all(sql.traitsLike({ pattern: `LONG_${i}` }))
      yield* add('LONG_2')
    },
    { isLong: true },
  )
  await halfway.promise
  const small = store.write(() => add('LONG_SMALL'))
  await store.ping()
  await store.close()
  await long
  await small
  // The last connection that closes takes the log along.
  assert.ok(!existsSync(`${path}-wal`))
  const file = new DatabaseSync(path)
  const found = file.prepare("select name from traits where name like 'LONG%' order by name").all()
  assert.deepEqual(
    found.map(({ name }) => name),
    ['LONG_1', 'LONG_2', 'LONG_SMALL'],
  )
  file.close()
})

test('a read sees one state, also when a long transaction commits in the middle of it', async () => {
  const { store } = await openNew('long-state.db')
  const wait = new Int32Array(new SharedArrayBuffer(4))
  for (let round = 0; round < 20; round++) {
    const reading = Promise.withResolvers<readonly [number, number]>()
    const twice = function* () {
      const before = yield* all(sql.traitsLike({ pattern: 'STATE%' }))
      // The commit is on its way to the other thread, which has time for it now.
      Atomics.wait(wait, 0, 0, 5)
      const after = yield* all(sql.traitsLike({ pattern: 'STATE%' }))
      return [before.length, after.length] as const
    }
    await store.write(
      function* () {
        yield* add(`STATE_${round}`)
        setImmediate(() => void store.read(twice).then(reading.resolve, reading.reject))
      },
      { isLong: true },
    )
    const [before, after] = await reading.promise
    assert.equal(before, after)
  }
  await store.close()
})

test('when someone else keeps the file, a long transaction is told so, and the next one is as good as ever', async () => {
  const { store, path } = await openNew('long-busy.db')
  const intruder = new DatabaseSync(path)
  intruder.exec('begin immediate')
  await assert.rejects(
    store.write(() => add('LONG_BUSY'), { isLong: true }),
    StoreUnavailable,
  )
  intruder.exec('rollback')
  intruder.close()
  await store.write(() => add('LONG_FREE'), { isLong: true })
  const found = await store.read(() => all(sql.traitsLike({ pattern: 'LONG_%' })))
  assert.deepEqual(
    found.map(({ name }) => name),
    ['LONG_FREE'],
  )
  await store.close()
})

test('who waited for a long transaction still has patience with someone outside', async () => {
  const { store, path } = await openNew('patience.db')
  const intruder = new DatabaseSync(path)
  const stop = store.onCommit(() => {
    intruder.exec('begin immediate')
    setTimeout(() => intruder.exec('rollback'), limits.busyRetryMs / 2)
    stop()
  })
  const long = store.write(
    function* () {
      yield* add('LONG')
      for (const until = performance.now() + limits.busyMsMax; performance.now() < until;) yield []
    },
    { isLong: true },
  )
  await new Promise(resolve => setImmediate(resolve))
  await Promise.all([long, store.write(() => add('SHORT'))])
  intruder.close()
  await store.close()
})

test('a file that is moved away is not made anew by a long transaction, and is written again when it is back', async () => {
  const { store, path } = await openNew('moved.db')
  const move = (from: string, to: string) => {
    for (const part of ['', '-wal', '-shm']) renameSync(from + part, to + part)
  }
  move(path, `${path}.moved`)
  await assert.rejects(
    store.write(() => add('LONG'), { isLong: true }),
    StoreUnavailable,
  )
  assert.ok(!existsSync(path))
  move(`${path}.moved`, path)
  await store.write(() => add('LONG'), { isLong: true })
  const found = await store.read(() => all(sql.traitsLike({ pattern: 'LONG' })))
  assert.equal(found.length, 1)
  await store.close()
})

test('a file that is replaced while it is served takes no more writes, which would be lost; the old one can be read', async () => {
  const { store, path } = await openNew('replaced.db')
  await store.write(() => add('BEFORE'))
  await store.read(() => all(sql.traitsLike({ pattern: 'BEFORE' })), { isLong: true })
  const reader = new DatabaseSync(path)
  reader.exec(`vacuum into '${path}.backup'`)
  reader.close()
  renameSync(path, `${path}.aside`)
  const isRefused = { name: 'Error', message: /^the database file was replaced or removed while it was served/ }
  await assert.rejects(store.ping(), isRefused)
  renameSync(`${path}.backup`, path)
  await assert.rejects(store.ping(), isRefused)
  await assert.rejects(
    store.write(() => add('LOST')),
    isRefused,
  )
  await assert.rejects(
    store.write(() => add('LOST_TOO'), { isLong: true }),
    isRefused,
  )
  await assert.rejects(
    store.read(() => all(sql.traitsLike({ pattern: '%' })), { isLong: true }),
    isRefused,
  )
  assert.equal((await store.read(() => all(sql.traitsLike({ pattern: 'BEFORE' })))).length, 1)
  assert.equal((await store.read(() => all(sql.traitsLike({ pattern: 'LOST%' })))).length, 0)
  renameSync(`${path}.aside`, path)
  await store.ping()
  await store.write(() => add('AFTER'))
  await store.close()
})

test('the log that grew behind an outside reader is given back when the reader is gone', async () => {
  const { store, path } = await openNew('log.db')
  const reader = new DatabaseSync(path)
  reader.exec('begin; select count(*) from traits')
  const large = limits.walPagesKept * 4096 + 1
  await store.script(run => run(`create table ballast (bytes blob); insert into ballast values (zeroblob(${large}))`))
  await store.write(() => add('AFTER_THE_BALLAST'))
  const size = () => statSync(`${path}-wal`).size
  assert.ok(size() > large, `${size()} bytes`)
  await sleep(limits.walIdleCheckpointMs * 1.5)
  assert.ok(size() > large, 'it has all that the reader may not see yet')
  reader.exec('rollback')
  reader.close()
  // Duties look for work all the time, and mostly find none: that is quiet enough.
  const deadline = performance.now() + 30_000
  while (size() > 0 && performance.now() < deadline) {
    await store.write(() => all(sql.traitsLike({ pattern: 'NONE%' })))
    await sleep(50)
  }
  assert.equal(size(), 0)
  const found = await store.read(() => all(sql.traitsLike({ pattern: 'AFTER_THE_%' })))
  assert.equal(found.length, 1)
  await store.close()
})

test('after a load all is in the file, and the log stays to be written over', async () => {
  const { store, path } = await openNew('kept.db')
  await Promise.all(Array.from({ length: 64 }, (_, i) => store.write(() => add(`KEPT_${i}`))))
  const size = () => statSync(`${path}-wal`).size
  const before = size()
  const isInFile = () => readFileSync(path, 'latin1').includes('KEPT_63')
  const deadline = performance.now() + 30_000
  while (!isInFile() && performance.now() < deadline) await sleep(100)
  assert.ok(isInFile())
  await store.write(() => add('KEPT_AT_LAST'))
  assert.equal(size(), before)
  const [most] = await store.script(run => run('select journal_size_limit as bytes from pragma_journal_size_limit'))
  assert.equal(most?.['bytes'], limits.walPagesKept * 4096)
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

test('a second server is refused by whatever name it calls the file', async () => {
  const path = join(folder, 'named.db')
  const first = openStore(`sqlite:${path}`, { serving: true })
  const [symbolic, hard] = [join(folder, 'symbolic.db'), join(folder, 'hard.db')]
  symlinkSync('named.db', symbolic)
  const open = (file: string) => openStore(`sqlite:${file}`, { serving: true })
  assert.throws(() => open(symbolic), /another holdfast is already serving/)
  linkSync(path, hard)
  assert.throws(() => open(hard), /the file has 2 names \(hard links\)/)
  rmSync(hard)
  await first.close()
  const second = open(symbolic)
  assert.throws(() => open(path), /another holdfast is already serving/)
  await second.close()
})

test('a symbolic link to a file that is yet to be made is served', async () => {
  const link = join(folder, 'early.db')
  symlinkSync('late.db', link)
  const store = openStore(`sqlite:${link}`, { serving: true })
  assert.throws(() => openStore(`sqlite:${join(folder, 'late.db')}`, { serving: true }), /already serving/)
  await store.close()
})

test('a database in memory is served like any other', async () => {
  const server = await spawnServer('sqlite::memory:')
  const api = new Placement(server.origin)
  await api.provider({ VCPU: 1 })
  await api.fsck()
  api.close()
  await server.stop()
})

test('who could not take a commit in is handed it again until it can, and the others are not', async () => {
  const { store } = await openNew('absorb.db')
  const heard: string[] = []
  store.onCommit(() => void heard.push('well'))
  let failures = 2
  const done = Promise.withResolvers<void>()
  store.onCommit(() => {
    heard.push('slow')
    if (failures-- > 0) throw new Error('not now')
    done.resolve()
  })
  await store.write(() => add('ABSORBED'))
  assert.deepEqual(heard, ['well', 'slow'], 'its writer was told at once')
  await done.promise
  assert.deepEqual(heard, ['well', 'slow', 'slow', 'slow'])
  await store.close()
})

test('a write that comes after the end is told so, and nobody else notices', async () => {
  const store = openStore('sqlite::memory:')
  await store.close()
  await assert.rejects(
    store.write(function* () {}),
    StoreUnavailable,
  )
})

test('who waits for a busy file when the store is closed is told so', async () => {
  const { store, path } = await openNew('closed.db')
  const intruder = new DatabaseSync(path)
  intruder.exec('begin immediate')
  const pinged = assert.rejects(store.ping(), StoreUnavailable)
  await store.close()
  await pinged
  intruder.close()
})

test('the database, its log and its lock are for their owner’s eyes only', async () => {
  const path = join(folder, 'modes.db')
  const server = await spawnServer(`sqlite:${path}`)
  for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}.lock`]) {
    assert.equal((statSync(file).mode & 0o777).toString(8), '600', file)
  }
  await server.stop()
})
