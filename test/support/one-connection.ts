// A store on one connection whose transaction the test holds: what it reads there is rolled back with it.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import pg from 'pg'
import type { Call } from '../../src/store/statement.ts'
import type { Store } from '../../src/store/store.ts'
import type { Answer, Read } from '../../src/store/transaction.ts'

export interface Held {
  store: Store
  /** Runs SQL that no constraint and no trigger hinders, looks, and takes it back. */
  during<T>(sql: string, look: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

const asStore = (dialect: Store['dialect'], read: Store['read']) => ({ dialect, read, ping: async () => {} }) as Store

export function holdSqlite(file: string): Held {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  const triggers = database.prepare("select name from sqlite_master where type = 'trigger'").all()
  for (const { name } of triggers) database.exec(`drop trigger ${String(name)}`)
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>()
  const answer = ({ compiled: { sqlite }, args }: Call): Answer => {
    const statement = statements.getOrInsertComputed(sqlite.sql, () => database.prepare(sqlite.sql))
    const rows = sqlite.bind(args).flatMap(values => statement.all(...(values as SQLInputValue[])))
    return { rows, count: rows.length }
  }
  const read: Store['read'] = async work => {
    const running = work()
    let step = running.next()
    while (!step.done) step = running.next(step.value.map(answer))
    return step.value
  }
  return {
    store: asStore('sqlite', read),
    async during(sql, look) {
      database.exec('pragma ignore_check_constraints = on; begin')
      try {
        database.exec(sql)
        database.exec('pragma ignore_check_constraints = off')
        return await look()
      } finally {
        database.exec('rollback')
      }
    },
    close: async () => database.close(),
  }
}

const BIGINT = 20

export async function holdPostgres(connectionString: string): Promise<Held> {
  const types = {
    getTypeParser: ((id: number) =>
      id === BIGINT ? Number : pg.types.getTypeParser(id)) as typeof pg.types.getTypeParser,
  }
  const client = new pg.Client({ connectionString, types })
  await client.connect()
  // Neither foreign keys nor triggers.
  await client.query('set session_replication_role = replica')
  const { rows: checks } = await client.query<{ drop: string; add: string }>(`
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
      format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as add
    from pg_constraint where contype = 'c' and conrelid <> 0 and connamespace = current_schema()::regnamespace`)
  for (const { drop } of checks) await client.query(drop)
  const answer = async ({ compiled: { postgres }, args }: Call): Promise<Answer> => {
    const { id, sql: text } = postgres
    const { rows } = await client.query({ name: `s${id}`, text, values: postgres.bind(args)[0]! })
    return { rows, count: rows.length }
  }
  const inSteps = async <T>(running: Read<T>): Promise<T> => {
    let step = running.next()
    while (!step.done) {
      const answers: Answer[] = []
      for (const call of step.value) answers.push(await answer(call))
      step = running.next(answers)
    }
    return step.value
  }
  const read: Store['read'] = async work => {
    await client.query('savepoint look')
    try {
      return await inSteps(work())
    } finally {
      await client.query('rollback to look')
    }
  }
  return {
    store: asStore('postgres', read),
    async during(sql, look) {
      await client.query('begin')
      try {
        await client.query(sql)
        return await look()
      } finally {
        await client.query('rollback')
      }
    },
    async close() {
      for (const { add } of checks) await client.query(add)
      await client.end()
    },
  }
}
