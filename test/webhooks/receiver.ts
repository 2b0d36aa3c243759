// Receives deliveries for tests, and answers as they say; events for it come straight into the log.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordAll } from '../../src/audit/record.ts'
import type { Store } from '../../src/store/store.ts'
import type { Subject } from '../../src/store/transaction.ts'

export interface Received {
  path: string
  id: string
  headers: IncomingHttpHeaders
  body: string
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects
  event: any
}

type Respond = (response: ServerResponse, received: Received) => void

const OK: Respond = response => void response.writeHead(204).end()

export class Receiver {
  readonly received: Received[] = []
  respond: Respond = OK
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => void this.#take(request, response))
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await buffer(request)).toString()
    const { headers, url = '' } = request
    const received = { path: url, id: String(headers['webhook-id']), headers, body, event: JSON.parse(body) }
    this.received.push(received)
    this.respond(response, received)
  }

  async open(): Promise<string> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
    return this.url
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  at = (path: string) => this.received.filter(one => one.path === path)
}

/** Far more than needed, so that a busy machine doesn't fail a test. */
const WAIT_MS = 60_000

export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const late = performance.now() + WAIT_MS; !(await isSo()); await sleep(10)) {
    if (performance.now() > late) throw new Error(`it never came: ${what}`)
  }
}

/** Writes entries into the log, as a request that changed these objects would. */
export const tell = (store: Store, ...subjects: readonly Subject[]): Promise<void> =>
  store.write(() => recordAll([{ entry: entryOf(Date.now()), subjects }]))

const entryOf = (at: number) => ({
  at,
  requestId: 'req-test',
  user: 'someone',
  project: 'p1',
  roles: 'member',
  address: '127.0.0.1',
  action: 'test',
  outcome: 'done' as const,
})

/** An allocation of a project to which something happened. */
export const allocation = (id: string, became: string, project = 'p1', data: Subject['data'] = {}): Subject => ({
  kind: 'allocation',
  id,
  became,
  whose: { project },
  data,
})
