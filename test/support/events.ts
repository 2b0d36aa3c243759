// Readers and makers of events for tests: the parser of the HTML standard, a stream that is read step by step, and
// entries that are put into the log as a transaction would.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { logEnds } from '../../src/audit/order.ts'
import { recordAll } from '../../src/audit/record.ts'
import { pruneSealed, sealNext } from '../../src/audit/seals.ts'
import type { Config } from '../../src/config/config.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import type { Subject } from '../../src/store/transaction.ts'
import { type Server, startServer } from './server.ts'
import { type Databases, eachDatabase, type Kind } from './stores.ts'

/** Far more than needed, so that a busy machine doesn't fail a test. */
const DEADLINE_MS = 30_000

export interface Told {
  id: string
  type: string
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects, and fails when it isn't there
  data: any
}

/** Reads server-sent events as section 9.2 of the HTML standard says. */
export class Parser {
  readonly events: Told[] = []
  readonly comments: string[] = []
  lastEventId = ''
  retryMs: number | null = null
  #rest = ''
  #id = ''
  #type = ''
  #data: string[] = []

  take(text: string): void {
    this.#rest += text
    const lines = this.#rest.split(/\r\n|\n|\r/)
    this.#rest = lines.pop()!
    for (const line of lines) this.#line(line)
  }

  #line(line: string): void {
    if (line === '') return this.#dispatch()
    if (line.startsWith(':')) return void this.comments.push(line.slice(1).trimStart())
    const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line)!
    if (name === 'data') this.#data.push(value!)
    else if (name === 'event') this.#type = value!
    else if (name === 'id' && !value!.includes('\0')) this.#id = value!
    else if (name === 'retry' && /^\d+$/.test(value!)) this.retryMs = Number(value)
  }

  #dispatch(): void {
    this.lastEventId = this.#id
    if (this.#data.length > 0) {
      const data: unknown = JSON.parse(this.#data.join('\n'))
      this.events.push({ id: this.lastEventId, type: this.#type || 'message', data })
    }
    this.#data = []
    this.#type = ''
  }
}

/** A stream that is open, and what came of it so far. */
export class Listening {
  readonly parser = new Parser()
  readonly response: Response
  readonly #reader: ReadableStreamDefaultReader<string>
  readonly #over: AbortController
  isOver = false

  constructor(response: Response, over: AbortController) {
    this.response = response
    this.#over = over
    this.#reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  }

  /** Reads on until this holds. */
  async until(holds: (parser: Parser) => boolean, what = 'what was expected'): Promise<Parser> {
    const late = setTimeout(() => this.#over.abort(new Error(`${what} did not come`)), DEADLINE_MS)
    while (!holds(this.parser)) {
      const { value, done } = await this.#reader.read()
      if (done) assert.fail(`the stream ended before ${what}: ${JSON.stringify(this.parser.comments)}`)
      this.parser.take(value)
    }
    clearTimeout(late)
    return this.parser
  }

  async events(count: number): Promise<Told[]> {
    return (await this.until(({ events }) => events.length >= count, `${count} events`)).events
  }

  /** Reads on to the end of the stream. */
  async end(): Promise<Parser> {
    for (;;) {
      const { value, done } = await this.#reader.read()
      if (done) return this.parser
      this.parser.take(value)
    }
  }

  hangUp(): void {
    this.#over.abort()
  }
}

export const CALLER = { 'x-auth-token': 'admin' }

/** Opens a stream; the first lines have come. */
export const listen = (origin: string, query = '', headers: Record<string, string> = CALLER): Promise<Listening> =>
  listenAt(`${origin}/holdfast/v1/events${query}`, headers)

export async function listenAt(url: string, headers: Record<string, string> = CALLER): Promise<Listening> {
  const over = new AbortController()
  const response = await fetch(url, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: over.signal,
  })
  assert.equal(response.status, 200, response.status === 200 ? '' : await response.text())
  const listening = new Listening(response, over)
  await listening.until(({ lastEventId }) => lastEventId !== '', 'its place')
  return listening
}

export interface Page {
  status: number
  headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- see above
  body: any
}

export async function page(origin: string, query = '', headers: Record<string, string> = CALLER): Promise<Page> {
  const response = await fetch(`${origin}/holdfast/v1/events${query}`, { headers })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** The types in the order of the page. */
export const typesOf = ({ body }: Page) => (body.events as { type: string }[]).map(({ type }) => type)

export interface EventSetting {
  kind: Kind
  origin: () => string
  /** Another server on the same database. */
  another: (settings?: Partial<Config>) => Promise<Server>
  databases: Databases
  /** Puts an entry with these objects into the log. */
  tell: (...subjects: Subject[]) => Promise<void>
  /** Drops what is in the log now. */
  forget: () => Promise<void>
}

/** Drops all that is in the log but the newest entries, as the duty does after a time. */
async function forget(store: Store, tell: () => Promise<void>): Promise<void> {
  await store.ordered()
  const { newest } = await store.read(() => logEnds())
  for (;;) {
    // The newest seal is kept, whatever its age; and the server seals too.
    await tell()
    await store.ordered()
    await store.write(() => sealNext(Date.now()))
    while ((await store.write(() => pruneSealed(Date.now() + 60_000))) > 0);
    if ((await store.read(() => logEnds())).oldest > newest) return
    await sleep(10)
  }
}

let entries = 0

export const entryOf = (subjects: readonly Subject[]) => ({
  entry: {
    at: Date.UTC(2030, 0, 1),
    requestId: `req-${++entries}`,
    user: 'alice',
    project: 'lab',
    roles: 'admin',
    address: '127.0.0.1',
    action: 'test:mark',
    outcome: 'done' as const,
  },
  subjects,
})

/** One group of tests for each kind of database, with a server on it whose log can be written to. */
export function eachLog(
  name: string,
  body: (setting: EventSetting) => void,
  settings: Partial<Config> = {},
  kinds?: readonly Kind[],
): void {
  const serve = (databases: Databases) => {
    const servers: Server[] = []
    let database = ''
    let store: Store
    const another = async (more: Partial<Config> = {}) => {
      const server = await startServer(database, { ...settings, ...more }, servers.length === 0 ? 'serve' : 'api')
      servers.push(server)
      return server
    }
    const tell: EventSetting['tell'] = (...subjects) => store.write(() => recordAll([entryOf(subjects)]))
    before(async () => {
      database = await databases.create()
      await another()
      store = openStore(database)
    })
    body({
      kind: databases.kind,
      origin: () => servers[0]!.origin,
      another,
      databases,
      tell,
      forget: () => forget(store, () => tell(allocation('filler', 'created'))),
    })
    after(async () => {
      await store.close()
      for (const server of servers.toReversed()) await server.stop()
    })
  }
  eachDatabase(name, serve, kinds)
}

/** An allocation of which something became. */
export const allocation = (id: string, became: string, project = 'lab', more: object = {}): Subject => ({
  kind: 'allocation',
  id,
  became,
  whose: { project },
  data: { name: id, ...more },
})

/** How many streams and waiting polls a server has. */
export async function streamsAt(origin: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text()
  return Number(/^holdfast_event_streams (\d+)$/m.exec(text)![1])
}

/** Until all have hung up. A test that mocks timers waits for it, so that no timer of its streams is cleared later. */
export async function noStreamsAt(origin: string): Promise<void> {
  while ((await streamsAt(origin)) > 0) await sleep(10)
}
