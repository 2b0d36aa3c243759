// The time that all processes of one database share: this machine's, corrected by the database's. Tests move it.
import { sql } from 'kysely'
import { type Clock, systemClock } from './clock.ts'
import { databaseNow } from './database-now.ts'
import { limits } from '../shared/limits.ts'
import { command, query } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import { one, wake } from '../store/transaction.ts'

const askTime = query((db, _: object, on) => db.selectNoFrom(databaseNow(on).as('now')))
const askAhead = query((db, _: object) => db.selectFrom('test_clock').select('ahead_ms').where('one', '=', 1))
const moveAhead = command((db, a: { ms: number }) =>
  db
    .updateTable('test_clock')
    .set(e => ({ ahead_ms: e('ahead_ms', '+', sql<number>`cast(${a.ms} as bigint)`) }))
    .where('one', '=', 1)
    .returning('ahead_ms'),
)

/** Milliseconds since 1970 as this process knew them at its start, and as many as have gone by. */
const steadyNow = () => Math.round(performance.timeOrigin + performance.now())

export class SharedClock implements Clock {
  readonly isTest: boolean
  readonly #store: Store
  readonly #timers: NodeJS.Timeout[] = []
  /** By how much the database's clock is ahead of what `#own` says. */
  #skewMs = 0
  #testMs = 0

  constructor(store: Store, isTest: boolean) {
    this.#store = store
    this.isTest = isTest
  }

  newUuid = () => systemClock.newUuid()
  newSeed = () => systemClock.newSeed()
  newSecret = (bytes: number) => systemClock.newSecret(bytes)

  now(): number {
    return this.#own() + this.#skewMs + this.#testMs
  }

  /**
   * Where the database has a clock for all, ours only counts on from it, and must not jump: a process whose machine is set
   * an hour ahead would start and end leases an hour early.
   */
  #own(): number {
    return this.#store.dialect === 'sqlite' ? systemClock.now() : steadyNow()
  }

  /** Measures once, then regularly. When a later measurement fails, the last one stays in force. */
  async start(): Promise<void> {
    await this.#measure()
    await this.look()
    this.#every(limits.clockMeasureMs, () => this.#measure())
    // Moving the clock wakes everyone; this is for a process that missed it.
    if (this.isTest) this.#every(limits.feedPollMs, () => this.look())
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  /** In tests: reads how far any process has moved the clock. */
  async look(): Promise<void> {
    if (this.isTest) this.#testMs = (await this.#store.read(() => one(askAhead({}))))!.ahead_ms
  }

  async advance(ms: number): Promise<void> {
    this.#testMs = await this.#store.write(function* () {
      yield* wake('any')
      return (yield* one(moveAhead({ ms })))!.ahead_ms
    })
  }

  #every(ms: number, work: () => Promise<void>): void {
    this.#timers.push(setInterval(() => void work().catch(() => {}), ms).unref())
  }

  /** Keeps the quickest of a few answers: the error is at most half of the round trip. */
  async #measure(): Promise<void> {
    if (this.#store.dialect === 'sqlite') return
    let best = Infinity
    for (let i = 0; i < 3; i++) {
      const sent = steadyNow()
      const { now } = (await this.#store.read(() => one(askTime({}))))!
      const took = steadyNow() - sent
      if (took >= best) continue
      best = took
      this.#skewMs = Math.round(now - (sent + took / 2))
    }
  }
}
