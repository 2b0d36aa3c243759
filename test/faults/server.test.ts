// A whole server while PostgreSQL, or the way there, fails: what it answered stays, everything else is 503, and it recovers by itself.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { StoreUnavailable } from '../../src/store/failure.ts'
import { migrate } from '../../src/store/migrate.ts'
import { PostgresStore } from '../../src/store/postgres.ts'
import type { Store } from '../../src/store/store.ts'
import { one, run } from '../../src/store/transaction.ts'
import { eventually } from '../candidates/questions.ts'
import { clients } from '../races/clients.ts'
import { expectStatus, Placement } from '../support/placement.ts'
import { addTrait, traitByName } from '../store/statements.ts'
import { type Postgres, sharedPostgres, startPostgres } from '../support/postgres.ts'
import { type Proxy, startProxy } from '../support/proxy.ts'
import { type ServerProcess, spawnServer } from '../support/server.ts'

// What hangs must end too, after far longer than any of this takes.
describe('a server whose PostgreSQL fails', { timeout: 300_000 }, () => {
  const api = new Placement()
  let postgres: Postgres
  let proxy: Proxy
  let server: ServerProcess
  let admin: Client

  before(async () => {
    postgres = await startPostgres()
    const database = await postgres.createDatabase('ledger')
    proxy = await startProxy(database)
    server = await spawnServer(proxy.url, ['--log-level', 'silent'])
    api.origins = [server.origin]
    admin = new Client({ connectionString: database })
    await admin.connect()
  })
  after(async () => {
    api.close()
    await admin?.end()
    await server?.kill9()
    await proxy?.stop()
    await postgres?.stop()
  })

  const isReady = async () => (await fetch(`${server.origin}/readyz`)).status
  /** PostgreSQL takes a setting over by and by. Once a new session begins with it, all others have been told. */
  const setReadOnly = async (value: 'on' | 'off') => {
    await admin.query(`alter system set default_transaction_read_only = ${value}`)
    await admin.query('select pg_reload_conf()')
    await eventually(
      async () => {
        const fresh = new Client({ connectionString: postgres.url('ledger') })
        await fresh.connect()
        const { rows } = await fresh.query<{ value: string }>(
          "select current_setting('default_transaction_read_only') as value",
        )
        await fresh.end()
        return rows[0]!.value
      },
      found => found === value,
    )
  }

  /** Claims and looks without end while the fault comes and goes; then everything that was granted must be there. */
  async function during(fault: (provider: string) => Promise<void>, heal: () => Promise<void>): Promise<void> {
    const provider = await api.provider({ VCPU: 1_000_000 })
    const granted: string[] = []
    let refused = 0
    const done = new AbortController()
    const load = clients(8, async index => {
      while (!done.signal.aborted) {
        const consumer = randomUUID()
        const asked =
          index % 2 ? api.get(`/resource_providers/${provider}`) : api.claim(consumer, { [provider]: { VCPU: 1 } })
        const { status } = expectStatus(await asked, 200, 204, 503)
        if (status === 204) granted.push(consumer)
        if (status === 503) refused++
        await sleep(5)
      }
    })
    try {
      await eventually(
        async () => granted.length,
        count => count > 5,
      )
      await fault(provider)
      await eventually(
        async () => refused,
        count => count > 0,
      )
      await heal()
      await eventually(isReady, status => status === 200)
      const before = granted.length
      await eventually(
        async () => granted.length,
        count => count > before + 5,
      )
    } finally {
      // However it went: clients without an end would keep the test from ending.
      done.abort()
      await load
    }
    const { allocations } = (await api.get(`/resource_providers/${provider}/allocations`)).body
    for (const consumer of granted) assert.ok(consumer in allocations, `lost: ${consumer}`)
    await api.fsck()
  }

  test('recovers when the network falls silent, and forgets the connections for good', async () => {
    await during(
      async () => {
        proxy.silence()
        await eventually(isReady, status => status === 503)
      },
      async () => proxy.pass(),
    )
  })

  test('recovers when its backends are killed again and again', async () => {
    const kill = `select pg_terminate_backend(pid) from pg_stat_activity
      where pid <> pg_backend_pid() and datname = 'ledger'`
    await during(
      async () => {
        for (let round = 0; round < 5; round++) {
          await admin.query(kill)
          await sleep(50)
        }
        proxy.refuse()
      },
      async () => proxy.pass(),
    )
  })

  test('is not ready and answers 503 while PostgreSQL takes no writes', async () => {
    await during(
      async provider => {
        await setReadOnly('on')
        await eventually(isReady, status => status === 503)
        await eventually(
          async () => (await api.claim(randomUUID(), { [provider]: { VCPU: 1 } })).status,
          status => status === 503,
        )
      },
      () => setReadOnly('off'),
    )
  })

  test('where several servers are named, the one that takes writes is found', async t => {
    const elsewhere = await sharedPostgres()
    t.after(() => elsewhere.stop())
    const second = await elsewhere.createDatabase()
    const { pathname } = new URL(second)
    await postgres.createDatabase(pathname.slice(1))
    const wires = [await startProxy(postgres.url(pathname.slice(1))), await startProxy(second)]
    t.after(() => Promise.all(wires.map(wire => wire.stop())))
    t.after(() => setReadOnly('off'))
    for (const { url } of wires) await withStore(url, store => migrate(store, 0))
    const hosts = wires.map(({ url }) => new URL(url).host).join(',')
    const add = (store: Store, name: string) => store.write(() => run(addTrait({ name, now: 0 })))
    await withStore(`postgres://postgres@${hosts}${pathname}`, async store => {
      await add(store, 'WITH_THE_FIRST')
      await setReadOnly('on')
      const outcome = () =>
        add(store, 'WITH_THE_SECOND').then(
          () => null,
          error => error as Error,
        )
      await eventually(outcome, error => {
        assert.ok(error === null || error instanceof StoreUnavailable, String(error))
        return error === null
      })
      await store.ping()
    })
    await setReadOnly('off')
    const has = (url: string, name: string) =>
      withStore(url, async store => (await store.read(() => one(traitByName({ name })))) !== undefined)
    assert.deepEqual(await Promise.all(wires.map(({ url }) => has(url, 'WITH_THE_FIRST'))), [true, false])
    assert.deepEqual(await Promise.all(wires.map(({ url }) => has(url, 'WITH_THE_SECOND'))), [false, true])
  })

  test('ends when it is told to while the network is silent', async () => {
    proxy.silence()
    assert.equal((await server.terminate()).code, 0)
  })
})

async function withStore<T>(url: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = new PostgresStore(url)
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
