// A server process of the real PostgreSQL. It gets bytes only when the virtual network says so, and is then at rest or
// waits for a lock before anything else happens: so the order of everything is the seed's.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Database } from './database.ts'
import { errorFields, errorWith, Framing, type Message, simpleQuery, SYNC } from './protocol.ts'
import { real, realSleep } from './world.ts'

/** After this long without an answer we ask whether it waits for a lock. */
const PATIENCE_MS = 2

/** What it did with its bytes. `gone`: the process has ended. */
export type Rest = 'answered' | 'blocked' | 'gone'

export class Backend {
  pid = 0
  /** I: idle, T: in a transaction, E: in a failed transaction. */
  status = 'I'
  /** Messages for the client, and what it is notified of. */
  readonly answers: Message[] = []
  readonly notifications: Message[] = []
  readonly #database: Database
  readonly #framing = new Framing({ isClient: false })
  #socket: Socket | null = null
  /** For each ReadyForQuery to come: whether the client waits for it. */
  readonly #due: boolean[] = []
  #isClosed = false
  #isStopped = false
  #changed: () => void = () => {}
  /** The error that stands for our cancelling. */
  #cancelledAs: { code: string; text: string } | null = null

  constructor(database: Database) {
    this.#database = database
  }

  async open(): Promise<void> {
    const socket = connect(this.#database.socket)
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => this.#heard(bytes))
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#isClosed = true
      this.#changed()
    })
    await once(socket, 'connect')
  }

  get isBusy(): boolean {
    return this.#due.length > 0 && !this.#isClosed
  }

  /** Sends what ends in so many Syncs or Queries, with settings before it that the client doesn't hear of. */
  run(bytes: Buffer, readies: number, settings = ''): Promise<Rest> {
    if (settings !== '') this.#due.push(false)
    for (let i = 0; i < readies; i++) this.#due.push(true)
    this.#socket!.write(settings === '' ? bytes : Buffer.concat([simpleQuery(settings), bytes]))
    return this.#rest()
  }

  /** Makes it hand out the notifications that wait for it. */
  async poke(): Promise<void> {
    this.#due.push(false)
    this.#socket!.write(SYNC)
    await this.#rest()
  }

  /** It has got the lock: lets it go on. Without a client it does what was sent, and ends. */
  goOn(): Promise<Rest> {
    this.#signal('SIGCONT')
    return this.#isClosed ? this.#ended() : this.#rest()
  }

  /** Ends its statement with this error. */
  async cancel(code: string, text: string): Promise<Rest> {
    this.#cancelledAs = { code, text }
    const since = await this.#database.waitsSince(this.pid)
    await this.#database.cancel(this.pid)
    this.#signal('SIGCONT')
    // On a busy machine it takes a while to leave the line, and would be taken for one that waits again.
    for (let now = since; now !== null && now === since; now = await this.#database.waitsSince(this.pid))
      await realSleep(1)
    return this.#isClosed ? this.#ended() : this.#rest()
  }

  /** Closes the connection. A process at work notices that only when it is done. */
  async hangUp(): Promise<Rest> {
    this.#socket?.destroy()
    this.#isClosed = true
    if (this.#isStopped) return 'blocked'
    return this.pid === 0 ? 'gone' : this.#ended()
  }

  /** At the end of a run. Dropping the database ends those that are left. */
  abandon(): void {
    this.#socket?.destroy()
    if (!this.#isStopped) return
    try {
      this.#signal('SIGCONT')
    } catch (error) {
      // It has ended already.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }

  async #ended(): Promise<Rest> {
    for (;;) {
      const by = await this.#database.look(this.pid)
      if (by === null) return 'gone'
      if (by.length > 0) {
        this.#signal('SIGSTOP')
        return 'blocked'
      }
      await realSleep(1)
    }
  }

  async #rest(): Promise<Rest> {
    while (this.#due.length > 0) {
      if (this.#isClosed) return 'gone'
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#changed = resolve
      const late = real.setTimeout(resolve, PATIENCE_MS)
      await promise
      real.clearTimeout(late)
      if (this.#due.length === 0 || this.#isClosed || this.pid === 0) continue
      const by = (await this.#database.blockers([this.pid])).get(this.pid)!
      if (by.length === 0 || this.#due.length === 0) continue
      // Nobody else runs, so it stays blocked. Stopped, it also stays where it is when the lock is given to it.
      this.#signal('SIGSTOP')
      return 'blocked'
    }
    return 'answered'
  }

  #signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#isStopped = signal === 'SIGSTOP'
    process.kill(this.pid, signal)
  }

  #heard(bytes: Buffer): void {
    for (const message of this.#framing.add(bytes)) this.#take(message)
    if (this.#due.length === 0) this.#changed()
  }

  #take(message: Message): void {
    const { type, body } = message
    if (type === 'A') return void this.notifications.push(message)
    if (type === 'K') this.pid = body.readUInt32BE(0)
    const isForClient = this.#due[0] ?? true
    if (type === 'Z') {
      this.status = String.fromCharCode(body[0]!)
      this.#due.shift()
    }
    if (isForClient) this.answers.push(type === 'E' ? this.#inTheirWords(message) : message)
  }

  #inTheirWords(message: Message): Message {
    const fields = errorFields(message)
    if (!this.#cancelledAs || fields.get('C') !== '57014') return message
    const { code, text } = this.#cancelledAs
    this.#cancelledAs = null
    const bytes = errorWith(fields.set('C', code).set('M', text))
    return { type: 'E', bytes, body: bytes.subarray(5) }
  }
}
