// A small HTTP client for tests: keep-alive, any body, and the unchanged answer.
import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request as send } from 'node:http'
import { requireDocumented } from './documented.ts'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** The JSON of the body, its text if it isn't JSON, null if there is none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects, and fails when it isn't there
  body: any
}

export interface Options {
  /** The microversion, as in "1.28"; null sends no version header. */
  version?: string | null
  token?: string | null
  headers?: OutgoingHttpHeaders
}

const ANSWER_TIMEOUT_MS = 20_000

export class Client {
  /** The addresses of the servers, set once they have started; requests go to each in turn. */
  origins: string[] = []
  /** The token of requests that name none. */
  defaultToken = 'admin'
  #turn = 0
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 })
  readonly #prefix: string

  constructor(prefix: string, ...origins: string[]) {
    this.#prefix = prefix
    this.origins = origins
  }

  get origin(): string {
    return this.origins[this.#turn++ % this.origins.length]!
  }

  get = (path: string, options?: Options) => this.request('GET', path, undefined, options)
  put = (path: string, body?: unknown, options?: Options) => this.request('PUT', path, body, options)
  post = (path: string, body?: unknown, options?: Options) => this.request('POST', path, body, options)
  del = (path: string, options?: Options) => this.request('DELETE', path, undefined, options)

  /** A string or buffer is sent unchanged, anything else as JSON. */
  async request(method: string, path: string, body?: unknown, options: Options = {}): Promise<Answer> {
    const { version = '1.39', token = this.defaultToken, headers = {} } = options
    const bytes = body === undefined || typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body)
    const all: OutgoingHttpHeaders = {
      ...(version !== null && { 'openstack-api-version': `placement ${version}` }),
      ...(token !== null && { 'x-auth-token': token }),
      ...(bytes !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }),
      ...headers,
    }
    // An undefined header removes a default one.
    for (const name of Object.keys(all)) if (all[name] === undefined) delete all[name]
    const { status, headers: answered, text } = await this.#exchange(method, path, bytes, all)
    requireDocumented({ method, path: `${this.#prefix}${path}`, sent: bytes, status, headers: answered, text })
    return { status, headers: answered, body: text === '' ? null : parse(text) }
  }

  #exchange(
    method: string,
    path: string,
    bytes: string | Buffer | undefined,
    headers: OutgoingHttpHeaders,
  ): Promise<Pick<Answer, 'status' | 'headers'> & { text: string }> {
    return new Promise((resolve, reject) => {
      // Not as one URL, which would be normalized: the path must be sent exactly as the test has it.
      const { hostname, port } = new URL(this.origin)
      const outgoing = send(
        {
          hostname,
          port,
          path: `${this.#prefix}${path}`,
          method,
          headers,
          agent: this.#agent,
          timeout: ANSWER_TIMEOUT_MS,
        },
        incoming => {
          const chunks: Buffer[] = []
          incoming.on('data', chunk => chunks.push(chunk))
          incoming.on('error', reject)
          incoming.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            resolve({ status: incoming.statusCode!, headers: incoming.headers, text })
          })
        },
      )
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer in time to ${method} ${path.slice(0, 200)}`)))
      outgoing.on('error', reject)
      outgoing.end(bytes)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
