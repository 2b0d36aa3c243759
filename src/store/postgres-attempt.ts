// One attempt at a transaction, on one connection to PostgreSQL, from `begin` until its outcome is known.
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { DatabaseError } from 'pg'
import { limits } from '../shared/limits.ts'
import { StoreConflict, StoreUnavailable } from './failure.ts'
import { classify, NO_TIME } from './postgres-failure.ts'
import { append, Report, rowsOf } from './log.ts'
import { appendHistory } from './node-history.ts'
import { SERVER, type Session } from './session.ts'
import type { Call, Command } from './statement.ts'
import { type Answer, NOTHING, type Write, type Yielded } from './transaction.ts'

const READ = 'begin isolation level repeatable read read only'
// A process that gets little time, on a busy machine or with much to read, is not a stopped one.
const LOAD = `${READ}; set local idle_in_transaction_session_timeout = ${limits.loadIdleMsMax};
  set local statement_timeout = ${limits.loadStatementMsMax}`
// The transaction's number: with it another connection can ask for the outcome.
const WHO = { name: 'who', text: 'select pg_current_xact_id()::text as xid' }
// How a long transaction joins the rows that it is given with those of a table. Nested loops, which suit a few rows and
// keep their plans whatever the tables hold, would compare each with each: 8,000 claims took longer than a statement may.
const LONG = '; set local enable_nestloop = off; set local enable_hashjoin = on'
const OUTCOME = `select case when ${SERVER} = $2 then pg_xact_status($1::xid8) end as status`

export interface AttemptOptions {
  /** Names this process in the log. */
  origin: string
  /** To ask for the outcome after a connection broke. */
  pool: pg.Pool
  /** How long plans are kept. */
  planMs: number
  /** Called when nobody can tell whether a transaction is committed. */
  doubt: (error: unknown) => void
  /** It reads whole tables, with work between its statements. */
  isLoad?: boolean
  /** Only for transactions that write. */
  write?: {
    lockWaitMs: number
    /** The transaction is one command. */
    isAlone: boolean
    /** It has thousands of rows. */
    isLong: boolean
    /** Called before others may see the commit. */
    committing: () => void
  }
}

/** When each connection last discarded its plans, or was first used. */
const plannedAt = new WeakMap<pg.PoolClient, number>()

export class Attempt {
  /** What the transaction told. */
  readonly report = new Report()
  readonly #options: AttemptOptions
  readonly #client: pg.PoolClient
  /** Commands that wait for the next burst. */
  #later: Command[] = []
  #xid: string | null = null
  #isBroken = false
  /** Since when the server waits for us, by performance.now(). */
  #idleSince = 0
  /** We took so long that the server may have ended the transaction. */
  #isLate = false

  constructor(client: pg.PoolClient, options: AttemptOptions) {
    this.#client = client
    this.#options = options
  }

  get #session(): Session {
    return this.#client as unknown as Session
  }

  /** The connection broke, although the transaction is committed or may be tried again. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  run<T>(transaction: Write<T>): Promise<T> {
    return this.#options.write?.isAlone ? this.#runAlone(transaction) : this.#runWhole(transaction)
  }

  async #runAlone<T>(transaction: Write<T>): Promise<T> {
    let isSent = false
    let step = transaction.next()
    while (!step.done) {
      const answers: Answer[] = []
      for (const call of step.value) {
        if (call.kind === 'later') throw new Error('commands for later in a transaction of one')
        if (call.kind !== 'query' && call.kind !== 'command') this.report.take(call)
        else if (isSent) throw new Error('a second statement in a transaction of one')
        const answer = call.kind === 'query' || call.kind === 'command' ? await this.#executeAlone(call) : NOTHING
        isSent ||= call.kind === 'command'
        answers.push(answer)
      }
      step = transaction.next(answers)
    }
    return step.value
  }

  async #executeAlone(call: Call): Promise<Answer> {
    const session = this.#session
    session.notice = null
    this.#options.write?.committing()
    try {
      const [answer] = await Promise.all([...this.#freshPlans(), this.#execute(call)].toReversed())
      return answer as Answer
    } catch (error) {
      this.#xid = session.notice
      // What the server refused before it told its number was never begun.
      if (this.#xid === null && error instanceof DatabaseError) throw error
      await this.#settle(error)
      // It is done, but what it answered is lost, and memory can't follow.
      this.#options.doubt(error)
      return NOTHING
    }
  }

  async #runWhole<T>(transaction: Write<T>): Promise<T> {
    let opened: Promise<unknown> | null = null
    try {
      let step = transaction.next()
      while (!step.done) {
        const calls = step.value
        if (calls.length === 0) {
          await this.#giveTurn(opened !== null)
          step = transaction.next([])
          continue
        }
        if (opened) this.#noteLate()
        // `begin` is sent with the first burst.
        const isRun = calls.some(({ kind }) => kind === 'query' || kind === 'command')
        const isHeard = isRun || opened === null
        const [answers] = await this.#session.atOnce(() => {
          const sent = opened === null ? [...this.#freshPlans(), (opened = this.#begin())] : []
          const before = isRun ? this.#sendLater() : []
          return Promise.all([Promise.all(calls.map(call => this.#take(call))), ...sent, ...before])
        })
        if (isHeard) this.#idleSince = performance.now()
        step = transaction.next(answers)
      }
      if (opened) await this.#end()
      return step.value
    } catch (error) {
      if (opened) await this.#client.query('rollback').catch(() => {})
      throw this.#isLate ? this.#asLate(error) : error
    }
  }

  get #idleMs(): number {
    return performance.now() - this.#idleSince
  }

  #noteLate(): void {
    const { idleInTransactionMsMax, loadIdleMsMax } = limits
    this.#isLate = this.#idleMs > (this.#options.isLoad ? loadIdleMsMax : idleInTransactionMsMax) / 2
  }

  /** Others get a turn. If there are many turns, the server hears of us meanwhile, and doesn't end the transaction. */
  async #giveTurn(isOpen: boolean): Promise<void> {
    await turn()
    if (!isOpen || this.#idleMs < limits.idleInTransactionMsMax / 4) return
    this.#noteLate()
    await this.#client.query('select')
    this.#idleSince = performance.now()
  }

  /** A process that got no time for seconds finds its transaction ended, not the database away: it may begin anew. */
  #asLate(error: unknown): unknown {
    // Of a commit whose outcome nobody knows, a StoreUnavailable tells already.
    const isEnded = !(error instanceof StoreUnavailable) && classify(error) instanceof StoreUnavailable
    if (!isEnded) return error
    if (!this.#options.write) return new StoreUnavailable(NO_TIME, { cause: error })
    this.#isBroken = true
    return new StoreConflict('late', error)
  }

  /** A plan fits the sizes that the tables had when it was made, so plans are discarded now and then. */
  #freshPlans(): Promise<unknown>[] {
    const now = performance.now()
    if (now - plannedAt.getOrInsert(this.#client, now) < this.#options.planMs) return []
    plannedAt.set(this.#client, now)
    return [this.#client.query('discard plans')]
  }

  async #begin(): Promise<void> {
    const { write, isLoad } = this.#options
    if (!write) return void (await this.#client.query(isLoad ? LOAD : READ))
    const begin = `begin; set local lock_timeout = ${write.lockWaitMs}${write.isLong ? LONG : ''}`
    const [, who] = await Promise.all([this.#client.query(begin), this.#client.query<{ xid: string }>(WHO)])
    this.#xid = who.rows[0]!.xid
  }

  async #take(call: Yielded): Promise<Answer> {
    if (call.kind === 'query' || call.kind === 'command') return this.#execute(call)
    if (call.kind === 'later') this.#later.push(...call.commands)
    else this.report.take(call)
    return NOTHING
  }

  #sendLater(): Promise<Answer>[] {
    return this.#later.splice(0).map(command => this.#execute(command))
  }

  async #execute({ compiled, args }: Call): Promise<Answer> {
    const { postgres } = compiled
    // A plan is kept under its name, and those of long transactions are others.
    const isLong = this.#options.write?.isLong && !this.#options.write.isAlone
    const { rows, rowCount } = await this.#client.query({
      name: `${isLong ? 'l' : 'h'}${postgres.id}`,
      text: postgres.sql,
      values: postgres.bind(args)[0]!,
    })
    return { rows, count: rowCount ?? 0 }
  }

  /** What was read is whole already. So nobody waits for the end of a read; the connection's next user follows it. */
  async #end(): Promise<void> {
    if (this.#options.write) await this.#commit()
    else void this.#client.query('commit').catch(() => {})
  }

  async #commit(): Promise<void> {
    const { report } = this
    const send = () => {
      const before = this.#sendLater()
      const logged = report.isEmpty ? null : this.#execute(append({ rows: rowsOf(report, this.#options.origin) }))
      const told = report.history.length === 0 ? null : this.#execute(appendHistory({ rows: report.history }))
      this.#options.write?.committing()
      return Promise.all([...before, logged, told, this.#client.query('commit')])
    }
    this.#noteLate()
    try {
      await this.#session.atOnce(send)
    } catch (error) {
      if (this.#xid === null) throw error
      await this.#settle(error)
    }
  }

  /** Returns if the transaction is committed, although it failed with this error, and throws if not. */
  async #settle(error: unknown): Promise<void> {
    if (!(classify(error) instanceof StoreUnavailable)) throw error
    // The answer was lost, but the commit may be done.
    this.#isBroken = true
    const outcome = this.#xid === null ? null : await this.#outcomeOf(this.#xid)
    if (outcome === 'committed') return
    if (outcome === 'aborted') throw error
    this.#options.doubt(error)
    throw new StoreUnavailable('the database went away in the middle of a commit, which may be done', { cause: error })
  }

  /** Null when nobody can tell: the database is away, or another server is in its place. */
  async #outcomeOf(xid: string): Promise<'committed' | 'aborted' | null> {
    const { server } = this.#session
    const until = performance.now() + limits.outcomeMsMax
    let failures = 0
    while (performance.now() < until && failures < 2) {
      try {
        const { rows } = await this.#options.pool.query<{ status: string | null }>(OUTCOME, [xid, server])
        const { status } = rows[0]!
        if (status === null || status === 'committed' || status === 'aborted') return status
        await sleep(limits.outcomeAskMs)
      } catch {
        failures++
      }
    }
    return null
  }
}
