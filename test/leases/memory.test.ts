// What a process keeps in memory while connections to PostgreSQL break under it: it loads everything again and again, and
// what it commits meanwhile must not be forgotten.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { pino } from 'pino'
import { enrolNode, withdrawNode } from '../../src/leases/pool/nodes.ts'
import { Memory } from '../../src/process/memory.ts'
import { EVERYTHING } from '../../src/metal/access.ts'
import { createNode, deleteNode } from '../../src/metal/nodes/lifecycle.ts'
import { FakeHardware } from '../../src/metal/drivers/fake.ts'
import { driversOf } from '../../src/metal/drivers/registry.ts'
import { NOBODY } from '../../src/metal/nodes/provider.ts'
import { Problem } from '../../src/problems/problem.ts'
import { StoreUnavailable } from '../../src/store/failure.ts'
import { PostgresStore } from '../../src/store/postgres.ts'
import type { Read, Write } from '../../src/store/transaction.ts'
import { clients } from '../races/clients.ts'
import { eventually } from '../candidates/questions.ts'
import { Placement } from '../support/placement.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { type Server, startServer } from '../support/server.ts'

const ROUNDS = 3
const WRITERS = 8
const drivers = driversOf(new FakeHardware({ delayMs: 0, pause: async () => {} }))

/** Reading much takes as long as with a large fleet, so that commits fall into it. */
class LargeStore extends PostgresStore {
  override async read<T>(work: () => Read<T>): Promise<T> {
    const found = await super.read(work)
    if (Array.isArray(found)) await sleep(found.length * 5)
    return found
  }
}

describe('memory whose connections break', () => {
  let postgres: Awaited<ReturnType<typeof sharedPostgres>>
  let server: Server
  let sql: Client
  let database = ''
  const api = new Placement()
  before(async () => {
    postgres = await sharedPostgres()
    database = await postgres.createDatabase()
    // Brings the database up to date, and has the conductor that nodes need.
    server = await startServer(database)
    api.origins = [server.origin]
    sql = new Client({ connectionString: database, application_name: 'test' })
    await sql.connect()
  })
  after(async () => {
    api.close()
    await sql.end()
    await server.stop()
    await postgres.stop()
  })

  /** A process's store and memory. */
  async function open() {
    const store = new LargeStore(database, { origin: crypto.randomUUID() })
    const memory = new Memory({ store, log: pino({ enabled: false }), lagged: () => {}, woken: () => {} })
    await memory.start()
    const close = async () => {
      await memory.stop()
      await store.close()
    }
    return { store, memory, close }
  }

  function seenBy({ mirror, fleet, calendar }: Memory): string {
    const { table } = mirror
    const nodes = [...fleet.nodes()].map(({ uuid, revision, leasable }) => `${uuid} ${revision} ${leasable}`)
    const providers = nodes.map(node => node.split(' ')[0]!).filter(uuid => table.rowOfUuid(uuid) >= 0)
    const leasables = calendar.leasables.map(({ name, version }) => `${name} ${version}`)
    return JSON.stringify([table.size, nodes.sort(), providers.sort(), leasables])
  }

  const cut = () =>
    sql.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name like 'holdfast%'`)

  test('comes to be what a fresh process reads, whatever it committed meanwhile', async () => {
    const { store, memory, close } = await open()
    let [done, failed] = [0, 0]
    /** The database may be away, or a write before this one was. */
    const write = <T>(work: () => Write<T>) =>
      store.write(work).then(
        () => done++,
        error => {
          assert.ok(error instanceof StoreUnavailable || error instanceof Problem, String(error))
          failed++
        },
      )
    async function lifeOf(uuid: string, kind: number): Promise<void> {
      const attributes = { driver: 'fake-hardware', resource_class: 'gold' }
      await write(() => createNode({ uuid, attributes, state: 'enroll' }, drivers, NOBODY, Date.now()))
      await write(() => enrolNode(uuid, Date.now()))
      if (kind % 3 === 0) await write(() => withdrawNode(uuid))
      if (kind % 6 === 0) await write(() => deleteNode(uuid, EVERYTHING, Date.now()))
    }
    for (let round = 0; round < ROUNDS; round++) {
      // Once, in the middle: a later one would make it load again, and hide what the first made it forget.
      const middle = done + WRITERS
      let isCut = false
      await clients(WRITERS, async index => {
        for (let i = 0; i < 4; i++) {
          await lifeOf(crypto.randomUUID(), index + i)
          if (isCut || done < middle) continue
          isCut = true
          await cut()
        }
      })
      const fresh = await open()
      const expected = seenBy(fresh.memory)
      await fresh.close()
      await eventually(
        async () => seenBy(memory),
        seen => seen === expected,
      )
    }
    assert.ok(done > 50 && failed > 0, `${done} writes done, ${failed} failed`)
    await close()
    await api.fsck()
  })
})
