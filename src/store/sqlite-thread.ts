// A thread with a connection of its own, for transactions that would hold up everyone else: the main thread sends it the
// statements, a burst at a time. This file is both ends: loaded as a worker, it serves. If the thread dies, so does the
// process: nobody could tell whether a commit was done.
import { once } from 'node:events'
import { constants, getPriority, setPriority } from 'node:os'
import { pathToFileURL } from 'node:url'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { limits } from '../shared/limits.ts'
import { type Checkpointed, type CheckpointMode, SqliteConnection, type Values } from './sqlite-connection.ts'
import type { Call, Compiled } from './statement.ts'
import type { Answer } from './transaction.ts'

type Statement = Pick<Compiled, 'id' | 'sql' | 'returnsRows'>

/** A statement with all its values, or some of them. */
interface Run {
  statement: Statement
  values: readonly Values[]
}

/** What the thread is asked: to run plain SQL or statements, to send more of the rows that it has found, or to end. */
type Asked =
  | { exec: string }
  | { runs: readonly Run[] }
  | { more: true }
  | { checkpoint: CheckpointMode }
  | { close: true }

/** Of the statements that were run: how many rows each changed or found, and the rows as far as they fit. */
interface Told {
  counts: readonly number[]
  rows: readonly (readonly object[])[]
  isMore: boolean
}
interface Failed {
  message: string
  errcode: number | undefined
}

const NAME = 'holdfast sqlite'

export class SqliteThread {
  readonly #worker: Worker
  #heard: PromiseWithResolvers<string> | null = null

  constructor(path: string) {
    this.#worker = new Worker(new URL(import.meta.url), { name: NAME, workerData: { [NAME]: path } })
    // What waits for it keeps the process; an idle thread doesn't.
    this.#worker.unref()
    this.#worker.on('message', (text: string) => this.#heard?.resolve(text))
  }

  async exec(sql: string): Promise<void> {
    await this.#ask({ exec: sql })
  }

  /** Runs the calls in their order, in as many messages as it takes to keep each of them short. */
  async run(calls: readonly Call[]): Promise<Answer[]> {
    const answers = calls.map(() => ({ rows: [] as object[], count: 0 }))
    let runs: Run[] = []
    let places: number[] = []
    let size = 0
    const send = async () => {
      const sent = places
      const asked = { runs }
      ;[runs, places, size] = [[], [], 0]
      let told = await this.#ask<Told>(asked)
      told.counts.forEach((count, i) => (answers[sent[i]!]!.count += count))
      for (;;) {
        told.rows.forEach((rows, i) => answers[sent[i]!]!.rows.push(...rows))
        if (!told.isMore) return
        told = await this.#ask<Told>({ more: true })
      }
    }
    for (const [place, { compiled, args }] of calls.entries()) {
      const { id, sql, returnsRows } = compiled.sqlite
      const values = compiled.sqlite.bind(args) as Values[]
      for (let from = 0; from < values.length;) {
        const part = values.slice(from, from + limits.rowsPerMessage - size)
        runs.push({ statement: { id, sql, returnsRows }, values: part })
        places.push(place)
        from += part.length
        size += part.length
        if (size >= limits.rowsPerMessage) await send()
      }
    }
    if (runs.length > 0) await send()
    return answers
  }

  checkpoint(mode: CheckpointMode): Promise<Checkpointed> {
    return this.#ask({ checkpoint: mode })
  }

  async close(): Promise<void> {
    const ended = once(this.#worker, 'exit')
    await this.#ask({ close: true })
    this.#worker.ref()
    await ended
  }

  // JSON both ways: it is made and read several times as fast as copies of many small objects.
  async #ask<T>(asked: Asked): Promise<T> {
    this.#heard = Promise.withResolvers()
    this.#worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
    this.#worker.postMessage(JSON.stringify(asked))
    const told = JSON.parse(await this.#heard.promise) as T | { failed: Failed }
    this.#worker.unref()
    if (typeof told === 'object' && told !== null && 'failed' in told) {
      throw Object.assign(new Error(told.failed.message), { errcode: told.failed.errcode })
    }
    return told
  }
}

/** The other end. */
function serve(path: string): void {
  yieldToLoop()
  let connection: SqliteConnection | null = null
  const found = new Found()
  const port = parentPort!
  port.on('message', (text: string) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
    port.postMessage(JSON.stringify(answer(JSON.parse(text) as Asked)))
  })

  function answer(asked: Asked): object {
    try {
      if ('close' in asked) return close()
      if ('more' in asked) return { counts: [], ...found.next() }
      // Here, so that who asked hears of a file that can't be opened now. The next one tries again.
      const opened = (connection ??= new SqliteConnection(existing(path)))
      if ('exec' in asked) return exec(opened, asked.exec)
      if ('checkpoint' in asked) return opened.checkpoint(asked.checkpoint)
      const answers = asked.runs.map(({ statement, values }) => opened.execute(statement, values))
      found.keep(answers.map(({ rows }) => rows as object[]))
      return { counts: answers.map(({ count }) => count), ...found.next() }
    } catch (error) {
      const { message, errcode } = error as Failed
      return { failed: { message, errcode } satisfies Failed }
    }
  }

  function exec({ database }: SqliteConnection, sql: string): object {
    // On a failing disk a rollback may have failed, and SQLite may have rolled back by itself.
    if (database.isTransaction && sql !== 'commit') database.exec('rollback')
    if (sql !== 'rollback') database.exec(sql)
    return {}
  }

  function close(): object {
    connection?.database.close()
    // After the answer.
    setImmediate(() => port.close())
    return {}
  }
}

/** SQLite makes a file that isn't there. In place of one that someone has moved away it would only do harm. */
function existing(path: string): URL {
  const url = pathToFileURL(path)
  url.searchParams.set('mode', 'rw')
  return url
}

/** Where cores are short, the event loop gets most of their time: all clients wait for it. */
function yieldToLoop(): void {
  try {
    // On Linux it is the thread's own.
    setPriority(Math.min(getPriority() + limits.threadNiceness, constants.priority.PRIORITY_LOW))
  } catch {
    // Not allowed here. It is only slower.
  }
}

/** Rows that have been found and not been sent yet. */
class Found {
  #rows: readonly object[][] = []
  /** The first of the statements that has such rows, and which is the first of these. */
  #statement = 0
  #row = 0

  keep(rows: readonly object[][]): void {
    this.#rows = rows
    this.#statement = this.#row = 0
  }

  /** As many rows as go in one message, by statement. */
  next(): Pick<Told, 'rows' | 'isMore'> {
    const rows: object[][] = this.#rows.slice(0, this.#statement).map(() => [])
    for (let room: number = limits.rowsPerMessage; room > 0 && this.#statement < this.#rows.length;) {
      const list = this.#rows[this.#statement]!
      const part = list.slice(this.#row, this.#row + room)
      rows.push(part)
      room -= part.length
      this.#row += part.length
      if (this.#row < list.length) break
      this.#statement++
      this.#row = 0
    }
    return { rows, isMore: this.#statement < this.#rows.length }
  }
}

const served = (workerData as Record<string, unknown> | null)?.[NAME]
if (typeof served === 'string') serve(served)
