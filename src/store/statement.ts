// Statements are values: built and compiled with Kysely at their first use, for the database that runs them.
import {
  type Compilable,
  type CompiledQuery,
  type DeleteQueryBuilder,
  DummyDriver,
  type Expression,
  type InsertQueryBuilder,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  type SelectQueryBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
  type UpdateQueryBuilder,
} from 'kysely'
import type { Schema } from './schema.ts'

export type Dialect = 'sqlite' | 'postgres'
type Value = string | number | null

/** What a driver runs: the text, how to take the values of each run from the arguments, and whether rows come back. */
export interface Compiled {
  readonly id: number
  readonly sql: string
  readonly returnsRows: boolean
  /** False for what only reads or locks. */
  readonly writes: boolean
  /** One run for most statements, one a row for a bulk command on SQLite. */
  bind(args: object): (Value | Value[])[][]
}

/** One statement with its arguments, ready to be yielded by a transaction. */
export interface Call<Row = unknown, Kind extends 'query' | 'command' = 'query' | 'command'> {
  readonly kind: Kind
  readonly compiled: AtFirstUse
  readonly args: object
  /** Never set: it only carries the type of the rows. */
  readonly row?: Row
}
export type Query<Row = unknown> = Call<Row, 'query'>
export type Command<Row = unknown> = Call<Row, 'command'>

type Build<Args extends object, Row> = (db: Kysely<Schema>, a: Args, on: Tools) => Compilable<Row>

/** A statement that only reads. */
export function query<Args extends object, Row>(build: Build<Args, Row>): (args: Args) => Query<Row> {
  return statement('query', dialect => build(BUILDERS[dialect], markersFor<Args>(), new Tools(dialect)))
}

/** A statement that writes or locks, and so fits only a write transaction. */
export function command<Args extends object, Row>(build: Build<Args, Row>): (args: Args) => Command<Row> {
  return statement('command', dialect => build(BUILDERS[dialect], markersFor<Args>(), new Tools(dialect)))
}

type ColumnType = 'bigint' | 'text' | 'double precision' | 'bigint[]' | 'text[]'
type Columns<Row> = { [Name in keyof Row]: RawBuilder<Row[Name]> }

/**
 * A command written for one row and run for many. PostgreSQL gets all rows as one argument and runs once;
 * SQLite runs it for each row, because there a prepared run costs less than taking the columns out of JSON.
 */
export function bulk<Row extends object>(
  types: Record<keyof Row & string, ColumnType>,
  build: (db: Kysely<Schema>, r: Columns<Row>, on: BulkTools) => Compilable,
): (args: { rows: readonly Row[] }) => Command {
  return statement('command', dialect => {
    const columns = Object.keys(types).map(name => {
      const column = dialect === 'sqlite' ? sql`${new ColumnMarker(name)}` : sql.ref(`r.${name}`)
      return [name, column]
    })
    const tools = new BulkTools(dialect, BUILDERS[dialect], types)
    return build(BUILDERS[dialect], Object.fromEntries(columns) as Columns<Row>, tools)
  })
}

/** Every statement that is loaded, by its id. */
export const statements: AtFirstUse[] = []

function statement<Kind extends 'query' | 'command', Args extends object, Row>(
  kind: Kind,
  build: (dialect: Dialect) => Compilable<Row>,
) {
  const compiled = new AtFirstUse(statements.length, build)
  statements.push(compiled)
  return (args: Args): Call<Row, Kind> => ({ kind, compiled, args })
}

/** A process uses one database, and few of all statements before its first answer. */
class AtFirstUse implements Record<Dialect, Compiled> {
  readonly #id: number
  readonly #build: (dialect: Dialect) => Compilable
  #sqlite: Compiled | null = null
  #postgres: Compiled | null = null
  constructor(id: number, build: (dialect: Dialect) => Compilable) {
    this.#id = id
    this.#build = build
  }

  get sqlite(): Compiled {
    return (this.#sqlite ??= compile(this.#id, this.#build('sqlite')))
  }

  get postgres(): Compiled {
    return (this.#postgres ??= compile(this.#id, this.#build('postgres')))
  }

  /** False for what only reads or locks. */
  get writes(): boolean {
    return (this.#postgres ?? this.sqlite).writes
  }
}

/** Where an argument goes: Kysely keeps it among the query's parameters, in order. */
class Marker {
  readonly name: string
  readonly encode: (value: unknown) => Value | Value[]
  constructor(name: string, encode: (value: unknown) => Value | Value[] = value => value as Value) {
    this.name = name
    this.encode = encode
  }
}

/** Where a column of the row goes, in a command that runs once for each row. */
class ColumnMarker extends Marker {}

function markersFor<Args extends object>(): Args {
  return new Proxy({}, { get: (_, name) => new Marker(String(name)) }) as Args
}

function compile(id: number, build: Compilable): Compiled {
  const { sql, parameters, query: node }: CompiledQuery = build.compile()
  const markers = parameters as readonly Marker[]
  const bindTo = (args: Record<string, unknown>) => markers.map(marker => marker.encode(args[marker.name]))
  const isPerRow = parameters.some(p => p instanceof ColumnMarker)
  return {
    id,
    sql,
    writes: node.kind !== 'SelectQueryNode',
    returnsRows: node.kind === 'SelectQueryNode' || ('returning' in node && node.returning !== undefined),
    bind: isPerRow
      ? args => (args as { rows: Record<string, unknown>[] }).rows.map(bindTo)
      : args => [bindTo(args as Record<string, unknown>)],
  }
}

/** A column of the row with that id, as a subquery: in a join PostgreSQL would choose which table to read first. */
export const inRow = <T>(table: keyof Schema, column: string, id: string) =>
  sql<T>`(select ${sql.ref(`k.${column}`)} from ${sql.table(table)} as k where k.id = ${sql.ref(id)})`

/** The few places where the two databases say the same thing differently. */
export class Tools {
  readonly dialect: Dialect
  constructor(dialect: Dialect) {
    this.dialect = dialect
  }

  /** `column in list`, with the list as one argument. */
  isIn(column: string, list: readonly Value[], type: ColumnType = 'text') {
    const { name } = list as unknown as Marker
    return this.dialect === 'sqlite'
      ? sql<boolean>`${sql.ref(column)} in (select value from json_each(${new Marker(name, asJson)}))`
      : sql<boolean>`${sql.ref(column)} = any(${new Marker(name, asArray)}::${sql.raw(type)}[])`
  }

  /** Whether a text holds one of these. */
  hasAnyOf(column: string, list: readonly Value[]) {
    const { name } = list as unknown as Marker
    const text = sql.ref(column)
    return this.dialect === 'sqlite'
      ? sql<boolean>`exists (select 1 from json_each(${new Marker(name, asJson)}) as t where instr(${text}, t.value) > 0)`
      : sql<boolean>`exists (select from unnest(${new Marker(name, asArray)}::text[]) as t where strpos(${text}, t) > 0)`
  }

  /**
   * `column in (select …)`, with the keys found first. PostgreSQL may reorder a join, and then reads a whole table that
   * was empty when it planned, however many rows came since.
   */
  isAmong(column: string | Expression<unknown>, found: Expression<unknown>) {
    const key = typeof column === 'string' ? sql.ref(column) : column
    return this.dialect === 'sqlite' ? sql<boolean>`${key} in ${found}` : sql<boolean>`${key} = any(array${found})`
  }

  /** Keeps the planner from using an index on this column: the rows are found by another one, or are few. */
  unindexed(column: string, type: 'bigint' | 'text' = 'bigint') {
    if (this.dialect === 'sqlite') return sql<number>`+${sql.ref(column)}`
    return type === 'text' ? sql<number>`${sql.ref(column)} || ''` : sql<number>`${sql.ref(column)} + 0`
  }

  /**
   * Locks what the query finds until the transaction ends; SQLite has one writer and needs none. PostgreSQL's check of a
   * foreign key doesn't wait for such a lock: it may come out of the order in which we lock, as with a provider's parent.
   */
  lock<DB, TB extends keyof DB, O>(select: SelectQueryBuilder<DB, TB, O>, of?: TB & string) {
    if (this.dialect === 'sqlite') return select
    return of ? select.forNoKeyUpdate(of) : select.forNoKeyUpdate()
  }

  /** Like lock, but skips rows that someone else has locked. */
  lockFree<DB, TB extends keyof DB, O>(select: SelectQueryBuilder<DB, TB, O>) {
    return this.dialect === 'sqlite' ? select : select.forNoKeyUpdate().skipLocked()
  }

  /** A column of all rows as one JSON list, which is parsed much faster than rows are made; null for no rows. */
  list(column: string) {
    const name = sql.ref(column)
    return this.dialect === 'sqlite'
      ? sql<string | null>`json_group_array(${name})`
      : sql<string | null>`json_agg(${name})::text`
  }

  /** How many bytes these texts have. Neither database reads them for it. */
  bytes(...columns: readonly string[]) {
    const sizes = columns.map(column => sql`coalesce(octet_length(${sql.ref(column)}), 0)`)
    return sql<number>`${sql.join(sizes, sql` + `)}`
  }

  /** The same, as indexes have it: other programs open the file too, and older SQLites have no octet_length. */
  indexedBytes(...columns: readonly string[]) {
    const sizeOf = (column: string) =>
      this.dialect === 'sqlite' ? sql`length(cast(${sql.ref(column)} as blob))` : sql`octet_length(${sql.ref(column)})`
    return sql<number>`${sql.join(columns.map(sizeOf), sql` + `)}`
  }

  greatest(a: Expression<number>, b: Expression<number>) {
    return sql<number>`${sql.raw(this.dialect === 'sqlite' ? 'max' : 'greatest')}(${a}, ${b})`
  }
}

/** Where the rows of a bulk command come from. */
class BulkTools extends Tools {
  readonly #db: Kysely<Schema>
  readonly #types: Record<string, ColumnType>
  constructor(dialect: Dialect, db: Kysely<Schema>, types: Record<string, ColumnType>) {
    super(dialect)
    this.#db = db
    this.#types = types
  }

  get #rows() {
    const types = Object.entries(this.#types).map(([name, type]) => `${name} ${type}`)
    const rows = sql<object>`(select * from json_to_recordset(${new Marker('rows', asJson)}::json) as x(${sql.raw(types.join(', '))}))`
    return rows.as('r')
  }

  insert<DB, TB extends keyof DB, O>(
    into: InsertQueryBuilder<DB, TB, O>,
    values: Partial<Record<keyof DB[TB] & string, RawBuilder<unknown>>>,
  ): InsertQueryBuilder<DB, TB, O> {
    // Not a select on SQLite: it would keep a journal of its own for each row.
    if (this.dialect === 'sqlite') return into.values(values as never)
    const columns = Object.keys(values) as (keyof DB[TB] & string)[]
    const selected = columns.map(column => values[column]!.as(column))
    return into.columns(columns).expression(this.#db.selectFrom(this.#rows).select(selected))
  }

  /** Updates the rows whose key is that of a given row. */
  update<DB, UT extends keyof DB, TB extends keyof DB, O>(
    table: UpdateQueryBuilder<DB, UT, TB, O>,
    column: string,
    key: RawBuilder<unknown>,
  ) {
    const where = this.#hasKey(column, key)
    if (this.dialect === 'sqlite') return table.where(where)
    return table.from(this.#rows as never).where(where) as unknown as typeof table
  }

  /** Deletes the rows whose key is that of a given row. */
  delete<DB, TB extends keyof DB, O>(table: DeleteQueryBuilder<DB, TB, O>, column: string, key: RawBuilder<unknown>) {
    const where = this.#hasKey(column, key)
    if (this.dialect === 'sqlite') return table.where(where)
    return table.using(this.#rows as never).where(where) as unknown as typeof table
  }

  /** PostgreSQL gets the condition twice: by the second it finds the rows, however small it believes the table is. */
  #hasKey(column: string, key: RawBuilder<unknown>) {
    const same = sql<boolean>`${sql.ref(column)} = ${key}`
    if (this.dialect === 'sqlite') return same
    return sql<boolean>`${same} and ${this.isAmong(column, sql`(select ${key} from ${this.#rows})`)}`
  }
}

const asJson = (value: unknown) => JSON.stringify(value)
const asArray = (value: unknown) => [...(value as Value[])]

// Constants stand in the text: only then can a planner use a partial index such as "where state = 'allocating'".
class SqliteCompiler extends SqliteQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof Marker) super.appendValue(value)
    else this.appendImmediateValue(value)
  }
}
class PostgresCompiler extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof Marker) super.appendValue(value)
    else this.appendImmediateValue(value)
  }
}

const BUILDERS: Record<Dialect, Kysely<Schema>> = {
  sqlite: new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: db => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteCompiler(),
    },
  }),
  postgres: new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresCompiler(),
    },
  }),
}
