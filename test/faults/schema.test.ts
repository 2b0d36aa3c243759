// A database that lacks a part of its schema, as a restore that was interrupted leaves it, never serves in silence.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Finding } from '../../src/store/fsck.ts'
import { checkEverything } from '../../src/measure/fsck.ts'
import { migrationsOf } from '../../src/store/migrate.ts'
import { openStore } from '../../src/store/open.ts'
import { type Fault, faultsInWords, reportOn } from '../../src/store/catalogue/compare.ts'
import { expectedOf } from '../../src/store/catalogue/expected.ts'
import { type AppliedRow, CATALOGUE, catalogueOf, type PartRow } from '../../src/store/catalogue/read.ts'
import type { Store } from '../../src/store/store.ts'
import { loadConfig } from '../../src/config/config.ts'
import { migrateStore } from '../../src/process/migrate.ts'
import { startConductor } from '../../src/process/serve.ts'
import { expectStatus, Placement } from '../support/placement.ts'
import { runHoldfast, startServer } from '../support/server.ts'
import { type Databases, eachDatabase, type Kind } from '../support/stores.ts'

/** Does something to the database that no process of ours does. */
async function forced(address: string, ...statements: string[]): Promise<void> {
  const store = openStore(address)
  await store.script(async run => {
    for (const statement of statements) await run(statement)
  })
  await store.close()
}

async function violated(address: string): Promise<Finding[]> {
  const store = openStore(address)
  const findings = await checkEverything(store)
  await store.close()
  return findings.filter(({ violations }) => violations > 0)
}

const REFUSED = /^Error: the database's schema is damaged: it (lacks|has another|can't) .*--damaged-schema$/

class Undone extends Error {}

/** What is wrong after this, in a transaction that is undone. */
async function faultsAfter(store: Store, does: string): Promise<readonly Fault[]> {
  let faults: readonly Fault[] = []
  const { dialect } = store
  const looking = store.script(async run => {
    await run(does)
    const parts = (await run(CATALOGUE[dialect])) as unknown as PartRow[]
    const applied = (await run('select name, checksum from migrations')) as unknown as AppliedRow[]
    ;({ faults } = reportOn(expectedOf(dialect), catalogueOf(parts, applied)))
    throw new Undone()
  })
  await looking.catch(error => {
    if (!(error instanceof Undone)) throw error
  })
  return faults
}

interface Hole {
  does: string
  /** What is said of it, and nothing else. */
  says: RegExp
}

/** Replaces the body of a function; here by one that checks nothing. */
const EMPTIED = `do $$ begin
  execute regexp_replace(pg_get_functiondef('claim_new'::regproc), 'used \\+ ', 'used + 0 * ', 'g'); end $$`

const HOLES: Record<Kind, Hole[]> = {
  sqlite: [
    { does: 'drop trigger bookings_fit', says: /lacks trigger bookings\.bookings_fit$/ },
    { does: 'drop trigger log_entries_stay', says: /lacks trigger log\.log_entries_stay$/ },
    { does: 'drop index deliveries_due', says: /lacks index deliveries\.deliveries_due$/ },
    { does: 'drop table seen_names', says: /lacks table seen_names$/ },
    { does: 'alter table nodes drop column description', says: /lacks column nodes\.description$/ },
    {
      does: 'drop index deliveries_due; create index deliveries_due on deliveries (id)',
      says: /has another index deliveries\.deliveries_due: CREATE INDEX deliveries_due on deliveries \(id\)$/,
    },
  ],
  postgres: [
    {
      does: 'drop trigger consumers_with_claims_stay on consumers',
      says: /lacks trigger consumers\.consumers_with_claims_stay$/,
    },
    {
      does: 'alter table inventories drop constraint inventories_check',
      says: /lacks constraint inventories\.inventories_check$/,
    },
    {
      does: 'alter table bookings drop constraint bookings_reservation_id_fkey',
      says: /lacks constraint bookings\.bookings_reservation_id_fkey$/,
    },
    { does: 'drop index deliveries_due', says: /lacks index deliveries\.deliveries_due$/ },
    { does: EMPTIED, says: /has another function claim_new\(/ },
    { does: 'drop table seen_names', says: /lacks table seen_names$/ },
    {
      does: 'alter table nodes alter column uuid drop not null',
      says: /has another column nodes\.uuid: text collate C$/,
    },
    {
      does: 'alter table deliveries alter column attempts drop default',
      says: /has another column deliveries\.attempts: bigint not null$/,
    },
    { does: 'alter table seen_names set unlogged', says: /has another table seen_names: not logged$/ },
    {
      does: 'alter table bookings disable trigger bookings_fit',
      says: /has another trigger bookings\.bookings_fit.*switched off/,
    },
  ],
}

/** All that pg_restore makes in its last section is gone. On SQLite nothing makes sections: what can be dropped is. */
const HALF: Record<Kind, string> = {
  postgres: `do $$ declare name record; begin
    for name in select t.tgname, c.relname from pg_trigger t join pg_class c on c.oid = t.tgrelid where not t.tgisinternal
      loop execute format('drop trigger %I on %I', name.tgname, name.relname); end loop;
    for name in select o.conname, c.relname from pg_constraint o join pg_class c on c.oid = o.conrelid
      where o.contype in ('f', 'u', 'p') and c.relnamespace = 'public'::regnamespace order by o.contype
      loop execute format('alter table %I drop constraint %I', name.relname, name.conname); end loop;
    for name in select indexname from pg_indexes where schemaname = 'public'
      loop execute format('drop index %I', name.indexname); end loop;
  end $$`,
  sqlite: `drop trigger bookings_fit; drop trigger bookings_stay; drop trigger bookings_extras_fit;
    drop trigger log_entries_stay; drop trigger log_entries_are_sealed_first; drop index deliveries_due; drop index nodes_by_state`,
}

eachDatabase('a database that lacks a part of its schema', databases => {
  const { kind } = databases
  const damaged = async (...statements: string[]) => {
    const address = await databases.create()
    await forced(address, ...statements)
    return address
  }

  describe('has it named:', () => {
    let store: Store
    before(async () => (store = openStore(await databases.create())))
    after(() => store.close())
    for (const { does, says } of HOLES[kind]) {
      test(does.slice(0, 80), async () => {
        const [fault, ...others] = await faultsAfter(store, does)
        assert.match(fault?.said ?? '', says)
        assert.deepEqual(others, [])
      })
    }
  })

  if (kind === 'postgres') {
    test('is told by fsck with the function that replaces two foreign keys', async () => {
      const address = await damaged('drop function is_claimed() cascade')
      const found = await violated(address)
      assert.deepEqual(
        found.map(({ invariant }) => /lacks (.*)$/.exec(invariant)?.[1]),
        ['function is_claimed()', 'trigger inventories.inventories_in_use_stay'],
      )
    })

    test('has its rows looked at for what the missing parts had promised', async () => {
      const address = await damaged('alter table consumers drop constraint consumers_uuid_key cascade')
      const uuid = randomUUID()
      const insert = `insert into consumers (uuid, generation, type, project_id, user_id, created_at)
        select '${uuid}', 0, null, 'p', 'u', 0 from generate_series(1, 2)`
      await forced(address, insert)
      const twice = (await violated(address)).find(({ invariant }) => invariant.startsWith('rows keep'))
      assert.deepEqual(twice, {
        invariant: 'rows keep what is missing: constraint consumers.consumers_uuid_key: UNIQUE (uuid)',
        violations: 1,
      })
    })
  }

  test('that was restored by halves is refused in one line by whoever would serve it, and by migrate', async () => {
    const address = await damaged(HALF[kind])
    await assert.rejects(startServer(address), REFUSED)
    await assert.rejects(startServer(address, {}, 'api'), REFUSED)
    assert.ok((await violated(address)).length > 5)
    const commands = kind === 'postgres' ? ['conductor', 'migrate'] : ['migrate']
    for (const command of commands) {
      const { code, stderr } = await runHoldfast([command, '--database', address, '--log-level', 'silent']).exit
      assert.equal(code, command === 'migrate' ? 1 : 2, stderr)
      assert.match(
        stderr,
        /^holdfast: the database's schema is damaged: it lacks .* and \d+ more; restore it whole.*\n$/,
      )
    }
  })

  if (kind === 'postgres') {
    test('lets a conductor end in one line that --damaged-schema has sent to work on it', async () => {
      const address = await damaged(HALF[kind])
      const settings = { database: address, damagedSchema: true, logLevel: 'silent' as const }
      const config = { ...loadConfig({}, {}, undefined), ...settings }
      await assert.rejects(
        startConductor(config),
        /^Error: no conductor can work on this database: .*schema is damaged/,
      )
    })
  }

  test('is served with --damaged-schema, and says so', async () => {
    const address = await damaged(HALF[kind])
    const server = await startServer(address, { damagedSchema: true })
    const api = new Placement(server.origin)
    try {
      const ready = await fetch(`${server.origin}/readyz`)
      assert.equal(ready.status, 200)
      const { status, damage } = (await ready.json()) as { status: string; damage: string }
      assert.equal(status, 'ready')
      assert.match(damage, /schema is damaged: it lacks/)
      const metrics = await (await fetch(`${server.origin}/metrics`)).text()
      assert.match(metrics, /^holdfast_schema_faults [1-9]/m)
      expectStatus(await api.get('/resource_providers'), 200)
    } finally {
      api.close()
      await server.stop()
    }
  })

  test('while it is served makes the server unready, until it is whole again', async () => {
    const address = await databases.create()
    const server = await startServer(address)
    const api = new Placement(server.origin)
    const ready = async () => {
      const { status } = await fetch(`${server.origin}/readyz`)
      return status
    }
    try {
      assert.equal(await ready(), 200)
      await forced(address, 'drop index deliveries_due')
      await assert.rejects(api.fsck(), /lacks index deliveries\.deliveries_due/)
      const answer = await fetch(`${server.origin}/readyz`)
      assert.equal(answer.status, 503)
      assert.match(await answer.text(), /schema is damaged: it lacks index deliveries\.deliveries_due/)
      await forced(address, 'create index deliveries_due on deliveries (due_at, id) where due_at is not null')
      await api.fsck()
      assert.equal(await ready(), 200)
    } finally {
      api.close()
      await server.stop()
    }
  })

  test('has what an operator added named, and is served', async () => {
    const address = await damaged(
      'create index mine on nodes (name)',
      'create table ours (id int primary key)',
      'alter table nodes add column rack text',
      kind === 'postgres' ? 'alter index deliveries_due set (fillfactor = 70)' : 'analyze',
    )
    const server = await startServer(address)
    const api = new Placement(server.origin)
    try {
      const answer = await fetch(`${server.origin}/holdfast/v1/fsck`, { headers: { 'x-auth-token': 'admin' } })
      const { invariants } = (await answer.json()) as { invariants: Finding[] }
      const left = invariants.find(({ invariant }) => invariant.includes('left alone'))
      assert.equal(
        left!.invariant,
        'not made by a migration, and left alone: column nodes.rack, index nodes.mine, table ours',
      )
    } finally {
      api.close()
      await server.stop()
    }
  })

  describe('and the migrations', () => migrations(databases))
})

function migrations({ kind, create }: Databases): void {
  const checksums = async (address: string) => {
    const store = openStore(address)
    const rows = await store.script(run => run('select checksum from migrations order by name'))
    await store.close()
    return rows.map(({ checksum }) => checksum)
  }
  const migrateOf = async (address: string) => {
    const store = openStore(address)
    const { report } = await migrateStore(store)
    await store.close()
    return faultsInWords(report) ?? ''
  }

  for (const [what, does, says] of [
    [
      'one that was edited',
      "update migrations set checksum = 'x' where name = '0025-notes'",
      'got another migration 0025-notes than',
    ],
    [
      'one of nobody',
      "insert into migrations values ('0032-theirs', '', 'x')",
      "has the migration 0032-theirs, which this version doesn't know",
    ],
  ] as const) {
    test(`${what} is told by migrate, fsck and the start`, async () => {
      const address = await create()
      await forced(address, does)
      assert.ok((await migrateOf(address)).includes(says))
      const [found, ...others] = await violated(address)
      assert.ok(found!.invariant.includes(says), found!.invariant)
      assert.deepEqual(others, [])
      await assert.rejects(startServer(address), new RegExp(says))
    })
  }

  test('get their checksums when they are applied, and those of before at the next migrate of a whole database', async () => {
    const address = await create()
    const kept = await checksums(address)
    assert.ok(kept.every(checksum => typeof checksum === 'string' && /^[0-9a-f]{32}$/.test(checksum)))
    assert.equal(kept.length, migrationsOf(kind).length)

    await forced(address, 'update migrations set checksum = null', 'drop index deliveries_due')
    assert.match(await migrateOf(address), /lacks index/)
    assert.ok((await checksums(address)).every(checksum => checksum === null))
    await forced(address, 'create index deliveries_due on deliveries (due_at, id) where due_at is not null')
    assert.equal(await migrateOf(address), '')
    assert.deepEqual(await checksums(address), kept)
  })

  test('of a newer version are not judged by this one, which works on', async () => {
    const address = await create()
    await forced(address, "insert into migrations values ('9999-future', '', 'x')", 'drop index deliveries_due')
    const server = await startServer(address, {}, 'api')
    const ready = await fetch(`${server.origin}/readyz`)
    await server.stop()
    assert.deepEqual(await ready.json(), { status: 'ready' })
    assert.deepEqual(await violated(address), [])
  })
}
