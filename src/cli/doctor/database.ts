// Inspects a database without changing it: read only, and not through the store, which would set the database up.
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { systemClock } from '../../clock/clock.ts'
import { reportOn, type SchemaReport } from '../../store/catalogue/compare.ts'
import { expectedOf } from '../../store/catalogue/expected.ts'
import { type AppliedRow, CATALOGUE, catalogueOf, type PartRow } from '../../store/catalogue/read.ts'
import { parseAddress } from '../../store/hosts.ts'
import { type Finding, warning, wrong } from './examine.ts'
import { type Exchange, judgeMode, judgePostgres } from './judgement.ts'

export interface Seen {
  dialect: 'sqlite' | 'postgres'
  /** Names of the migrations that were applied. */
  applied: string[]
  /** How its schema is; null if it lacks migrations. */
  schema: SchemaReport | null
  /** How many servers of our own compute there are. */
  servers: number
  /** A reading of its clock; null if it uses this machine's. */
  clock: Exchange | null
}

const CONNECT_MS_MAX = 5_000
const CHECKSUMS = 'select name, checksum from migrations'

const isUpToDate = (dialect: Seen['dialect'], applied: readonly string[]) =>
  Object.keys(expectedOf(dialect).migrations).every(name => applied.includes(name))

const reportOfRows = (dialect: Seen['dialect'], parts: readonly object[], migrations: readonly object[]) =>
  reportOn(expectedOf(dialect), catalogueOf(parts as PartRow[], migrations as AppliedRow[]))
const ROUNDS = 3

/** `seen` is null if the database can't be read. */
export function seenInSqlite(path: string): { finding: Finding; seen: Seen | null } {
  if (path === ':memory:') {
    const hint = 'name a file: sqlite:FILE'
    return { finding: warning('in memory: all is lost when the service stops', hint), seen: null }
  }
  const file = resolve(path)
  const refused = refusalOf(file)
  if (refused) return { finding: refused, seen: null }
  if (!existsSync(file)) {
    const hint = 'holdfast serve makes one; if there should be one, the path is wrong'
    return { finding: warning(`there is no file ${file} yet`, hint), seen: null }
  }
  // Without a -wal file nobody has it open. Then `immutable` keeps SQLite from creating -wal and -shm files.
  const address = pathToFileURL(file)
  if (!existsSync(`${file}-wal`)) address.search = '?immutable=1'
  const database = new DatabaseSync(address, { readOnly: true })
  try {
    const rows = (sql: string) => database.prepare(sql).all()
    const has = (table: string) =>
      rows(`select 1 from sqlite_master where type = 'table' and name = '${table}'`).length > 0
    const applied = has('migrations') ? rows('select name from migrations').map(row => String(row['name'])) : []
    const servers = has('servers') ? Number(rows('select count(*) as count from servers')[0]!['count']) : 0
    const mib = (statSync(file).size / 1_048_576).toFixed(1)
    const schema = isUpToDate('sqlite', applied)
      ? reportOfRows('sqlite', rows(CATALOGUE.sqlite), rows(CHECKSUMS))
      : null
    const finding = judgeMode(statSync(file).mode, file, `${file}, ${mib} MiB, can be written`)
    return { finding, seen: { dialect: 'sqlite', applied, schema, servers, clock: null } }
  } catch (error) {
    const hint = 'it is no database of SQLite, or damaged: bring back a backup'
    return { finding: wrong(`can't read ${file}: ${(error as Error).message}`, hint), seen: null }
  } finally {
    database.close()
  }
}

function refusalOf(file: string): Finding | null {
  const folder = dirname(file)
  for (const [path, what] of [
    [folder, 'the folder'],
    [file, 'the file'],
  ] as const) {
    if (path === folder && !existsSync(folder))
      return wrong(`there is no folder ${folder}`, 'make it, or correct the path')
    if (!existsSync(path)) continue
    try {
      accessSync(path, constants.R_OK | constants.W_OK)
    } catch {
      return wrong(
        `${what} ${path} can't be written by this user`,
        'run as the user of the service, or correct its rights',
      )
    }
  }
  return null
}

/** Tries the hosts in order: the first that works, or the error of the last. */
export async function seenInPostgres(address: string): Promise<{ finding: Finding; seen: Seen | null }> {
  let found: Awaited<ReturnType<typeof seenAt>> | null = null
  for (const url of parseAddress(address).urls) {
    found = await seenAt(url)
    if (found.seen) break
  }
  return found!
}

async function seenAt(address: string): Promise<{ finding: Finding; seen: Seen | null }> {
  const client = new pg.Client({ connectionString: address, connectionTimeoutMillis: CONNECT_MS_MAX })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('begin read only')
    const rows = async (sql: string) => (await client.query<Record<string, unknown>>(sql)).rows
    const [about] = await rows(
      `select current_setting('server_version_num')::int as number, current_setting('server_version') as text,
        pg_is_in_recovery() as standby, to_regclass('migrations') is not null as migrated, to_regclass('servers') is not null as computes`,
    )
    const migrated = about!['migrated'] ? await rows('select name from migrations') : []
    const applied = migrated.map(row => String(row['name']))
    const schema = isUpToDate('postgres', applied)
      ? reportOfRows('postgres', await rows(CATALOGUE.postgres), await rows(CHECKSUMS))
      : null
    const [counted] = about!['computes'] ? await rows('select count(*) as count from servers') : []
    const servers = Number(counted?.['count'] ?? 0)
    const clock = await clockOf(rows)
    const seen: Seen = { dialect: 'postgres', applied, schema, servers, clock }
    if (about!['standby'])
      return { finding: wrong('it is a standby, which takes no writes', 'name the primary'), seen: null }
    return { finding: judgePostgres(about!['number'] as number, about!['text'] as string), seen }
  } catch (error) {
    const hint = 'is it running, is the address right, and may this user log in?'
    return { finding: wrong(`no connection: ${reasonOf(error)}`, hint), seen: null }
  } finally {
    await client.end().catch(() => {})
  }
}

/** If a name has several addresses, Node throws an AggregateError without a message. */
function reasonOf(error: unknown): string {
  const { message, code, errors } = error as Error & { code?: string; errors?: Error[] }
  return message || errors?.map(one => one.message).join(', ') || (code ?? 'unknown')
}

/** The fastest of a few round trips gives the most exact reading. */
async function clockOf(rows: (sql: string) => Promise<Record<string, unknown>[]>): Promise<Exchange> {
  const rounds: Exchange[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const sentAt = systemClock.now()
    const [row] = await rows('select (extract(epoch from clock_timestamp()) * 1000)::float8 as now')
    rounds.push({ sentAt, receivedAt: systemClock.now(), saidAt: Math.floor(row!['now'] as number), stepMs: 1 })
  }
  return rounds.reduce((best, one) => (one.receivedAt - one.sentAt < best.receivedAt - best.sentAt ? one : best))
}
