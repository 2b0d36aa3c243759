// Long transactions on a database file, one after another on a thread of their own. Burst by burst, as on PostgreSQL:
// while the thread works on one, the event loop goes on.
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { Gate } from '../shared/gate.ts'
import { limits } from '../shared/limits.ts'
import { append, Report, rowsOf } from './log.ts'
import { appendHistory } from './node-history.ts'
import { isBusy } from './sqlite-failure.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { SqliteThread } from './sqlite-thread.ts'
import type { Call } from './statement.ts'
import { type Answer, NOTHING, type Read, type Write, type Yielded } from './transaction.ts'

export class LongTransactions {
  readonly #path: string
  readonly #opened: Pick<SqliteConnection, 'requireFile'>
  /** Started when it is first needed. */
  #thread: SqliteThread | null = null
  readonly #gate = new Gate({ places: 1 })
  #last: Promise<unknown> = Promise.resolve()

  /** `opened` has the file open. */
  constructor(path: string, opened: Pick<SqliteConnection, 'requireFile'>) {
    this.#path = path
    this.#opened = opened
  }

  read<T>(work: () => Read<T>): Promise<T> {
    return this.inTurn(thread => transaction(thread, 'begin', work, new Report(), () => {}))
  }

  /** `committing` is called before others may see the commit. */
  write<T>(work: () => Write<T>, report: Report, committing: () => void): Promise<T> {
    return this.inTurn(thread => transaction(thread, 'begin immediate', work, report, committing))
  }

  /** Has the thread for itself, between two transactions. */
  inTurn<T>(work: (thread: SqliteThread) => Promise<T>): Promise<T> {
    const done = this.#gate.pass(async () => {
      // A thread that starts now would open another file.
      this.#opened.requireFile()
      return work((this.#thread ??= new SqliteThread(this.#path)))
    })
    this.#last = Promise.allSettled([this.#last, done])
    return done
  }

  async close(): Promise<void> {
    await this.#last
    await this.#thread?.close()
  }
}

async function transaction<T>(
  thread: SqliteThread,
  begin: string,
  work: () => Write<T>,
  report: Report,
  committing: () => void,
): Promise<T> {
  await begun(thread, begin)
  try {
    const value = await steps(thread, work(), report)
    if (report.entries.length > 0) await thread.run([append({ rows: rowsOf(report, null) })])
    if (report.history.length > 0) await thread.run([appendHistory({ rows: report.history })])
    committing()
    await thread.exec('commit')
    return value
  } catch (error) {
    // If this fails too, the next `begin` tries it again.
    await thread.exec('rollback').catch(() => {})
    throw error
  }
}

/** Another process may lock the file for a while. */
async function begun(thread: SqliteThread, begin: string): Promise<void> {
  for (let left = limits.busyMsMax / limits.busyRetryMs; ; left--) {
    try {
      return await thread.exec(begin)
    } catch (error) {
      if (!isBusy(error) || left <= 0) throw error
    }
    await sleep(limits.busyRetryMs)
  }
}

async function steps<T>(thread: SqliteThread, transaction: Write<T>, report: Report): Promise<T> {
  let step = transaction.next()
  while (!step.done) {
    if (step.value.length === 0) await turn()
    step = transaction.next(await answersTo(thread, step.value, report))
  }
  return step.value
}

async function answersTo(thread: SqliteThread, burst: readonly Yielded[], report: Report): Promise<Answer[]> {
  const calls = burst.flatMap(statementsOf)
  const answers = calls.length === 0 ? [] : await thread.run(calls)
  let next = 0
  return burst.map(call => {
    if (call.kind === 'query' || call.kind === 'command') return answers[next++]!
    if (call.kind === 'later') next += call.commands.length
    else report.take(call)
    return NOTHING
  })
}

function statementsOf(call: Yielded): readonly Call[] {
  if (call.kind === 'later') return call.commands
  return call.kind === 'query' || call.kind === 'command' ? [call] : []
}
