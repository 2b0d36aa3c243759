// Claims that are decided on memory and written in one call of PostgreSQL: whatever memory doesn't know, the rows decide.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { Client } from 'pg'
import type { Entry } from '../../src/audit/entry.ts'
import { recordAll } from '../../src/audit/record.ts'
import { systemClock } from '../../src/clock/clock.ts'
import type { ClaimRequest } from '../../src/ledger/claims/claim.ts'
import { ClaimQueue } from '../../src/ledger/claims/queue.ts'
import { Mirror } from '../../src/ledger/mirror.ts'
import { checkEverything } from '../../src/measure/fsck.ts'
import { Problem } from '../../src/problems/problem.ts'
import { PostgresStore } from '../../src/store/postgres.ts'
import type { Store } from '../../src/store/store.ts'
import { eventually } from '../candidates/questions.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { type Proxy, startProxy } from '../support/proxy.ts'
import { chance, clients } from './clients.ts'

const ENTRY: Entry = {
  at: 1,
  requestId: 'req "1", {2}\\',
  user: 'null',
  project: null,
  roles: '',
  address: '::1',
  action: 'allocations:update',
  outcome: 'done',
}

interface Process {
  store: PostgresStore
  mirror: Mirror
  queue: ClaimQueue<Entry>
  /** How many calls were made, and how many of them lost. */
  calls: { made: number; lost: number }
}

describe('claims in one call of postgres', () => {
  let postgres: Awaited<ReturnType<typeof sharedPostgres>>
  let url: string
  let outside: Client
  let opened: Process[]

  before(async () => {
    postgres = await sharedPostgres()
  })
  after(() => postgres?.stop())
  beforeEach(async () => {
    url = await postgres.createDatabase()
    outside = new Client({ connectionString: url })
    await outside.connect()
    opened = []
  })
  afterEach(async () => {
    for (const { store } of opened) await store.close()
    const fresh = new PostgresStore(url)
    const findings = await checkEverything(fresh)
    await fresh.close()
    await outside.end()
    assert.deepEqual(
      findings.filter(({ violations }) => violations > 0),
      [],
    )
  })

  /** A process whose memory follows its own commits, and those of others only when it is told to read. */
  async function start(address = url): Promise<Process> {
    // Behind the proxy answers are lost, which a less patient process finds out sooner.
    const patience = address === url ? {} : { silenceMs: 200, connectMs: 1_000 }
    const store = new PostgresStore(address, { origin: randomUUID(), patience })
    const mirror = new Mirror(store, () => {})
    await mirror.load()
    store.onCommit(({ changes }) => mirror.absorb(changes))
    const calls = { made: 0, lost: 0 }
    const counted: Store = Object.assign(Object.create(store) as Store, {
      write: async (work: Parameters<Store['write']>[0], options: Parameters<Store['write']>[1]) => {
        if (options?.isAlone) calls.made++
        try {
          return await store.write(work, options)
        } catch (error) {
          if (options?.isAlone) calls.lost++
          throw error
        }
      },
    })
    const queue = new ClaimQueue<Entry>(counted, systemClock, {
      record: recordAll,
      atOnce: { mirror, origin: store.origin },
    })
    const made = { store, mirror, queue, calls }
    opened.push(made)
    return made
  }

  async function addProvider(total: number): Promise<string> {
    const uuid = randomUUID()
    await outside.query(
      `with p as (insert into providers (uuid, name, created_at) values ($1, $1, 0) returning id)
       insert into inventories (provider_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio,
         capacity, ceiling, created_at)
       select p.id, c.id, $2, 0, 1, $2, 1, 1, $2, $2, 0 from p, resource_classes c where c.name in ('VCPU', 'MEMORY_MB')`,
      [uuid, total],
    )
    await outside.query('update providers set root_id = id where uuid = $1', [uuid])
    return uuid
  }

  const claim = (provider: string, amount = 1, consumer = randomUUID()): ClaimRequest => ({
    kind: 'replace',
    owner: null,
    consumers: [
      {
        consumer,
        projectId: 'p',
        userId: 'u',
        type: 'INSTANCE',
        generation: null,
        resources: new Map([
          [
            provider,
            new Map([
              ['VCPU', amount],
              ['MEMORY_MB', amount],
            ]),
          ],
        ]),
      },
    ],
  })
  const release = (consumer: string): ClaimRequest => ({ kind: 'release', consumer, owner: null })

  const rowOf = async (provider: string) => {
    const { rows } = await outside.query<{ generation: string; revision: string; used: string }>(
      `select generation, revision, used from providers p join inventories i on i.provider_id = p.id
         join resource_classes c on c.id = class_id where c.name = 'VCPU' and p.uuid = $1`,
      [provider],
    )
    const { generation, revision, used } = rows[0]!
    return { generation: Number(generation), revision: Number(revision), used: Number(used) }
  }
  const remembered = ({ mirror: { table } }: Process, provider: string) => {
    const row = table.rowOfUuid(provider)
    return { generation: table.generation[row], used: table.column('VCPU')!.usedAt(row) }
  }
  const refusal = (kind: string) => (error: unknown) => error instanceof Problem && error.kind === kind

  test('claims and releases are one call each, and memory follows without a reading', async () => {
    const provider = await addProvider(100)
    const one = await start()
    const consumers = Array.from({ length: 10 }, () => randomUUID())
    await Promise.all(consumers.map(consumer => one.queue.submit(claim(provider, 2, consumer), ENTRY)))
    assert.deepEqual(one.calls, { made: 1, lost: 0 })
    assert.deepEqual(await rowOf(provider), { generation: 10, revision: 1, used: 20 })
    assert.deepEqual(remembered(one, provider), { generation: 10, used: 20 })
    await Promise.all(consumers.slice(5).map(consumer => one.queue.submit(release(consumer), ENTRY)))
    assert.deepEqual(one.calls, { made: 2, lost: 0 })
    assert.deepEqual(await rowOf(provider), { generation: 10, revision: 2, used: 10 })
    assert.deepEqual(remembered(one, provider), { generation: 10, used: 10 })
    const { rows } = await outside.query<{ request_id: string; user_id: string; project_id: string | null }>(
      `select request_id, user_id, project_id from log where action <> ''`,
    )
    assert.equal(rows.length, 15)
    for (const row of rows) assert.deepEqual(row, { request_id: ENTRY.requestId, user_id: 'null', project_id: null })
    const told = await outside.query(`select from log where providers is not null and origin = $1`, [one.store.origin])
    assert.equal(told.rowCount, 2)
  })

  test("full batches that are planned while others are written don't oversell, and lose no request", async () => {
    const [large, small] = [await addProvider(1_000), await addProvider(100)]
    const one = await start()
    await Promise.all(Array.from({ length: 256 }, () => one.queue.submit(claim(large), ENTRY)))
    assert.deepEqual(one.calls, { made: 4, lost: 0 })
    const outcomes = await Promise.allSettled(Array.from({ length: 256 }, () => one.queue.submit(claim(small), ENTRY)))
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 100)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') assert.ok(refusal('claim_exceeds_capacity')(outcome.reason))
    }
    assert.equal(one.queue.length, 0)
    assert.equal((await rowOf(large)).used, 256)
    assert.equal((await rowOf(small)).used, 100)
    await eventually(
      async () => [remembered(one, large).used, remembered(one, small).used],
      ([first, second]) => first === 256 && second === 100,
    )
  })

  test('while someone keeps rows locked, a release that needs them holds up nobody but the first time', async () => {
    const [locked, free] = [await addProvider(100), await addProvider(100)]
    const one = await start()
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()]
    await one.queue.submit(claim(locked, 1, first), ENTRY)
    await one.queue.submit(claim(locked, 1, second), ENTRY)
    await one.queue.submit(claim(free, 1, third), ENTRY)
    await outside.query('begin')
    await outside.query('select from providers where uuid = $1 for update', [locked])
    const held = [one.queue.submit(release(first), ENTRY)]
    // Its call has lost, and it is set aside.
    await eventually(
      async () => one.calls.lost + one.queue.length,
      sum => sum === 2,
    )
    held.push(one.queue.submit(release(second), ENTRY))
    await one.queue.submit(release(third), ENTRY)
    assert.equal(one.calls.lost, 1)
    await outside.query('rollback')
    await Promise.all(held)
    assert.equal((await rowOf(locked)).used, 0)
  })

  test('what others did to a provider since it was read is found by the call, and each request is judged on the rows', async () => {
    const changes: [string, string | null][] = [
      ['update inventories set min_unit = 3, max_unit = 50', 'claim_violates_units'],
      ['update inventories set step_size = 7', 'claim_violates_units'],
      ['update inventories set max_unit = 1', 'claim_violates_units'],
      ['update inventories set blocked = 1', 'claim_exceeds_capacity'],
      ['update inventories set total = 1, capacity = 1, ceiling = 1', 'claim_exceeds_capacity'],
      [`update providers set dedicated_to = 'leases'`, 'claim_on_dedicated_provider'],
      ['delete from inventories', 'claim_without_inventory'],
      ['update inventories set total = 50, capacity = 50, ceiling = 50', null],
    ]
    for (const [change, problem] of changes) {
      const provider = await addProvider(100)
      const one = await start()
      const which = `(select id from providers where uuid = '${provider}')`
      await outside.query(`${change} where ${change.includes('inventories') ? 'provider_id' : 'id'} = ${which}`)
      const submitted = one.queue.submit(claim(provider, 2), ENTRY)
      if (problem) await assert.rejects(submitted, refusal(problem), change)
      else await submitted
      assert.deepEqual(one.calls, { made: 1, lost: problem ? 1 : 0 }, change)
      await outside.query('update providers set dedicated_to = null')
    }
  })

  test('a consumer that someone else has made meanwhile is refused, and its neighbours are granted', async () => {
    const provider = await addProvider(100)
    const [one, other] = [await start(), await start()]
    const consumer = randomUUID()
    await other.queue.submit(claim(provider, 1, consumer))
    const outcomes = await Promise.allSettled([
      one.queue.submit(claim(provider, 1, consumer), ENTRY),
      one.queue.submit(claim(provider), ENTRY),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'fulfilled'],
    )
    assert.deepEqual(one.calls, { made: 1, lost: 1 })
    await eventually(
      async () => remembered(one, provider).used,
      used => used === 2,
    )
  })

  test('memory that missed a commit of others reads, and is right', async () => {
    const provider = await addProvider(100)
    const [one, other] = [await start(), await start()]
    await other.queue.submit(claim(provider, 5))
    await one.queue.submit(claim(provider, 3))
    assert.deepEqual(one.calls, { made: 1, lost: 0 })
    assert.deepEqual(remembered(one, provider), { generation: 2, used: 8 })
  })

  test('four processes with stale memories oversell nothing, lose nothing, and never wait for each other in a circle', async () => {
    const capacity = 16
    const providers: string[] = []
    for (let i = 0; i < 6; i++) providers.push(await addProvider(capacity))
    const processes = await clients(4, () => start())
    const shared: ReturnType<typeof randomUUID>[] = []
    let granted = 0
    let released = 0
    await clients(32, async index => {
      const next = chance(index + 1)
      const { queue } = processes[index % processes.length]!
      for (let i = 0; i < 25; i++) {
        const mine = shared.length > 0 && next(3) === 0 ? shared[next(shared.length)]! : randomUUID()
        const isRelease = next(3) === 0
        const [first, second] = [providers[next(6)]!, providers[next(6)]!]
        const wanted = claim(first, 1 + next(2), mine)
        const request: ClaimRequest =
          next(4) === 0 && wanted.kind === 'replace'
            ? { ...wanted, consumers: [...wanted.consumers, ...(claim(second) as typeof wanted).consumers] }
            : wanted
        try {
          await queue.submit(isRelease ? release(mine) : request, ENTRY)
          if (isRelease) released++
          else {
            granted++
            shared.push(mine)
          }
        } catch (error) {
          assert.ok(error instanceof Problem, String(error))
        }
      }
    })
    const made = processes.reduce((sum, { calls }) => sum + calls.made, 0)
    const lost = processes.reduce((sum, { calls }) => sum + calls.lost, 0)
    assert.ok(made > lost && lost > 0, `${made} calls, ${lost} lost`)
    for (const provider of providers) assert.ok((await rowOf(provider)).used <= capacity)
    const { rows } = await outside.query<{ entries: number }>(
      `select count(*)::int as entries from log where action <> ''`,
    )
    assert.equal(rows[0]!.entries, granted + released)
    for (const { mirror } of processes) {
      await mirror.load()
      for (const provider of providers) {
        const { generation, used } = await rowOf(provider)
        assert.deepEqual(remembered({ mirror } as Process, provider), { generation, used })
      }
    }
  })

  test('nobody removes an inventory or a consumer that claims are of', async () => {
    const provider = await addProvider(10)
    const one = await start()
    await one.queue.submit(claim(provider))
    const isRefused = { code: '23503' }
    await assert.rejects(outside.query('delete from inventories'), isRefused)
    await assert.rejects(outside.query('delete from consumers'), isRefused)
    await assert.rejects(outside.query('delete from providers'), isRefused)
  })

  describe('whose answer is lost', () => {
    let proxy: Proxy
    let doubts: number
    let provider: string
    let one: Process

    beforeEach(async () => {
      provider = await addProvider(100)
      proxy = await startProxy(url)
      one = await start(proxy.url)
      doubts = 0
      one.store.onDoubt(() => doubts++)
      await one.queue.submit(claim(provider))
      await outside.query(`
        create function dawdle() returns trigger language plpgsql as 'begin perform pg_sleep(0.1); return null; end';
        create trigger log_dawdles after insert on log execute function dawdle()`)
    })
    afterEach(() => proxy.stop())

    /** Submits a request and loses the answer, but not the number of the transaction, which comes well before. */
    async function loseAnswerTo(
      request: ClaimRequest,
      consumer: string,
      then: () => void = () => {},
    ): Promise<unknown> {
      const swallowed = proxy.swallowAnswerTo(consumer, { answer: 'SELECT 1\0' })
      const submitted = one.queue.submit(request, ENTRY)
      submitted.catch(() => {})
      await swallowed
      then()
      return submitted
    }

    test('are answered as done when they are, and memory reads', async () => {
      const consumer = randomUUID()
      await loseAnswerTo(claim(provider, 4, consumer), consumer)
      assert.deepEqual(remembered(one, provider), { generation: 2, used: 5 })
      await loseAnswerTo(release(consumer), consumer)
      assert.equal((await rowOf(provider)).used, 1)
      assert.equal(doubts, 2)
    })

    test('are told as unknown when nobody can tell, and memory is in doubt', async () => {
      const consumer = randomUUID()
      await assert.rejects(
        loseAnswerTo(claim(provider, 4, consumer), consumer, () => proxy.refuse()),
        /may be done/,
      )
      assert.equal(doubts, 1)
      proxy.pass()
      await eventually(
        async () => (await rowOf(provider)).used,
        used => used === 5,
      )
    })
  })
})
