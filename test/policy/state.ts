// All that a database says, as one hash; but for what changes by itself.
import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

/** Heartbeats, seals and the feed go on whatever clients do; whoever comes is remembered by name; what was used is counted; and questions to
 * machines are swept when their time is over. */
const BY_ITSELF = new Set(
  'conductors audit_seals audit_chain log_order log_start eras migrations seen_names seen_members project_usages calls'.split(
    ' ',
  ),
)

/** What is asked of tables of which a part changes by itself. */
const CONTENT: Readonly<Record<string, string>> = {
  // Processes tell each other of their work; but no entry may come or go.
  log: "select count(*) as entries from log where action <> ''",
  // Its place in the log moves on.
  webhooks: 'select uuid, name, url, types, state, secret, updated_at from webhooks order by id',
}

export interface State {
  hash(): Promise<string>
  /** All rows of all tables, as text. */
  texts(): Promise<string[]>
  /** Whether conductors have nothing to do. */
  isQuiet(): Promise<boolean>
  close(): Promise<void>
}

interface Database {
  /** The rows of each query. */
  ask: (...queries: string[]) => Promise<Record<string, unknown>[][]>
  /** The query that lists the tables. */
  tables: string
  /** The query for all that a table says. */
  content: (table: string) => string
  close: () => Promise<void>
}

export async function stateOf(address: string): Promise<State> {
  const database = address.startsWith('sqlite:') ? sqlite(address.slice('sqlite:'.length)) : await postgres(address)
  return {
    hash: () => hashOf(database),
    texts: () => textsOf(database),
    isQuiet: () => isQuiet(database),
    close: database.close,
  }
}

function sqlite(path: string): Database {
  const file = new DatabaseSync(path, { readOnly: true })
  return {
    ask: async (...queries) => queries.map(sql => file.prepare(sql).all()),
    tables: "select name from sqlite_master where type = 'table'",
    content: table => `select * from ${table}`,
    close: async () => file.close(),
  }
}

async function postgres(connectionString: string): Promise<Database> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return {
    // All in one round trip; for several the driver answers a list.
    ask: async (...queries) => {
      const answers: unknown = await client.query(queries.join(';'))
      return [answers].flat().map(answer => (answer as { rows: Record<string, unknown>[] }).rows)
    },
    tables: "select tablename as name from pg_tables where schemaname = 'public'",
    content: table => `select md5(string_agg(md5(t::text), '' order by md5(t::text))) as content from ${table} t`,
    close: () => client.end(),
  }
}

async function hashOf({ ask, tables, content }: Database): Promise<string> {
  const [listed] = await ask(tables)
  const names = listed!.map(row => String(row['name'])).filter(name => !BY_ITSELF.has(name))
  names.sort()
  const queries = names.map(name => CONTENT[name] ?? content(name))
  const digest = createHash('sha256')
  for (const [i, rows] of (await ask(...queries)).entries()) {
    digest.update(`${names[i]}\n${rows.map(row => JSON.stringify(row)).join('\n')}\n`)
  }
  return digest.digest('hex')
}

async function textsOf({ ask, tables }: Database): Promise<string[]> {
  const [listed] = await ask(tables)
  const rows = await ask(...listed!.map(({ name }) => `select * from ${String(name)}`))
  return rows.flat().map(row => JSON.stringify(row))
}

async function isQuiet({ ask }: Database): Promise<boolean> {
  const [[busy]] = (await ask(
    `select (select count(*) from nodes where transition is not null)
       + (select count(*) from allocations where state = 'allocating')
       + (select count(*) from servers where task is not null) as count`,
  )) as [[Record<string, unknown>]]
  return Number(busy['count']) === 0
}
