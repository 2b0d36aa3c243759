// How PostgreSQL finds rows when its plans were made while every table was empty: as after a night in which all was released.
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { after, afterEach, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { Client } from 'pg'
import { claimBatch } from '../../src/ledger/claims/batch.ts'
import type { ClaimRequest } from '../../src/ledger/claims/claim.ts'
import { consumerClaims } from '../../src/ledger/claims/find.ts'
import { findProvider } from '../../src/ledger/providers.ts'
import { Feed } from '../../src/store/feed.ts'
import { migrate } from '../../src/store/migrate.ts'
import { PostgresStore } from '../../src/store/postgres.ts'
import { PLANNER } from '../../src/store/session.ts'
import { query, statements } from '../../src/store/statement.ts'
import { all, one, type Write } from '../../src/store/transaction.ts'
import { sharedPostgres } from '../support/postgres.ts'

const MANY = 20_000
const FEW = 100

// What reads a whole table because it is asked for all of it.
const READ_ALL = [
  /^select \* from \(\s*with relations as materialized/, // the schema
  /from migrations as "m"$/,
  /^select count\(\*\) as "count" from \(/, // the invariants of fsck
  /^select \* from "resource_classes" order by "id"$/,
  /^select \* from "traits" order by "name"$/,
  /^select distinct "trait_id" as "id" from "provider_traits"$/,
  /^select "p"."id".* from "providers" as "p" order by "p"."id"$/,
  /^select json_agg.* from \(select "id", "name" from "(resource_classes|traits)"\) as "p"$/,
  // The schema, at a start.
  /^select \* from \(\s*with relations as/,
  /from migrations as "m"$/,
  // A provider moves with all below it; there are no other words for a tree that both databases know.
  /^with recursive "members"/,
]

// This file's own statements.
const rowsRead = query((db, _: object) =>
  db
    .selectFrom(
      sql<{ read: number }>`(select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint as read
      from pg_stat_xact_user_tables)`.as('s'),
    )
    .select('s.read'),
)
const claimsOfConsumer = query((db, a: { uuid: string }) =>
  db
    .selectFrom('consumers as c')
    .innerJoin('claims as l', 'l.consumer_id', 'c.id')
    .select('l.used')
    .where('c.uuid', '=', a.uuid)
    .orderBy('l.provider_id'),
)
const OWN = new Set([rowsRead({}), claimsOfConsumer({ uuid: '' })].map(call => call.compiled.postgres.sql))

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Plans?: Plan[]
}

interface Explained {
  'QUERY PLAN': [{ Plan: Plan }]
}

describe('plans of PostgreSQL made while all tables were empty', () => {
  let postgres: Awaited<ReturnType<typeof sharedPostgres>>
  let store: PostgresStore
  let admin: Client

  before(async () => {
    postgres = await sharedPostgres()
  })
  after(() => postgres.stop())

  /** An empty database that PostgreSQL knows to be empty. */
  async function open(options: { planMs?: number } = {}): Promise<void> {
    const url = await postgres.createEmpty()
    store = new PostgresStore(url, { connections: 1, ...options })
    await migrate(store, 0)
    admin = new Client({ connectionString: url, options: PLANNER })
    await admin.connect()
    await admin.query('alter table consumers set (autovacuum_enabled = off)')
    await admin.query('alter table claims set (autovacuum_enabled = off)')
    await admin.query('vacuum analyze')
  }

  afterEach(async () => {
    await admin.end()
    await store.close()
  })

  test('every statement of the ledger finds its rows by the first column of an index', async () => {
    const folder = fileURLToPath(new URL('../../src/ledger/', import.meta.url))
    for (const file of globSync(`${folder}**/*.ts`)) if (!file.endsWith('.test.ts')) await import(file)
    await open()
    const isByKey = await keys()
    assert.ok(statements.length > 50)
    for (const { postgres: compiled } of statements) {
      if (OWN.has(compiled.sql) || READ_ALL.some(pattern => pattern.test(compiled.sql))) continue
      const scans = scansOf(await planOf(compiled.sql)).filter(scan => !isByKey(scan))
      assert.deepEqual(scans, [], compiled.sql)
    }
  })

  test('the feed reads what is new in the log by its key', async () => {
    await open()
    const isByKey = await keys()
    const failed = (error: unknown) => assert.fail(String(error))
    const reader = { refresh: async () => {}, load: async () => {}, lagged: () => {}, woken: () => {}, failed }
    const feed = new Feed(store, reader)
    await feed.load()
    await addProviders()
    await feed.poll()
    const client = await store.pool.connect()
    try {
      for (const name of ['feed_entries', 'feed_topics']) {
        const explained = await client.query<Explained>(`explain (format json) execute ${name}(null, null)`)
        const scans = scansOf(planIn(explained))

        assert.ok(scans.length > 0 && scans.every(isByKey), name)
      }
    } finally {
      client.release()
    }
    await feed.stop()
  })

  /** Says of a scan whether it finds its rows by the first column of its index. */
  async function keys(): Promise<(scan: Plan) => boolean> {
    const { rows } = await admin.query<{ index: string; first: string }>(
      `select c.relname as index, a.attname as first from pg_index i join pg_class c on c.oid = i.indexrelid
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]`,
    )
    const firstOf = new Map(rows.map(({ index, first }) => [index, first]))
    return scan => {
      const tests = scan['Index Cond']?.split(' AND ') ?? []
      return tests.some(condition => condition.replace(/^\(+/, '').startsWith(`${firstOf.get(scan['Index Name']!)} `))
    }
  }

  async function planOf(text: string): Promise<Plan> {
    await admin.query(`prepare it as ${text}`)
    const known = await admin.query<{ count: number }>(
      `select cardinality(parameter_types) as count from pg_prepared_statements where name = 'it'`,
    )
    const nulls = Array.from({ length: known.rows[0]!.count }, () => 'null').join(', ')
    const explain = `explain (format json) execute it${nulls && `(${nulls})`}`
    const explained = await admin.query<Explained>(explain)
    await admin.query('deallocate it')
    return planIn(explained)
  }

  const claim = (consumers: readonly number[], amount: number): ClaimRequest => ({
    kind: 'replace',
    owner: null,
    consumers: consumers.map(n => ({
      consumer: `c${n}`,
      projectId: 'p',
      userId: 'u',
      type: 'INSTANCE',
      generation: undefined,
      resources: new Map([['p1', new Map([['VCPU', amount]])]]),
    })),
  })

  /** Does the work and says how many rows PostgreSQL read for it. */
  const readFor = (work: () => Write<unknown>): Promise<number> =>
    store.write(function* () {
      const before = yield* one(rowsRead({}))
      yield* work()
      return (yield* one(rowsRead({})))!.read - before!.read
    })

  async function fill(): Promise<void> {
    await admin.query(`
      insert into consumers (uuid, project_id, user_id, generation, created_at)
        select 'f' || n, 'f', 'f', 1, 0 from generate_series(1, ${MANY}) n;
      insert into claims (consumer_id, provider_id, class_id, used, created_at)
        select id, 2, (select id from resource_classes where name = 'VCPU'), 1, 0 from consumers where project_id = 'f'`)
  }

  async function addProviders(): Promise<void> {
    await admin.query(`
      insert into resource_classes (name, created_at) values ('VCPU', 0) on conflict do nothing;
      insert into providers (uuid, name, created_at) select 'p' || n, 'p' || n, 0 from generate_series(1, 2) n;
      update providers set root_id = id;
      insert into inventories
          (provider_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio, capacity, ceiling, created_at)
        select p.id, c.id, 100000, 0, 1, 100000, 1, 1, 100000, 100000, 0 from providers p, resource_classes c
        where c.name = 'VCPU'`)
  }

  test('a claim reads no more rows when twenty thousand others have come since', async () => {
    await open({ planMs: 1e9 })
    await addProviders()
    const rounds: (() => Write<unknown>)[] = [
      () => claimBatch([claim([1, 2, 3], 1), claim([4], 1)], 0),
      () => claimBatch([claim([1, 2], 2), claim([4], 3)], 0),
      () => consumerClaims('c1'),
      () => findProvider('p1'),
      () => claimBatch([{ kind: 'release', consumer: 'c1', owner: null }, claim([2], 1)], 0),
      () => claimBatch([claim([5], 1_000_000)], 0),
    ]
    for (const work of rounds) await store.write(work)
    await fill()
    for (const [i, work] of rounds.entries()) {
      const read = await readFor(work)

      assert.ok(read < FEW, `round ${i} read ${read} rows`)
    }
  })

  test('a join is planned anew for tables that have grown', async () => {
    await open({ planMs: 0 })
    await addProviders()
    const join = () => all(claimsOfConsumer({ uuid: 'f7' }))
    await store.write(join)
    await fill()
    const read = await readFor(join)
    assert.ok(read < FEW, `it read ${read} rows`)
  })
})

const planIn = ({ rows }: { rows: Explained[] }): Plan => rows[0]!['QUERY PLAN'][0].Plan

function scansOf(plan: Plan): Plan[] {
  const isScan = /^(Seq|Index|Index Only|Bitmap Index) Scan$/.test(plan['Node Type'])
  return [...(isScan ? [plan] : []), ...(plan.Plans ?? []).flatMap(scansOf)]
}
