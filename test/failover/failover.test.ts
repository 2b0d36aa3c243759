// A primary that dies, and a standby that takes over: what was answered stays, and nobody goes back to the old one.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { StoreConflict, StoreUnavailable } from '../../src/store/failure.ts'
import { migrate } from '../../src/store/migrate.ts'
import { PostgresStore } from '../../src/store/postgres.ts'
import type { Postgres } from '../support/postgres.ts'
import { one, run } from '../../src/store/transaction.ts'
import { addTrait, traitByName } from '../store/statements.ts'
import { waitFor } from '../support/baremetal.ts'
import { makeWorld, type World } from './load.ts'
import { ask, cutPower, Pair, setSynchronous } from './pair.ts'
import { type End, failOver } from './round.ts'
import { type Service, startService } from './service.ts'

const DATABASE = 'holdfast'

describe('a fail-over under load', { timeout: 900_000 }, () => {
  let pair: Pair
  let service: Service
  let world: World
  before(async () => {
    pair = await Pair.start()
    await pair.primary.createDatabase(DATABASE)
    service = await startService(pair.url(DATABASE))
    world = await makeWorld(service.apis[0]!.origin)
  })
  after(async () => {
    await service?.stop()
    await pair?.stop()
  })

  const noFaultAfter = async (end: End, seed: number) => {
    if (pair.standby === null) await pair.addStandby()
    const { faults, counts } = await failOver({ pair, service, world, database: DATABASE }, end, seed, 100)
    assert.deepEqual(faults, [])
    assert.ok(counts.answered > 0)
  }

  test('loses nothing that was answered when the primary loses its power', () => noFaultAfter('power cut', 1))
  test('loses nothing while the old primary lives on without its standby', () => noFaultAfter('left running', 2))
  test('nobody goes back to a primary that was killed and comes back', () => noFaultAfter('comes back', 3))
})

describe('a process with several servers', { timeout: 300_000 }, () => {
  let pair: Pair
  const stores: PostgresStore[] = []
  before(async () => {
    pair = await Pair.start()
    await pair.primary.createDatabase(DATABASE)
  })
  after(async () => {
    for (const store of stores) await store.close()
    await pair?.stop()
  })

  const open = () => {
    const store = new PostgresStore(pair.url(DATABASE), { patience: { surveyMs: 100 } })
    stores.push(store)
    return store
  }
  const add = (store: PostgresStore, name: string) => store.write(() => run(addTrait({ name, now: 0 })))
  const added = (store: PostgresStore, name: string) =>
    waitFor(`${name} is written`, () =>
      add(store, name).then(
        () => true,
        error => {
          // A write that may be done, and was.
          if (error instanceof StoreConflict) return true
          assert.ok(error instanceof StoreUnavailable, String(error))
          return false
        },
      ),
    )
  const has = async (server: Postgres, name: string) =>
    (await ask(server, `select 1 from traits where name = '${name}'`, DATABASE)).length > 0

  test('goes to the one that was promoted with all its connections, although the old one serves on', async () => {
    const store = open()
    await migrate(store, 0)
    let losses = 0
    const ear = { channel: 'anything', heard: () => {}, lost: () => void losses++ }
    await store.listener.listen(ear)
    await Promise.all([add(store, 'A'), add(store, 'B'), store.pool.query('select 1')])
    const old = await pair.promote()
    await setSynchronous(old, '')
    const isMoved = async () => {
      const { rows } = await store.pool.query<{ timeline: string }>(
        'select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline',
      )
      return rows[0]!.timeline === '00000002'
    }
    await waitFor('it has moved', () => isMoved().catch(() => false))
    for (let i = 0; i < 20; i++) await added(store, `MOVED_${i}`)
    for (let i = 0; i < 20; i++) {
      assert.equal(await has(pair.primary, `MOVED_${i}`), true)
      assert.equal(await has(old, `MOVED_${i}`), false)
    }
    await waitFor('the listener has moved', async () => losses > 0)
    store.listener.forget(ear)
    await old.kill9()
  })

  test('that starts beside a primary that was left behind finds the one that was promoted', async () => {
    await pair.addStandby()
    const watching = open()
    await added(watching, 'BEFORE')
    await cutPower(pair.primary)
    const old = await pair.promote()
    await old.restart()
    await setSynchronous(old, '')
    const fresh = open()
    for (const [at, store] of [watching, fresh].entries()) {
      await added(store, `AFTER_${at}`)
      assert.equal(await has(pair.primary, `AFTER_${at}`), true)
      assert.equal(await has(old, `AFTER_${at}`), false)
    }
    // Only the old one is there now: better no service than one that forgets.
    await pair.primary.kill9()
    await assert.rejects(add(watching, 'NOWHERE'), StoreUnavailable)
    await assert.rejects(add(fresh, 'NOWHERE'), StoreUnavailable)
    assert.equal(await has(old, 'NOWHERE'), false)
    await pair.primary.restart()
    for (const [at, store] of [watching, fresh].entries()) {
      await added(store, `BACK_${at}`)
      assert.ok(await store.read(() => one(traitByName({ name: `BACK_${at}` }))))
    }
    await old.kill9()
  })
})
