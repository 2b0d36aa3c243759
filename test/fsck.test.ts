// What was broken behind the service's back is found, and named by the promise that it breaks.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { closeSync, copyFileSync, mkdtempSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { fsckOfDatabase } from '../src/cli/fsck/database.ts'
import { loadConfig } from '../src/config/config.ts'
import { checkEverything } from '../src/measure/fsck.ts'
import { StoreDamaged } from '../src/store/failure.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/store.ts'
import { expectStatus, Placement } from './support/placement.ts'
import { runHoldfast, startServer } from './support/server.ts'
import { eachDatabase } from './support/stores.ts'

interface Harm {
  does: string
  undo: string
  /** What fsck says; a part of each invariant's name. */
  breaks: string[]
  /** What SQLite finds out by itself. */
  seenBySqlite?: 'integrity_check' | 'foreign_key_check'
  /** On PostgreSQL it can only be done without this constraint. */
  without?: { table: string; constraint: string; rule: string }
}

const inventory = (column: string, value: string, breaks: string): Harm => ({
  does: `update inventories set ${column} = ${value}`,
  undo: 'total = 8, reserved = 0, capacity = 8, ceiling = 8, min_unit = 1, max_unit = 8, step_size = 1, blocked = 0'
    .split(', ')
    .map(set => `update inventories set ${set}`)
    .join('; '),
  breaks: [breaks],
})

/** A row of nothing: all its numbers are of things that aren't there. */
const orphan = (table: string, columns: string, values: string, breaks: string): Harm => ({
  does: `insert into ${table} (${columns}) values (${values})`,
  undo: `delete from ${table} where ${columns.split(', ')[0]!} = ${values.split(', ')[0]!}`,
  breaks: [breaks],
  seenBySqlite: 'foreign_key_check',
})

const capital = (table: string, column: string, breaks: string): Harm => ({
  does: `update ${table} set ${column} = upper(${column})`,
  undo: `update ${table} set ${column} = lower(${column})`,
  breaks: [breaks],
})

const EXIST = {
  ledger: 'inventories, traits and aggregates are of',
  metal: 'ports, portgroups, nodes and holds are of',
  compute: 'hypervisors, servers, moves and access are of',
  leases: 'reservations, events, bookings and hosts are of',
}

const HARMS: Harm[] = [
  inventory('capacity', '7', 'an inventory’s capacity is'),
  inventory('step_size', '0', 'whole steps'),
  inventory('min_unit', '9', 'whole steps'),
  inventory('min_unit', '0', 'whole steps'),
  {
    ...inventory('blocked', '2', 'blocked or it is not'),
    seenBySqlite: 'integrity_check',
    without: { table: 'inventories', constraint: 'inventories_blocked_check', rule: 'check (blocked in (0, 1))' },
  },
  inventory('total = 0, capacity', '0', 'an inventory has something'),
  {
    does: 'update providers set generation = -1',
    undo: 'update providers set generation = 3',
    breaks: ['generation and revision'],
  },
  {
    does: 'update providers set revision = -1',
    undo: 'update providers set revision = 3',
    breaks: ['generation and revision'],
  },
  capital('providers', 'uuid', 'providers and consumers have uuids'),
  capital('consumers', 'uuid', 'providers and consumers have uuids'),
  orphan(
    'inventories',
    'provider_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio, capacity, ceiling, created_at',
    '999, (select min(id) from resource_classes), 8, 0, 1, 8, 1, 1, 8, 8, 0',
    EXIST.ledger,
  ),
  orphan('provider_traits', 'provider_id, trait_id', '999, (select min(id) from traits)', EXIST.ledger),
  orphan('provider_traits', 'trait_id, provider_id', '999999, (select min(id) from providers)', EXIST.ledger),
  {
    does: "insert into provider_traits select id, (select min(id) from traits), 'baremetal' from providers",
    undo: 'delete from provider_traits',
    breaks: ['a trait is from Placement’s clients or from the owner'],
  },
  orphan('provider_aggregates', 'provider_id, aggregate', `999, '${randomUUID()}'`, EXIST.ledger),
  orphan('hypervisors', 'provider_id, state, status, updated_at', "999, 'up', 'enabled', 0", EXIST.compute),
  orphan('flavor_access', 'flavor_id, project_id', "'none', 'p'", EXIST.compute),
  orphan('host_capabilities', 'provider_id, name, value', "999, 'a', 'b'", EXIST.leases),
  orphan(
    'lease_events',
    'id, lease_id, event_type, time, created_at',
    `'${randomUUID()}', 'none', 'end_lease', 0, 0`,
    EXIST.leases,
  ),
  orphan(
    'portgroups',
    'node_id, uuid, mode, standalone_ports_supported, properties, extra, created_at',
    `999, '${randomUUID()}', 'x', 1, '{}', '{}', 0`,
    EXIST.metal,
  ),
  {
    does: "insert into chassis (uuid, extra, created_at) values ('ABC', '{}', 0)",
    undo: 'delete from chassis',
    breaks: ['nodes, and what they have, have uuids'],
  },
  {
    does: 'update audit_chain set head_last = head_last + 1',
    undo: 'update audit_chain set head_last = head_last - 1',
    breaks: ['the sealed part of the audit'],
  },
  {
    does: "insert into audit_seals (id, entries, last, seal, sealed_at) values (0, 0, 0, '', 0)",
    undo: 'delete from audit_seals where id = 0',
    breaks: ['the sealed part of the audit'],
  },
  {
    does: 'create table chain_before as select * from audit_chain; delete from audit_chain',
    undo: 'insert into audit_chain select * from chain_before; drop table chain_before',
    breaks: ['the sealed part of the audit'],
  },
]

eachDatabase('fsck', ({ kind, create }) => {
  let address: string
  let store: Store
  let forced: (sql: string) => Promise<void>
  let close: () => Promise<void>
  before(async () => {
    address = await create()
    await fill(address)
    store = openStore(address)
    ;({ forced, close } = kind === 'sqlite' ? forcedSqlite(address) : await forcedPostgres(address))
  })
  after(async () => {
    await close()
    await store.close()
  })
  const broken = async () => (await checkEverything(store)).filter(({ violations }) => violations > 0)

  for (const { does, undo, breaks, seenBySqlite, without } of HARMS) {
    test(`sees this and nothing else: ${does.slice(0, 80)}`, async () => {
      assert.deepEqual(await broken(), [])
      const lifted = kind === 'postgres' ? without : undefined
      const { table, constraint, rule } = lifted ?? {}
      if (lifted) await forced(`alter table ${table} drop constraint ${constraint}`)
      await forced(does)
      try {
        const found = await broken()
        const seen = lifted ? [`lacks constraint ${table}.${constraint}`, `rows keep what is missing`] : []
        const expected = [...seen, ...(kind === 'sqlite' && seenBySqlite ? [seenBySqlite] : []), ...breaks]
        assert.equal(found.length, expected.length, JSON.stringify(found))
        for (const [i, part] of expected.entries()) assert.ok(found[i]!.invariant.includes(part), found[i]!.invariant)
      } finally {
        await forced(undo)
        if (lifted) await forced(`alter table ${table} add constraint ${constraint} ${rule}`)
      }
    })
  }

  test('a server starts on what is of nothing, and tells of it', async () => {
    const orphans = HARMS.filter(({ breaks: [broken] }) => Object.values(EXIST).includes(broken!))
    for (const { does } of orphans) await forced(does)
    const server = await startServer(address)
    const api = new Placement(server.origin)
    try {
      expectStatus(await api.get('/allocation_candidates?resources=VCPU:1'), 200)
      await assert.rejects(api.fsck(), /are of providers, classes and traits that exist/)
    } finally {
      api.close()
      await server.stop()
      for (const { undo } of orphans) await forced(undo)
    }
  })

  if (kind === 'postgres') {
    test('sees a trigger that is switched off', async () => {
      await forced('alter table bookings disable trigger bookings_stay')
      const [found, ...others] = await broken()
      assert.match(found!.invariant, /another trigger bookings.bookings_stay: .* \(switched off\)$/)
      assert.deepEqual(others, [])
      await forced('alter table bookings enable trigger bookings_stay')
    })
  }
})

describe('fsck of a damaged file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-damaged-'))
  after(() => rmSync(folder, { recursive: true }))
  const whole = join(folder, 'whole.db')
  before(() => fill(`sqlite:${whole}`))

  /** A copy with these bytes in it; answers its address. */
  function damaged(name: string, at: number, bytes: Buffer): string {
    const file = join(folder, name)
    copyFileSync(whole, file)
    const opened = openSync(file, 'r+')
    writeSync(opened, bytes, 0, bytes.length, at)
    closeSync(opened)
    return `sqlite:${file}`
  }

  const rootOf = (table: string) => {
    const database = new DatabaseSync(whole)
    const { rootpage } = database.prepare('select rootpage from sqlite_master where name = ?').get(table)!
    const { page_size: size } = database.prepare('pragma page_size').get()!
    database.close()
    return (Number(rootpage) - 1) * Number(size)
  }

  test('tells in a line what can’t be read, and checks the rest', async () => {
    const database = damaged('page.db', rootOf('claims'), Buffer.alloc(4096, 0xff))
    const { code, stdout, stderr } = await runHoldfast(['fsck', '--database', database]).exit
    assert.equal(code, 1)
    assert.equal(stderr, '')
    assert.match(stdout, /^ +[1-9]\d* {2}the database file is whole/m)
    assert.match(stdout, /^ +1 {2}a consumer has claims \(can't be read: database disk image is malformed\)$/m)
    assert.match(stdout, /^ +0 {2}a provider has the root of its parent/m)
  })

  test('tells of a file that isn’t a database any more', async () => {
    const database = damaged('head.db', 0, Buffer.alloc(100, 0xff))
    const { invariants } = await fsckOfDatabase({ ...loadConfig({}, {}, undefined), database })
    assert.deepEqual(invariants, [
      { invariant: "the database can be opened (can't be read: file is not a database)", violations: 1 },
    ])
    await assert.rejects(startServer(database), StoreDamaged)
  })

  test('tells of a file that was cut off', async () => {
    const database = damaged('short.db', 0, Buffer.alloc(0))
    const file = database.slice('sqlite:'.length)
    const { size } = statSync(file)
    truncateSync(file, Math.floor(size / 4096 / 2) * 4096)
    const { violations } = await fsckOfDatabase({ ...loadConfig({}, {}, undefined), database })
    assert.ok(violations > 0)
  })
})

/** A provider with all that there can be of it, and a consumer. */
async function fill(address: string): Promise<void> {
  const server = await startServer(address)
  const api = new Placement(server.origin)
  const provider = await api.provider({ VCPU: { total: 8, max_unit: 8 } })
  expectStatus(await api.claim(randomUUID(), { [provider]: { VCPU: 1 } }), 204)
  api.close()
  await server.stop()
}

function forcedSqlite(address: string) {
  const database = new DatabaseSync(address.slice('sqlite:'.length), { enableForeignKeyConstraints: false })
  database.exec('pragma ignore_check_constraints = on')
  return { forced: async (sql: string) => database.exec(sql), close: async () => database.close() }
}

async function forcedPostgres(address: string) {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  await client.query('set session_replication_role = replica')
  return { forced: async (sql: string) => void (await client.query(sql)), close: () => client.end() }
}
