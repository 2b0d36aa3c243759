// Reads in the log what other processes changed, so that this process's copies in memory follow and its duties wake.
// Polling is enough; notifications only make it quicker.
import { limits } from '../shared/limits.ts'
import { Runner } from '../shared/runner.ts'
import { StoreUnavailable } from './failure.ts'
import type { Ear } from './listener.ts'
import type { Topic } from './log.ts'
import { LOG_CHANNEL, ORDERED, type PostgresStore } from './postgres.ts'
import type { ProviderId } from './schema/ids.ts'
import { SERVER } from './session.ts'

interface FeedReader {
  /** Reads these providers again. */
  refresh(providers: Iterable<ProviderId>): Promise<void>
  /**
   * Reads everything again: rows were pruned that this process had not seen. `isAnew`: what it has seen may be undone, so
   * nothing that memory knows counts against what is read.
   */
  load(isAnew: boolean): Promise<void>
  /** The log ends before what was seen: changes that were answered are gone. Told again if the load after it fails. */
  fellBack?(places: { seen: number; newest: number }): void
  /** Wakes the duties for these topics. */
  woken(topics: readonly Topic[]): void
  /** How old the oldest entry was when it was applied. */
  lagged(seconds: number): void
  failed(error: unknown): void
}

interface Sight {
  /** What a read could see, on which server. */
  snapshot: string
  server: string
}

interface State extends Sight {
  at: string
  behind: boolean
  /** The last place in the log. */
  newest: number
}

/** What others changed of one provider. */
interface Entry {
  provider_id: ProviderId
  entries: number
  age: number
}

/** Snapshots of one server are in order: the newer one sees something that the older one doesn't. */
const isNewer = (a: string, b: string) => `(pg_snapshot_xmax(${a}) > pg_snapshot_xmax(${b})
  or exists (select from pg_snapshot_xip(${b}) as running where pg_visible_in_snapshot(running, ${a})))`

const SIGHT = `select pg_current_snapshot()::text as snapshot, ${SERVER} as server`
const STATE = `${SIGHT}, clock_timestamp()::text as at,
  (select coalesce(${isNewer('pruned', '$1::pg_snapshot')}, false) from log_start) as behind,
  (select last from log_head) as newest`
// Said so that the planner finds the small index.
const IS_TOLD = '(providers is not null or topics is not null)'
// Exactly what the last read could not see: transactions that began after it, and those that were running then. So a
// late commit is neither skipped nor read twice, and a transaction that runs for hours costs one index lookup. Two reads,
// because with an `or` a plan that was made while the log was short walks all of it.
const UNSEEN = `(select * from log where xid >= pg_snapshot_xmax($1::pg_snapshot) and ${IS_TOLD}
    union all select * from log where xid = any(array(select pg_snapshot_xip($1::pg_snapshot))) and ${IS_TOLD}) as unseen`
const ENTRIES = `select provider_id, count(*)::int as entries,
    extract(epoch from clock_timestamp() - min(made_at))::float8 as age
  from ${UNSEEN}, unnest(providers) as provider_id where origin is distinct from $2 group by provider_id`
const TOPICS = `select distinct topic from ${UNSEEN}, unnest(topics) as topic where origin is distinct from $2`
// Deletes the rows that an old read (snapshot $1) could see and that are no entries. A row that became visible later
// stays, however old it is. A process that has read since then has seen all that is deleted. Any other process is
// behind, and knows it by the snapshot stored here.
const PRUNE = `with gone as (
    delete from log where action = '' and xid < pg_snapshot_xmax($1::pg_snapshot)
      and xid <> all(array(select pg_snapshot_xip($1::pg_snapshot))) returning 1)
  update log_start set pruned = case when ${isNewer('pruned', '$1::pg_snapshot')} then pruned else $1::pg_snapshot end
  where exists (select from gone)`
// Only our own sessions, by name: transactions that others leave open say nothing about our commits.
const RUNNING = `select exists (select from pg_stat_activity
  where datname = current_database() and usename = current_user and pid <> pg_backend_pid() and xact_start < $1::timestamptz
    and (application_name like 'holdfast%' or application_name = current_setting('application_name'))) as running`

interface Mark {
  at: number
  cursor: string
}

export class Feed {
  readonly #store: PostgresStore
  readonly #reader: FeedReader
  readonly #keepMs: number
  /** The snapshot of the last read: all that it could see is applied. */
  #cursor = ''
  /** Where the cursor means something: another server may use the same numbers for other transactions. */
  #server = ''
  /** The last place in the log that was seen. Places only grow, unless the database was put back to an older state. */
  #newest = 0
  /** Earlier cursors, the oldest first: what they saw is pruned after #keepMs. */
  readonly #marks: Mark[] = []
  /** Counts events after which memory may lack a commit: an unknown outcome, a failed absorb, a lost connection. */
  #doubts = 0
  #doubtsNoted = 0
  /** When the last doubt arose. It is decided once all our transactions from before that time are over. */
  #doubtedAt: string | null = null
  /** How many transactions of this process the last poll knew of. */
  #commits = 0
  #backlog = 0
  #caughtUpAt = performance.now()
  readonly #ear: Ear
  #timer: NodeJS.Timeout | null = null
  readonly #polling: Runner
  #stopped = false
  #prunedAt = 0

  constructor(store: PostgresStore, reader: FeedReader, keepMs: number = limits.feedKeepMs) {
    this.#store = store
    this.#reader = reader
    this.#keepMs = keepMs
    const failed = (error: unknown) => reader.failed(error)
    this.#polling = new Runner(() => this.#pollOnce(), failed)
    this.#ear = {
      channel: LOG_CHANNEL,
      // Our own commits are in memory already. Hearing of each would cost as much as a claim.
      heard: payload => void (payload !== ORDERED && payload !== store.origin && this.poll()),
      // The server may have crashed or been replaced: then what we read may be undone, and its numbers used again.
      lost: () => void this.#doubts++,
      failed,
    }
    store.onDoubt(error => {
      this.#doubts++
      failed(error)
    })
  }

  /** Loads everything, then follows the feed. */
  async start(): Promise<void> {
    await this.load()
    await this.#store.listener.listen(this.#ear)
    this.#schedule()
  }

  /** Notes where the feed is, then loads: what is committed meanwhile is read twice, never missed. */
  async load(): Promise<void> {
    // After a restore into another server this gives up the numbers of the old one.
    await this.#store.ordered()
    const { rows } = await this.#store.pool.query<Sight>(SIGHT)
    await this.#reader.load(false)
    this.#seen(rows[0]!)
  }

  /** All that it could see is applied. */
  #seen({ snapshot, server }: Sight): void {
    if (server !== this.#server) this.#marks.length = 0
    this.#cursor = snapshot
    this.#server = server
  }

  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#polling.stop()
    this.#store.listener.forget(this.#ear)
  }

  /** Resolves when all that is committed by now is applied, or the poll for it has failed. */
  poll(): Promise<void> {
    return this.#polling.run()
  }

  /** Like `poll`, but throws if it has failed. */
  async pollSurely(): Promise<void> {
    const before = performance.now()
    await this.poll()
    if (this.#caughtUpAt < before) throw new StoreUnavailable('the changes of other processes could not be read')
  }

  /** Polls, and tells whether all that was committed before this call is applied without a doubt. */
  async isFresh(): Promise<boolean> {
    const before = performance.now()
    await this.poll()
    return this.#caughtUpAt >= before && !this.#isInDoubt
  }

  get #isInDoubt(): boolean {
    return this.#doubts > this.#doubtsNoted || this.#doubtedAt !== null
  }

  /** How many changes by others the last poll found. */
  get backlog(): number {
    return this.#backlog
  }

  /** Seconds since the last moment when all that was committed was applied. */
  get behindSeconds(): number {
    return (performance.now() - this.#caughtUpAt) / 1_000
  }

  async #pollOnce(): Promise<void> {
    const startedAt = performance.now()
    const doubts = this.#doubts
    // After a commit of our own the snapshot has changed. To ask whether it has would only be one more round trip.
    const { commits } = this.#store
    const mayBeUnchanged = commits === this.#commits && !this.#isInDoubt
    this.#commits = commits
    if (mayBeUnchanged && (await this.#isUnchanged())) {
      this.#backlog = 0
      this.#caughtUpAt = startedAt
      return
    }
    const state = await this.#read()
    const { at, entries, topics } = state
    // Another server, or the same after a crash or a restore: it may lack what was seen, and use its numbers again.
    const isAnew = state.server !== this.#server || state.newest < this.#newest
    const isLost = state.behind || isAnew
    this.#backlog = entries.reduce((sum, entry) => sum + entry.entries, 0)
    if (doubts > this.#doubtsNoted) {
      this.#doubtsNoted = doubts
      this.#doubtedAt = at
    }
    const isDecided = this.#doubtedAt !== null && !(await this.#isAnyRunningSince(this.#doubtedAt))
    if (isLost || isDecided) {
      if (state.newest < this.#newest) this.#reader.fellBack?.({ seen: this.#newest, newest: state.newest })
      await this.#reader.load(isAnew)
      if (isDecided) this.#doubtedAt = null
    } else if (entries.length > 0) {
      await this.#reader.refresh(entries.map(entry => entry.provider_id))
      // Not spread into Math.max: there may be more providers than a call takes arguments.
      this.#reader.lagged(entries.reduce((oldest, { age }) => Math.max(oldest, age), 0))
    }
    this.#seen(state)
    this.#newest = state.newest
    this.#caughtUpAt = startedAt
    // Duties read in memory what there is to do.
    if (isLost || isDecided) this.#reader.woken(['any'])
    else if (topics.length > 0) this.#reader.woken(topics)
  }

  /** Nothing was committed since the last read: a commit changes the snapshot. Costs a tenth of looking into the log. */
  async #isUnchanged(): Promise<boolean> {
    const { rows } = await this.#store.pool.query<Sight>({ name: 'feed_sight', text: SIGHT })
    return rows[0]!.snapshot === this.#cursor && rows[0]!.server === this.#server
  }

  async #isAnyRunningSince(time: string): Promise<boolean> {
    const { rows } = await this.#store.pool.query<{ running: boolean }>(RUNNING, [time])
    return rows[0]!.running
  }

  async #read(): Promise<State & { entries: Entry[]; topics: Topic[] }> {
    const cursor = this.#cursor
    const client = await this.#store.pool.connect()
    let isBroken = true
    try {
      const [, , state, entries, topics] = await Promise.all([
        client.query('begin isolation level repeatable read read only'),
        // The planner doesn't know the cursor, expects many entries, and would start a parallel worker at each poll.
        client.query('set local max_parallel_workers_per_gather = 0'),
        client.query<State>({ name: 'feed_state', text: STATE, values: [cursor] }),
        client.query<Entry>({ name: 'feed_entries', text: ENTRIES, values: [cursor, this.#store.origin] }),
        client.query<{ topic: Topic }>({ name: 'feed_topics', text: TOPICS, values: [cursor, this.#store.origin] }),
        client.query('commit'),
      ])
      isBroken = false
      return { ...state.rows[0]!, entries: entries.rows, topics: topics.rows.map(({ topic }) => topic) }
    } finally {
      client.release(isBroken)
    }
  }

  #schedule(): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      void this.#tick().finally(() => this.#schedule())
    }, limits.feedPollMs).unref()
  }

  async #tick(): Promise<void> {
    await this.poll()
    const now = performance.now()
    if (now - this.#prunedAt < limits.feedPruneMs) return
    this.#prunedAt = now
    await this.prune(now).catch(error => this.#reader.failed(error))
  }

  /** Deletes what this process read #keepMs ago: every other process has read it since, or must load again. */
  async prune(now: number): Promise<void> {
    this.#marks.push({ at: now, cursor: this.#cursor })
    const oldest = this.#marks.findLastIndex(({ at }) => at <= now - this.#keepMs)
    if (oldest < 0) return
    const [mark] = this.#marks.splice(0, oldest + 1).slice(-1)
    await this.#store.pool.query(PRUNE, [mark!.cursor])
  }
}
