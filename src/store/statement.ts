// Statements are values: built once at load with Kysely, compiled for both databases, run by either.
import {
  type Compilable,
  type CompiledQuery,
  DummyDriver,
  type Expression,
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
} from 'kysely'
import type { Schema } from './schema.ts'

export type Dialect = 'sqlite' | 'postgres'
export type Value = string | number | null

/** What a driver runs: the text, how to take its values from the arguments, and whether rows come back. */
export interface Compiled {
  readonly id: number
  readonly sql: string
  readonly returnsRows: boolean
  bind(args: object): (Value | Value[])[]
}

/** One statement with its arguments, ready to be yielded by a transaction. */
export interface Call<Row = unknown, Kind extends 'query' | 'command' = 'query' | 'command'> {
  readonly kind: Kind
  readonly compiled: Record<Dialect, Compiled>
  readonly args: object
  /** Never set: it only carries the type of the rows. */
  readonly row?: Row
}
export type Query<Row = unknown> = Call<Row, 'query'>
export type Command<Row = unknown> = Call<Row, 'command'>

type Build<Args extends object, Row> = (db: Kysely<Schema>, a: Args, on: Tools) => Compilable<Row>

/** A statement that only reads. */
export function query<Args extends object, Row>(build: Build<Args, Row>): (args: Args) => Query<Row> {
  return statement('query', build)
}

/** A statement that writes or locks, and so fits only a write transaction. */
export function command<Args extends object, Row>(build: Build<Args, Row>): (args: Args) => Command<Row> {
  return statement('command', build)
}

let statements = 0

function statement<Kind extends 'query' | 'command', Args extends object, Row>(kind: Kind, build: Build<Args, Row>) {
  const id = statements++
  const compiled = { sqlite: compile(id, 'sqlite', build), postgres: compile(id, 'postgres', build) }
  return (args: Args): Call<Row, Kind> => ({ kind, compiled, args })
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

function compile<Args extends object, Row>(id: number, dialect: Dialect, build: Build<Args, Row>): Compiled {
  const markers = new Proxy({}, { get: (_, name) => new Marker(String(name)) }) as Args
  const compiled: CompiledQuery = build(BUILDERS[dialect], markers, new Tools(dialect)).compile()
  const node = compiled.query
  return {
    id,
    sql: compiled.sql,
    returnsRows: node.kind === 'SelectQueryNode' || ('returning' in node && node.returning !== undefined),
    bind: args =>
      compiled.parameters.map(p =>
        p instanceof Marker ? p.encode((args as Record<string, unknown>)[p.name]) : (p as Value),
      ),
  }
}

type ColumnType = 'bigint' | 'text' | 'double precision'

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

  /** A list of records as one argument, to be read like a table. */
  records<Row extends object>(list: readonly Row[], columns: Record<keyof Row & string, ColumnType>): RawBuilder<Row> {
    const { name } = list as unknown as Marker
    const names = Object.keys(columns)
    if (this.dialect === 'postgres') {
      const types = names.map(column => `${column} ${columns[column as keyof Row & string]}`).join(', ')
      return sql<Row>`(select * from json_to_recordset(${new Marker(name, asJson)}::json) as x(${sql.raw(types)}))`
    }
    const values = names.map(column => `value ->> '${column}' as ${column}`).join(', ')
    return sql<Row>`(select ${sql.raw(values)} from json_each(${new Marker(name, asJson)}))`
  }

  /** Locks what the query finds until the transaction ends; SQLite has one writer and needs none. */
  lock<DB, TB extends keyof DB, O>(select: SelectQueryBuilder<DB, TB, O>, of?: TB & string) {
    if (this.dialect === 'sqlite') return select
    return of ? select.forUpdate(of) : select.forUpdate()
  }

  greatest(a: Expression<number>, b: Expression<number>) {
    return sql<number>`${sql.raw(this.dialect === 'sqlite' ? 'max' : 'greatest')}(${a}, ${b})`
  }
}

/** Every row: in `insert … select … on conflict` SQLite needs a where to know whose the `on` is. */
export const everyRow = sql<boolean>`true`

const asJson = (value: unknown) => JSON.stringify(value)
const asArray = (value: unknown) => [...(value as Value[])]

const BUILDERS: Record<Dialect, Kysely<Schema>> = {
  sqlite: new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: db => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  }),
  postgres: new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }),
}
