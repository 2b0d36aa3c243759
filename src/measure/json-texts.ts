// Reads every JSON text that the database has, in pages: each must be JSON, and of the shape that its readers need.
// Not in SQL: PostgreSQL can't tell before version 16, and no SQL knows the shapes.
import { sql } from 'kysely'
import { isJsonOf, type Shape } from '../shared/json.ts'
import { limits } from '../shared/limits.ts'
import type { Finding } from '../store/fsck.ts'
import { JSON_COLUMNS } from '../store/schema/json-columns.ts'
import { query } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { all } from '../store/transaction.ts'

type Table = keyof typeof JSON_COLUMNS
type Row = Record<string, unknown>

/** The key of each table, where it isn't `id`. */
const KEYS: { readonly [Name in Table]?: readonly string[] } = {
  leasables: ['provider_id'],
  bookings: ['reservation_id', 'provider_id'],
  node_documents: ['node_id', 'kind'],
}
/** Tables whose texts are long. */
const LARGE: ReadonlySet<Table> = new Set(['nodes', 'node_documents', 'calls'])

const TABLES = (Object.keys(JSON_COLUMNS) as Table[]).map(table => {
  const columns: Record<string, Shape<unknown>> = JSON_COLUMNS[table]
  const key = KEYS[table] ?? ['id']
  const limit = LARGE.has(table) ? limits.fsckLargeTextsPage : limits.fsckTextsPage
  const [selected, ordered, from] = [[...key, ...Object.keys(columns)].join(), key.join(), table].map(text =>
    sql.raw(text),
  )
  const page = (where = sql``) =>
    sql<Row>`(select ${selected!} from ${from!} ${where} order by ${ordered!} limit ${sql.lit(limit)})`.as('page')
  return {
    invariant: `every JSON text of ${table} can be read, and is what it must be`,
    columns: Object.entries(columns),
    key,
    limit,
    first: query((db, _: object) => db.selectFrom(page()).selectAll()),
    next: query((db, a: { k0: unknown; k1: unknown }) => {
      const last = sql.join(key.length === 1 ? [a.k0] : [a.k0, a.k1])
      return db.selectFrom(page(sql`where (${ordered!}) > (${last})`)).selectAll()
    }),
  }
})

/** By invariant: how to look, a page at a time. */
export const jsonChecks = (store: Store): [invariant: string, look: () => Promise<Finding>][] =>
  TABLES.map(table => [table.invariant, () => checkTable(store, table)])

async function checkTable(store: Store, { invariant, columns, key, limit, first, next }: (typeof TABLES)[number]) {
  const wrong = new Map<string, unknown[]>()
  let call = first({})
  for (;;) {
    const rows = await store.read(() => all(call))
    for (const row of rows) {
      for (const [column, shape] of columns) {
        if (row[column] === null || isJsonOf(row[column], shape)) continue
        wrong.getOrInsertComputed(column, () => []).push(key.map(name => row[name]).join(' '))
      }
    }
    if (rows.length < limit) return findingOf(invariant, wrong)
    const last = rows.at(-1)!
    call = next({ k0: last[key[0]!], k1: last[key[1] ?? ''] })
  }
}

/** Says the first few of them, so that they can be found. */
function findingOf(invariant: string, wrong: ReadonlyMap<string, readonly unknown[]>): Finding {
  const violations = [...wrong.values()].reduce((sum, { length }) => sum + length, 0)
  if (violations === 0) return { invariant, violations }
  const named = Array.from(wrong, ([column, rows]) => {
    const more = rows.length > limits.fsckNamedMax ? ', …' : ''
    return `${column} of ${rows.slice(0, limits.fsckNamedMax).join(', ')}${more}`
  })
  return { invariant: `${invariant} (not ${named.join('; ')})`, violations }
}
