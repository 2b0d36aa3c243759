// One connection of a simulated process to PostgreSQL: what is under way on it in both directions, and what PostgreSQL's
// timeouts make of it in virtual time.
import { Backend, type Rest } from './backend.ts'
import type { Stream } from './chance.ts'
import { saysOwnNumbers, shown } from './history.ts'
import type { Network } from './network.ts'
import * as protocol from './protocol.ts'
import type { Message } from './protocol.ts'
import type { VirtualSocket, Wire } from './socket.ts'
import type { Owner } from './world.ts'

/** As PostgreSQL's deadlock_timeout is by default. */
const DEADLOCK_MS = 1_000
/** These are done in virtual time. */
const TIMEOUTS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']

/** Writes to anything that invariants look at. */
const TOUCHES = /\b(?:insert into|update|delete from) "(?!conductors"|log")(\w+)"/g
/** Transactions by themselves. */
const CALLS = /\b(claim_new|release_all)\(/
/** What these calls write. */
const CALLED = ['claims', 'consumers', 'inventories', 'providers']
const tablesIn = (text: string): string[] => [
  ...Array.from(text.matchAll(TOUCHES), ([, table]) => table!),
  ...(CALLS.test(text) ? CALLED : []),
]
/** Begins to read for memory or for an answer. */
const READS = /\bread only$/

interface Unit {
  bytes: Buffer
  /** The texts of its statements. */
  text: string
  lockMs: number | null
}

export class Line implements Wire {
  readonly owner: Owner
  readonly name: string
  readonly backend: Backend
  readonly #network: Network
  readonly #socket: VirtualSocket
  readonly #chance: Stream
  readonly #framing = new protocol.Framing({ isClient: true })
  readonly #texts = new Map<string, string>()
  readonly #units: Unit[] = []
  /** Messages since the last Sync. */
  #open: Message[] = []
  #sendAt = 0
  #deliverAt = 0
  #isSending = false
  #isGreeted = false
  /** By either side. */
  isClosed = false
  isListening = false
  /** Nothing gets through any more, and neither side is told. */
  isSilent = false
  xactSince: number | null = null
  waitingSince: number | null = null
  #sessionLockMs = 0
  #idleMs = 0
  #lockMs = 0
  #notifies = false
  #writes = false
  /** Its transaction is a release in one call. */
  #releases = false
  /** The statements of its transaction. */
  said = ''
  /** Statements of the last burst are left, to be sent after so long. */
  #restMs = 0
  /** The tables that its transaction has written to. */
  #touched = new Set<string>()
  #activity = 0
  /** What the server said meanwhile, of the answers that are on their way. */
  #notices: readonly Message[] = []
  /** For each answer to come: whether it says numbers that PostgreSQL made by itself. */
  readonly #hidden: boolean[] = []

  constructor(network: Network, owner: Owner, socket: VirtualSocket, name: string) {
    this.#network = network
    this.owner = owner
    this.name = name
    this.#socket = socket
    this.#chance = network.chance.stream(name)
    this.backend = new Backend(network.database)
  }

  #delay(): number {
    const { slowMs } = this.#network
    return 0.02 + this.#chance.float() ** 3 * 2 + (slowMs > 0 ? this.#chance.float() * slowMs : 0)
  }

  open(): void {
    this.#network.at(this.#delay(), async () => {
      if (this.isClosed) return
      if (this.#network.isAway || this.#network.cutOff.has(this.owner)) return this.breaks('ECONNREFUSED')
      await this.backend.open()
      this.#deliver(() => this.#socket.emit('connect'))
    })
  }

  /** The bytes wait for the end of the event, and then travel together. */
  send(bytes: Buffer): void {
    for (const message of this.#framing.add(bytes)) this.#takeFromClient(message)
    this.#schedule()
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    if (!this.isSilent) this.hangUpAfter(this.#delay())
  }

  hangUpAfter(ms: number): void {
    this.#network.at(ms, () => this.#hangUp())
  }

  async #hangUp(): Promise<void> {
    this.#network.history.add(this.name, 'hangs up')
    this.isClosed = true
    if (!this.#network.lines.has(this)) return
    this.#rested(await this.backend.hangUp())
    await this.#network.goOn()
  }

  /** The network or the server breaks it, and the client is told. */
  breaks(code: string): void {
    if (!this.isClosed) this.hangUpAfter(0)
    this.isClosed = true
    this.#deliver(() => this.#socket.lost(Object.assign(new Error(`connection broken: ${code}`), { code })))
  }

  /** The same in the middle of an answer: what the server said before it was done has arrived. */
  breaksMidway(): void {
    const bytes = Buffer.concat(this.#notices.map(notice => notice.bytes))
    if (bytes.length > 0) this.#deliver(() => this.#socket.deliver(bytes))
    this.breaks('ECONNRESET')
  }

  #takeFromClient(message: Message): void {
    if (message.type === 'X') return
    if (message.type === '') {
      const settings = protocol.startupSettings(message)
      this.#sessionLockMs = Number(settings.get('lock_timeout') ?? 0)
      this.#idleMs = Number(settings.get('idle_in_transaction_session_timeout') ?? 0)
      for (const name of TIMEOUTS) settings.delete(name)
      settings.set('options', `${settings.get('options') ?? ''} -c sim.now=${this.#network.sqlNow} -c sim.activity=[]`)
      this.#units.push({ bytes: protocol.startupWith(settings), text: 'startup', lockMs: null })
      return
    }
    this.#open.push(message)
    if (message.type === 'S' || message.type === 'Q') this.#units.push(this.#unitOf(this.#open.splice(0)))
  }

  #unitOf(messages: readonly Message[]): Unit {
    let text = ''
    let lockMs: number | null = null
    const bytes = messages.map(message => {
      if (message.type === 'Q') {
        const sql = protocol.queryText(message)
        text += sql
        const found = /set local lock_timeout = (\d+)/.exec(sql)
        if (!found) return message.bytes
        lockMs = Number(found[1])
        return protocol.simpleQuery(sql.replace(found[0], 'set local sim.lock_timeout = 0'))
      }
      if (message.type === 'P') {
        const { name, text: sql } = protocol.parsed(message)
        this.#texts.set(name, sql)
      }
      if (message.type === 'B') {
        const { name, values } = protocol.bound(message)
        const sql = this.#texts.get(name) ?? ''
        text += `${sql} ${saysOwnNumbers(sql) ? '…' : shown(values)}`
        if (/\b(claim_new|release_all)\(/.test(sql)) lockMs = this.#network.callLockMs
      }
      return message.bytes
    })
    return { bytes: Buffer.concat(bytes), text, lockMs }
  }

  #schedule(): void {
    if (this.#isSending || this.#units.length === 0 || this.backend.isBusy) return
    this.#isSending = true
    this.#sendAt = Math.max(this.#sendAt, this.#network.now + this.#restMs + this.#delay())
    this.#network.at(this.#sendAt - this.#network.now, async () => {
      this.#isSending = false
      if (!this.isClosed && !this.isSilent) await this.#run()
    })
  }

  /** Sends all that waits, or now and then the first few statements, so that others come in between. */
  async #run(): Promise<void> {
    const { length } = this.#units
    const { history, sqlNow, cuts } = this.#network
    const units = this.#units.splice(0, this.#chance.happens(cuts.share) ? 1 + this.#chance.int(length) : length)
    this.#restMs = this.#units.length > 0 && cuts.ms > 0 ? this.#chance.float() * cuts.ms : 0
    const touches = this.#touched.size > 0 || units.some(({ text }) => tablesIn(text).length > 0)
    if (touches && units.some(({ text }) => text === 'commit' || CALLS.test(text)))
      this.#network.reached(this, 'committing')
    if (units.some(({ text }) => READS.test(text))) this.#network.reached(this, 'reading')
    if (this.isClosed || this.isSilent) return
    this.#activity++
    for (const { text, lockMs } of units) {
      history.add(this.name, `→ ${text}`)
      this.#hidden.push(saysOwnNumbers(text))
      if (lockMs !== null) this.#lockMs = lockMs
      if (/\bnotify\b|\border_log\b/.test(text)) this.#notifies = true
      if (/^listen\b/.test(text)) this.isListening = true
      this.said += `${text}\n`
      // A transaction that writes asks for its number first; a call is a transaction by itself.
      if (text.includes('pg_current_xact_id(') || CALLS.test(text)) this.#writes = true
      if (/\brelease_all\(/.test(text)) this.#releases = true
      for (const table of tablesIn(text)) this.#touched.add(table)
    }
    this.xactSince ??= this.#network.now
    const looks = units.some(({ text }) => text.includes('pg_stat_activity'))
    const activity = looks ? `; set sim.activity = '${this.#network.activity()}'` : ''
    const settings = this.#isGreeted ? `set sim.now = '${sqlNow}'${activity}` : ''
    this.#isGreeted = true
    const rest = await this.backend.run(Buffer.concat(units.map(unit => unit.bytes)), units.length, settings)
    await this.#settled(rest)
  }

  async #settled(rest: Rest): Promise<void> {
    this.#rested(rest)
    if (rest === 'answered' && this.#notifies) {
      this.#notifies = false
      await this.#network.tell()
    }
    await this.#network.goOn()
  }

  /** Takes note of what the server process does now, and hands out its answers. */
  #rested(rest: Rest): void {
    const network = this.#network
    if (rest === 'gone') {
      network.lines.delete(this)
      network.waiting.delete(this)
      if (!this.isClosed) this.breaks('ECONNRESET')
      return
    }
    if (rest === 'blocked') return this.#waits()
    network.waiting.delete(this)
    this.waitingSince = null
    const answers = this.backend.answers.splice(0)
    this.#notices = answers.filter(({ type }) => type === 'N')
    this.#record(answers)
    if (this.backend.status === 'I') {
      this.xactSince = null
      this.#lockMs = this.#sessionLockMs
    } else this.#watchIdle()
    const isCommit = this.#writes && this.backend.status === 'I'
    const isOfInterest = isCommit && this.#touched.size > 0
    const isRelease = isCommit && this.#releases
    if (isCommit) {
      this.#releases = false
      network.committed(this, this.#touched)
      this.#writes = false
      this.#touched = new Set()
    }
    if (this.isClosed || this.isSilent) return
    if (isRelease) network.reached(this, 'released')
    if (isOfInterest && !this.isClosed) network.reached(this, 'committed')
    else if (this.#writes && this.backend.status === 'T') network.reached(this, 'in a transaction')
    const { share, ms, of } = network.late
    const mayBeLate = share > 0 && (!of || of.test(this.said))
    if (this.backend.status === 'I') this.said = ''
    if (this.isClosed || this.isSilent) return
    const bytes = Buffer.concat(answers.map(answer => answer.bytes))
    const lateMs = mayBeLate && this.#chance.happens(share) ? this.#chance.float() * ms : 0
    if (bytes.length > 0) this.#deliver(() => this.#socket.deliver(bytes), lateMs)
    this.notify()
    this.#schedule()
  }

  /** Delivers what the server process has been notified of. */
  notify(): void {
    for (const { bytes } of this.backend.notifications.splice(0)) {
      if (this.isClosed || this.isSilent || this.#network.losesNotification()) continue
      this.#deliver(() => this.#socket.deliver(bytes), this.#chance.float() ** 3 * 50)
    }
  }

  #deliver(run: () => void, late = 0): void {
    this.#deliverAt = Math.max(this.#deliverAt, this.#network.now + this.#delay() + late)
    this.#network.world.at(this.#deliverAt, this.owner, () => {
      if (!this.isSilent) run()
    })
  }

  #waits(): void {
    this.#network.waiting.add(this)
    this.waitingSince = this.#network.now
    const since = ++this.#activity
    this.#network.history.add(this.name, 'waits for a lock')
    if (!this.isClosed) this.#network.reached(this, 'waiting')
    const give = (ms: number, code: string, text: string, isDue: () => Promise<boolean>) =>
      this.#network.at(ms, async () => {
        if (this.#activity !== since || !(await isDue())) return
        this.#network.history.add(this.name, text)
        await this.#settled(await this.backend.cancel(code, text))
      })
    if (this.#lockMs > 0) give(this.#lockMs, '55P03', 'canceling statement due to lock timeout', async () => true)
    // At once: who waits for a short time only would give up before PostgreSQL looks.
    this.#network.at(1, async () => {
      if (this.#activity === since && (await this.#network.isInCircle(this))) this.#network.circled(this.name)
    })
    give(DEADLOCK_MS, '40P01', 'deadlock detected', () => this.#network.isInCircle(this))
  }

  /** The lock is its own now. */
  async goOn(): Promise<void> {
    this.#activity++
    this.#network.history.add(this.name, 'has the lock')
    this.#network.waiting.delete(this)
    const rest = await this.backend.goOn()
    this.#rested(rest)
    if (rest === 'answered' && this.#notifies) {
      this.#notifies = false
      await this.#network.tell()
    }
  }

  #watchIdle(): void {
    const since = this.#activity
    if (this.#idleMs === 0) return
    this.#network.at(this.#idleMs, () => {
      // Of a silent one the server doesn't know that its client has given it up.
      if (this.#activity !== since || (this.isClosed && !this.isSilent)) return
      const text = 'terminating connection due to idle-in-transaction timeout'
      this.#network.history.add(this.name, text)
      if (this.isClosed) return this.hangUpAfter(0)
      this.#deliver(() => this.#socket.deliver(protocol.failure('FATAL', '25P03', text)))
      this.breaks('ECONNRESET')
    })
  }

  #record(answers: readonly Message[]): void {
    const words = answers.flatMap(answer => {
      if (answer.type === 'Z') this.#hidden.shift()
      if (answer.type === 'D') return [this.#hidden[0] ? '[…]' : shown(protocol.rowValues(answer))]
      if (answer.type === 'C') return [answer.body.toString('utf8', 0, answer.body.length - 1)]
      if (answer.type !== 'E') return []
      const fields = protocol.errorFields(answer)
      return [`${fields.get('C')} ${fields.get('M')}`]
    })
    this.#network.history.add(this.name, `← ${words.join(' ')}`)
  }
}
