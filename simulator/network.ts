// The virtual network between the simulated processes and the real PostgreSQL. One burst reaches the server at a time,
// and the next only when the server is at rest or waits for a lock.
import type { Duplex } from 'node:stream'
import { findingOf, type Violation } from './checks/invariants.ts'
import type { Stream } from './chance.ts'
import type { Database } from './database.ts'
import type { Ground } from './ground.ts'
import type { History } from './history.ts'
import { Line } from './line.ts'
import { ROLES } from './mixes.ts'
import { type Moment, Moments } from './moments.ts'
import type { Finding } from './port.ts'
import type { Role } from './processes.ts'
import { VirtualSocket } from './socket.ts'
import { Owner, type World } from './world.ts'

interface NetworkOptions {
  world: World
  chance: Stream
  database: Database
  history: History
  /** How long a call of one statement waits for a lock. */
  callLockMs: number
  /** Called after each commit, once the server is at rest, with the tables that it has written to. */
  committed: (touched: ReadonlySet<string>) => void
  /** Called when transactions wait for each other in a circle. */
  circled: (line: string) => void
}

/** While nothing fails. */
export const CUTS = { share: 0.3, ms: 0 } as const

export class Network implements Ground {
  readonly dialect = 'postgres'
  readonly casts = [
    ['serve', 'serve'],
    ['api', 'serve', 'conductor'],
    ['api', 'api', 'conductor', 'conductor'],
  ] as const
  readonly skewMsMax = 3_600_000
  readonly world: World
  readonly chance: Stream
  readonly database: Database
  readonly history: History
  readonly callLockMs: number
  readonly lines = new Set<Line>()
  /** Those that wait for a lock, the first to wait first. */
  readonly waiting = new Set<Line>()
  /** Faults that last: nobody can connect; all messages are slow; notifications are lost. */
  #isAway = false
  /** The last time that it was away. */
  readonly outage = { since: 0, until: 0 }
  slowMs = 0
  notificationLoss = 0
  /** Which share of all answers is late, and by how much at most; or of those in a transaction that has said this. */
  late: { share: number; ms: number; of?: RegExp } = { share: 0, ms: 0 }
  /** Which share of all bursts is cut, and how long the rest waits at most. */
  cuts: { share: number; ms: number } = CUTS
  /** Those who can't connect. */
  readonly cutOff = new Set<Owner>()
  /** What happens when a connection comes to a certain moment. */
  readonly moments = new Moments()
  readonly #owner: Owner
  readonly #options: NetworkOptions
  readonly #made = new Map<Owner, number>()

  constructor(options: NetworkOptions) {
    this.world = options.world
    this.chance = options.chance
    this.database = options.database
    this.history = options.history
    this.callLockMs = options.callLockMs
    this.#options = options
    this.#owner = new Owner('network', options.chance)
  }

  get isAway(): boolean {
    return this.#isAway
  }

  set isAway(isAway: boolean) {
    if (isAway && !this.#isAway) this.outage.since = this.now
    if (isAway || this.#isAway) this.outage.until = isAway ? Infinity : this.now
    this.#isAway = isAway
  }

  get address(): string {
    return this.database.url
  }

  get now(): number {
    return this.world.now
  }

  /** The database's clock. */
  get sqlNow(): string {
    const micros = Math.floor((this.now * 1_000) % 1_000)
    return new Date(Math.floor(this.now)).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`)
  }

  /** For pg, in place of a socket. */
  dial(owner: Owner): () => Duplex {
    return () => {
      const number = (this.#made.get(owner) ?? 0) + 1
      this.#made.set(owner, number)
      const socket = new VirtualSocket()
      const line = new Line(this, owner, socket, `${owner.name}#${number}`)
      this.lines.add(line)
      return socket.attach(line) as unknown as Duplex
    }
  }

  castOf(mix: string): readonly Role[] | null {
    return ROLES[mix] ?? null
  }

  surroundings(owner: Owner): { dial: () => Duplex } {
    return { dial: this.dial(owner) }
  }

  left(owner: Owner, ms: number): void {
    for (const line of this.linesOf(owner)) line.hangUpAfter(ms)
  }

  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    return this.database.rows(text, values)
  }

  async violations(touched?: ReadonlySet<string>): Promise<Finding[]> {
    const text = `select * from set_config('sim.now', $1, false), sim.violations($2)`
    const found = await this.database.rows<Violation>(text, [this.sqlNow, touched ? [...touched] : null])
    return found.map(findingOf)
  }

  heal(): void {
    Object.assign(this, { isAway: false, slowMs: 0, notificationLoss: 0, late: { share: 0, ms: 0 }, cuts: CUTS })
    this.cutOff.clear()
    this.moments.clear()
  }

  at(ms: number, run: () => void | Promise<void>): void {
    this.world.after(ms, this.#owner, run)
  }

  linesOf(owner: Owner): Line[] {
    return [...this.lines].filter(line => line.owner === owner)
  }

  committed(line: Line, touched: ReadonlySet<string>): void {
    this.history.add(line.name, 'commits')
    this.#options.committed(touched)
  }

  /** Lets happen what was to happen at this moment. */
  reached(line: Line, moment: Moment): void {
    if (this.moments.reached(line, moment)) this.history.add(line.name, `meets its fate: ${moment}`)
  }

  losesNotification(): boolean {
    return this.chance.happens(this.notificationLoss)
  }

  /** Lets those go on, one after the other, who have got the lock that they waited for. */
  async goOn(): Promise<void> {
    while (this.waiting.size > 0) {
      const blockers = await this.database.blockers(Array.from(this.waiting, line => line.backend.pid))
      const free = [...this.waiting].find(line => blockers.get(line.backend.pid)!.length === 0)
      if (!free) return
      await free.goOn()
    }
  }

  /** Has PostgreSQL hand out its notifications. */
  async tell(): Promise<void> {
    for (const line of this.lines) {
      if (!line.isListening || line.isClosed || line.backend.isBusy) continue
      await line.backend.poke()
      line.notify()
    }
  }

  circled(line: string): void {
    this.#options.circled(line)
  }

  /** Whether it waits for someone who waits for it. */
  async isInCircle(line: Line): Promise<boolean> {
    const blockers = await this.database.blockers(Array.from(this.waiting, each => each.backend.pid))
    const seen = new Set<number>()
    const reaches = (pid: number): boolean => {
      if (seen.has(pid)) return false
      seen.add(pid)
      return (blockers.get(pid) ?? []).some(by => by === line.backend.pid || reaches(by))
    }
    return reaches(line.backend.pid)
  }

  /** What pg_stat_activity says, in virtual time. */
  activity(): string {
    const known = [...this.lines].filter(line => line.backend.pid !== 0)
    const sessions = known.map(({ backend: { pid, status, isBusy }, xactSince }) => ({
      pid,
      state: isBusy ? 'active' : status === 'I' ? 'idle' : 'idle in transaction',
      xact_start: status === 'I' && !isBusy ? null : xactSince && new Date(xactSince).toISOString(),
    }))
    return JSON.stringify(sessions)
  }

  /** Ends all connections, at the end of a run. */
  stop(): void {
    for (const line of this.lines) {
      line.isClosed = true
      line.backend.abandon()
    }
  }
}
