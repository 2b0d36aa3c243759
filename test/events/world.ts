// Processes on one database that change objects and tell of it, as `process/serve.ts` puts them together.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { pino } from 'pino'
import type { Entry } from '../../src/audit/entry.ts'
import { recorded } from '../../src/audit/record.ts'
import { Publisher } from '../../src/events/publisher.ts'
import { createProvider } from '../../src/ledger/new-provider.ts'
import { Memory } from '../../src/process/memory.ts'
import { openStore } from '../../src/store/open.ts'
import { PostgresStore } from '../../src/store/postgres.ts'
import type { ProviderId } from '../../src/store/schema/ids.ts'
import { command } from '../../src/store/statement.ts'
import type { Store } from '../../src/store/store.ts'
import { mark, note, one, type Write } from '../../src/store/transaction.ts'

/** A provider whose generation counts its changes: what the database has, readers and mirrors must have. */
export interface Thing {
  readonly id: ProviderId
  readonly uuid: string
}

export interface Process {
  readonly store: Store
  readonly memory: Memory
  readonly publisher: Publisher
}

export const ENTRY: Entry = {
  at: 1_000,
  requestId: 'req-1',
  user: 'me',
  project: 'mine',
  roles: 'admin',
  address: '127.0.0.1',
  action: 'placement:resource_providers:update',
  outcome: 'done',
}

export async function startProcess(address: string, opened: AsyncDisposableStack): Promise<Process> {
  const store = address.startsWith('sqlite:')
    ? openStore(address)
    : new PostgresStore(address, { origin: randomUUID(), patience: { lockMs: 200 } })
  opened.defer(() => store.close())
  const memory = new Memory({ store, log: pino({ level: 'silent' }), lagged: () => {}, woken: () => {} })
  opened.defer(() => memory.stop())
  await memory.start()
  const publisher = new Publisher({ store, failed: () => {} })
  opened.defer(() => publisher.stop())
  publisher.start()
  return { store, memory, publisher }
}

export async function newThing(store: Store): Promise<Thing> {
  const uuid = randomUUID()
  const { id } = await store.write(() => createProvider({ uuid, name: uuid, parentUuid: null }, 1))
  return { id, uuid }
}

const count = command((db, a: { id: ProviderId }) =>
  db
    .updateTable('providers')
    .set(e => ({ generation: e('generation', '+', 1), revision: e('revision', '+', 1) }))
    .where('id', '=', a.id)
    .returning('generation'),
)

/** Always in the same order, so that two transactions don't wait for each other. */
const inOrder = (things: Iterable<Thing>) => [...things].toSorted((a, b) => a.id - b.id)

function* counted(things: readonly Thing[], fails: boolean): Write<void> {
  for (const { id, uuid } of inOrder(things)) {
    const { generation } = (yield* one(count({ id })))!
    yield* mark({ kind: 'resource_provider', id: uuid, became: 'changed', data: { count: generation } })
  }
  yield* note(things.map(({ id }) => ({ provider: id })))
  if (fails) throw new Error('thought better of it')
}

/** One transaction that changes these; undone at its end when it `fails`. */
export const change = ({ store }: Pick<Process, 'store'>, things: readonly Thing[], fails = false): Promise<void> =>
  store.write(() => recorded(counted(things, fails), ENTRY))

const LOGGED = `insert into log (at, user_id, roles, address, action, objects, outcome, origin, providers)
  values (1, 'foreign', '', '', 'x', $1, 'done', 'foreign', $2)`

/** A session with a transaction that goes on as long as it likes. It notifies nobody. */
export class Foreign {
  readonly #client: pg.Client
  #isOpen = false

  private constructor(client: pg.Client) {
    this.#client = client
  }

  static async connect(address: string, opened: AsyncDisposableStack): Promise<Foreign> {
    const client = new pg.Client({ connectionString: address, application_name: 'foreign' })
    await client.connect()
    opened.defer(() => client.end())
    return new Foreign(client)
  }

  query<R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<pg.QueryResult<R>> {
    return this.#client.query<R>(text, values)
  }

  /** Changes these, and doesn't commit yet. Gives up when someone else has one of them. */
  async begin(things: readonly Thing[]): Promise<void> {
    if (this.#isOpen) return
    this.#isOpen = true
    try {
      await this.query('begin')
      await this.query("select pg_current_xact_id(), set_config('lock_timeout', '50ms', true)")
      const objects = []
      for (const { id, uuid } of inOrder(things)) {
        const { rows } = await this.query<{ generation: string }>(
          'update providers set generation = generation + 1, revision = revision + 1 where id = $1 returning generation',
          [id],
        )
        const data = { count: Number(rows[0]!.generation) }
        objects.push({ kind: 'resource_provider', id: uuid, became: 'changed', data })
      }
      if (things.length > 0) await this.query(LOGGED, [JSON.stringify(objects), things.map(({ id }) => id)])
    } catch {
      await this.end('rollback')
    }
  }

  async end(how: 'commit' | 'rollback'): Promise<void> {
    if (this.#isOpen) await this.query(how)
    this.#isOpen = false
  }
}
