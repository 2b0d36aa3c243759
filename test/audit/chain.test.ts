// The chain of seals over the audit: what is sealed stays as it was, or is found out.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { type Entry, rowOf } from '../../src/audit/entry.ts'
import { checkAudit } from '../../src/audit/fsck.ts'
import { pruneSealed, sealNext } from '../../src/audit/seals.ts'
import { limits } from '../../src/shared/limits.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openStore } from '../../src/store/open.ts'
import { PLANNER } from '../../src/store/session.ts'
import type { Store } from '../../src/store/store.ts'
import { log } from '../../src/store/transaction.ts'
import { eachDatabase } from '../support/stores.ts'

const ENTRY: Entry = {
  at: 1_000,
  requestId: 'req-1',
  user: 'me',
  project: 'mine',
  roles: 'admin',
  address: '127.0.0.1',
  action: 'placement:traits:update',
  outcome: 'done',
}

eachDatabase('the audit’s chain', databases => {
  void describe('', () => {
    let address: string
    let store: Store
    before(async () => {
      address = await databases.create()
      store = openStore(address)
      await migrate(store, 0)
    })
    after(() => store.close())

    const write = (count: number) =>
      store.write(() => log(Array.from({ length: count }, (_, i) => rowOf(ENTRY, [{ kind: 'trait', id: `T${i}` }]))))
    const seal = async (now = 5_000) => {
      await store.ordered()
      return store.write(() => sealNext(now))
    }
    const violations = async () => (await checkAudit(store)).violations
    const sql = (text: string) => store.script(run => run(text))
    const numbers = async (text: string) => (await sql(text)).map(row => Number(Object.values(row)[0]))

    /** Does this to the tables as someone who owns them would, looks, and puts everything back. */
    async function tampered(...statements: string[]): Promise<number> {
      const tables = ['audit_chain', 'audit_seals', 'log', ...(databases.kind === 'postgres' ? ['log_order'] : [])]
      const guards = await guardsOff()
      for (const table of tables) await sql(`create table ${table}_before as select * from ${table}`)
      try {
        for (const statement of statements) await sql(statement)
        return await violations()
      } finally {
        for (const table of tables.toReversed()) await sql(`delete from ${table}`)
        for (const table of tables) {
          await sql(`insert into ${table} select * from ${table}_before`)
          await sql(`drop table ${table}_before`)
        }
        for (const guard of guards) await sql(guard)
        assert.equal(await violations(), 0)
      }
    }

    /** Takes the triggers away; answers what brings them back. */
    async function guardsOff(): Promise<string[]> {
      if (databases.kind === 'postgres') {
        await sql('alter table log disable trigger all')
        return ['alter table log enable trigger all']
      }
      const triggers = await sql("select name, sql from sqlite_master where type = 'trigger'")
      for (const { name } of triggers) await sql(`drop trigger ${String(name)}`)
      return triggers.map(trigger => String(trigger['sql']))
    }

    void test('nothing is sealed when nothing is there', async () => {
      assert.equal(await seal(), 0)
      assert.equal(await violations(), 0)
    })

    void test('entries are sealed once, in batches', async () => {
      await write(limits.auditSealEntries + 10)
      assert.equal(await seal(), limits.auditSealEntries)
      assert.equal(await seal(), 10)
      assert.equal(await seal(), 0)
      assert.deepEqual(await numbers('select entries from audit_seals order by id'), [limits.auditSealEntries, 10])
      assert.equal(await violations(), 0)
    })

    void test('any text is sealed as it is read again', async () => {
      const texts = Array.from({ length: 0x800 }, (_, page) =>
        // Without NUL and halves of surrogate pairs, which no text in the database has.
        String.fromCodePoint(...Array.from({ length: 32 }, (_, at) => page * 32 + at || 1)).toWellFormed(),
      )
      const rows = [...texts, '🤖\u{10ffff}', '\\"\n'].map(user => rowOf({ ...ENTRY, user, project: null }, []))
      await store.write(() => log(rows))
      while ((await seal()) > 0);
      assert.equal(await violations(), 0)
    })

    void test('many seals are checked page by page', async () => {
      for (let i = 0; i < limits.auditCheckSeals + 3; i++) {
        await write(2)
        await seal()
      }
      assert.equal(await violations(), 0)
    })

    void test('several that want to seal at once make one chain', async () => {
      await write(3 * limits.auditSealEntries)
      let sealed = 0
      while (sealed < 3 * limits.auditSealEntries) {
        const counts = await Promise.all(Array.from({ length: 6 }, () => seal()))
        sealed += counts.reduce((sum, count) => sum + count, 0)
      }
      assert.equal(sealed, 3 * limits.auditSealEntries)
      assert.equal(await violations(), 0)
    })

    void test('what was done to a sealed entry is found', async () => {
      // All was written in order, so an entry's place is its id.
      const [id] = await numbers('select last from audit_seals where id = 2')
      for (const statement of [
        `update log set user_id = 'someone else' where id = ${id}`,
        `update log set objects = '[]' where id = ${id}`,
        `update log set at = at + 1 where id = ${id}`,
        `delete from log where id = ${id}`,
      ]) {
        assert.equal(await tampered(statement), 1, statement)
      }
      assert.equal(await tampered('update audit_seals set last = last - 1 where id = 2'), 2, 'two seals don’t fit')
    })

    void test('who brings entries into the past, or into another order, is found', async t => {
      if (databases.kind === 'sqlite') return t.skip('ids are places, and no id is free')
      const ghost = `insert into log (xid, at, user_id, roles, address, action, objects, outcome)
        values (null, 1, 'ghost', '', '', 'nothing', '[]', 'done')`
      assert.equal(await tampered(ghost), 1)
      const reversed = `update log_order set entries = array(select unnest(entries) order by 1 desc) where first = 1`
      assert.ok((await tampered(reversed)) > 0)
    })

    void test('what was done to the seals is found', async () => {
      const [head] = await numbers('select head_id from audit_chain')
      const drop = (id: number) => [
        `delete from log where id = (select last from audit_seals where id = ${id})`,
        `delete from audit_seals where id = ${id}`,
      ]
      assert.ok((await tampered(...drop(2))) > 0, 'one is missing')
      assert.ok((await tampered(...drop(1))) > 0, 'the first is missing')
      assert.ok((await tampered(...drop(head!))) > 0, 'the newest is missing')
      assert.ok((await tampered(`update audit_seals set seal = 'x' where id = 2`)) > 0, 'one is another')
      assert.ok((await tampered(`update audit_chain set head_seal = 'x'`)) > 0, 'the end is another')
    })

    void test('entries can not be changed, and not be deleted before they are sealed', async () => {
      await write(1)
      await assert.rejects(sql(`update log set user_id = 'x'`), /can not be changed/)
      await assert.rejects(sql('delete from log where id = (select max(id) from log)'), /deleted before it is sealed/)
      await seal()
    })

    void test('pruning drops what was sealed before a time and keeps where the chain begins', async () => {
      await write(5)
      await seal(9_000)
      while ((await store.write(() => pruneSealed(6_000))) > 0);
      assert.ok(
        (await numbers('select count(*) from log')).every(count => count >= 5 && count < limits.auditSealEntries),
      )
      assert.equal(await violations(), 0)
      assert.deepEqual(await numbers('select anchor_id + 1 - head_id from audit_chain'), [0])
      assert.ok((await tampered(`update audit_chain set anchor_seal = 'x'`)) > 0)
      assert.ok((await tampered('delete from log where id = (select max(last) from audit_seals)')) > 0)
      await write(2)
      await seal(9_000)
      assert.equal(await violations(), 0)
      while ((await store.write(() => pruneSealed(10_000))) > 0);
      assert.deepEqual(await numbers('select head_last - anchor_last from audit_chain'), [2], 'the newest seal stays')
      assert.equal(await violations(), 0)
      await write(1)
      assert.equal(await seal(), 1)
      assert.equal(await violations(), 0)
    })

    void test('a place costs the same however long the log is', async t => {
      if (databases.kind === 'sqlite') return t.skip('ids are places')
      await write(2_000)
      while ((await seal()) > 0);
      await sql('analyze log')
      await write(10)
      const client = new pg.Client({ connectionString: address, options: PLANNER })
      await client.connect()
      try {
        await client.query('begin')
        await client.query('select order_log()')
        const { rows } = await client.query<{ looked_at: number }>(
          `select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as looked_at
            from pg_stat_xact_user_tables where relname = 'log'`,
        )
        assert.ok(rows[0]!.looked_at <= 100, `looked at ${rows[0]!.looked_at} entries for 10`)
        await client.query('commit')
        assert.equal(await seal(), 10)
      } finally {
        await client.end()
      }
    })

    void test('an entry that is committed after later ones were sealed comes with the next seal', async t => {
      if (databases.kind === 'sqlite') return t.skip('there is one writer')
      const late = new pg.Client({ connectionString: address })
      await late.connect()
      await late.query('begin')
      await late.query(
        `insert into log (at, user_id, roles, address, action, objects, outcome) values (1, 'late', '', '', 'a', '[]', 'done')`,
      )
      await write(3)
      assert.equal(await seal(), 3)
      await late.query('commit')
      await late.end()
      assert.equal(await seal(), 1)
      assert.equal(await violations(), 0)
    })
  })
})
