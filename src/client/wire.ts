// Sends requests to one server with fetch: path prefixes, version headers, and refusals as errors.
import { ApiError, refusalOf, sentenceIn, Unreachable, WrongUse } from './errors.ts'

export type Json = Record<string, unknown>
export type Query = Record<string, string | number | boolean | readonly string[] | undefined>
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The versions that this client was written for. */
const HEADERS = {
  '/baremetal/v1': { 'x-openstack-ironic-api-version': '1.83' },
  '/placement': { 'openstack-api-version': 'placement 1.39' },
  '/reservation/v1': {},
  '/compute/v2.1': { 'x-openstack-nova-api-version': '2.1' },
  '/holdfast/v1': {},
  '/identity/v3': {},
} as const

type Prefix = keyof typeof HEADERS

/** Long enough for a busy server, short enough for a waiting user. */
const ANSWER_TIMEOUT_MS = 60_000

type Headers = Readonly<Record<string, string>>

/** What is used of a WebSocket: programs in Node and in browsers have different types for it. */
export interface ByteSocket {
  binaryType: string
  readonly readyState: number
  send(bytes: Uint8Array<ArrayBuffer>): void
  close(): void
  addEventListener(type: 'open' | 'error', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void
  addEventListener(type: 'close', listener: (event: { reason: string }) => void): void
}

/** What authenticates us. */
export interface Session {
  readonly headers: Headers
  /** Logs in again after a 401, unless `stale` is out of use already; false if that is of no use. */
  renew: (stale: Headers) => Promise<boolean>
  /** What to say when that is of no use; undefined for the server's words. */
  readonly refusal?: string | undefined
}

export class Wire {
  readonly url: string
  readonly #session: Session
  readonly #signal: AbortSignal | undefined

  /** `signal` ends the requests that are under way, and refuses new ones. */
  constructor(url: string, session: Session, signal?: AbortSignal) {
    this.url = url
    this.#session = session
    this.#signal = signal
  }

  within = (signal: AbortSignal) => new Wire(this.url, this.#session, signal)

  at = (prefix: Prefix) => new Api(`${this.url}${prefix}`, HEADERS[prefix], this.#session, this.#signal)
}

/** One of a server's APIs. */
export class Api {
  readonly #base: string
  readonly #headers: Headers
  readonly #session: Session
  readonly #signal: AbortSignal | undefined

  constructor(base: string, headers: Headers, session: Session, signal?: AbortSignal) {
    this.#base = base
    this.#headers = headers
    this.#session = session
    this.#signal = signal
  }

  within = (signal: AbortSignal) =>
    new Api(this.#base, this.#headers, this.#session, this.#signal ? AbortSignal.any([this.#signal, signal]) : signal)

  get = <T>(path: string, query?: Query) => this.#send<T>('GET', `${path}${searchOf(query)}`)
  post = <T>(path: string, body?: unknown) => this.#send<T>('POST', path, body)
  put = <T>(path: string, body?: unknown) => this.#send<T>('PUT', path, body)
  patch = <T>(path: string, body: unknown, query?: Query) => this.#send<T>('PATCH', `${path}${searchOf(query)}`, body)
  delete = <T = void>(path: string, query?: Query) => this.#send<T>('DELETE', `${path}${searchOf(query)}`)

  /** A web socket. Browsers can send no headers with one, so what authenticates us is among the protocols. */
  socket = (path: string, protocols: readonly string[]): ByteSocket =>
    new WebSocket(`${this.#base.replace(/^http/, 'ws')}${path}`, [...protocols])

  /** Reads all pages of a list, up to `limit` rows. */
  async all<T>(path: string, name: string, query: Query = {}, limit = Infinity): Promise<T[]> {
    const rows: T[] = []
    let search = searchOf({ ...query, limit: Number.isFinite(limit) ? limit : undefined })
    for (;;) {
      const page = await this.#send<Json>('GET', `${path}${search}`)
      rows.push(...((page[name] ?? []) as T[]))
      const next = page['next'] ?? nextIn(page[`${name}_links`])
      if (typeof next !== 'string' || rows.length >= limit) return rows.slice(0, limit)
      // Only the query: behind a proxy, the host in `next` may be wrong.
      search = new URL(next).search
    }
  }

  /** The text of a stream of events, piece by piece. It ends or throws when the connection does. */
  stream(path: string, query: Query, signal: AbortSignal): Promise<AsyncIterable<string>> {
    const url = `${this.#base}${path}${searchOf(query)}`
    const both = this.#signal ? AbortSignal.any([signal, this.#signal]) : signal
    return this.#known(headers => streamed(url, headers, both))
  }

  #send<T>(method: Method, path: string, body?: unknown): Promise<T> {
    return this.#known(headers => this.#exchange<T>(method, path, headers, body))
  }

  async #known<T>(ask: (headers: Headers) => Promise<T>): Promise<T> {
    const { headers } = this.#session
    try {
      return await ask(headers)
    } catch (error) {
      // A token that has ended. The server has done nothing yet, so the request may be sent again.
      if (!(error instanceof ApiError) || error.status !== 401) throw error
      if (!(await this.#session.renew(headers))) throw new ApiError(401, this.#session.refusal ?? error.message, error)
      return ask(this.#session.headers)
    }
  }

  async #exchange<T>(method: Method, path: string, headers: Headers, body?: unknown): Promise<T> {
    const all = { ...this.#headers, ...headers }
    const { answer } = await exchange(method, `${this.#base}${path}`, all, body, this.#signal)
    return answer as T
  }
}

/** The next page in the form of the compute API. */
const nextIn = (links: unknown) =>
  (links as { rel: string; href: string }[] | undefined)?.find(({ rel }) => rel === 'next')?.href

/** Sends one request. Throws ApiError on a refusal, Unreachable without an answer. */
export async function exchange(
  method: Method,
  url: string,
  headers: Headers,
  body?: unknown,
  signal?: AbortSignal,
): Promise<{ answer: unknown; headers: Response['headers'] }> {
  const tooLate = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
  const response = await answered(url, {
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    redirect: 'manual',
    signal: signal ? AbortSignal.any([signal, tooLate]) : tooLate,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return read(method, url, response)
}

function read(method: Method, url: string, response: { status: number; headers: Response['headers']; text: string }) {
  const { status, text } = response
  const answer = text === '' ? null : parsed(text)
  if (status >= 200 && status < 300 && answer !== undefined) return { answer, headers: response.headers }
  const sentence = sentenceIn(answer) ?? `${method} ${url} was answered with ${status}, in no form that Holdfast uses`
  const requestId = response.headers.get('x-openstack-request-id') ?? response.headers.get('openstack-request-id')
  const retryAfterMs = msIn(response.headers.get('retry-after'))
  throw refusalOf(status, sentence, { body: answer ?? null, requestId, retryAfterMs })
}

/** Retry-After in seconds. A date, which no server of ours sends, is left out. */
const msIn = (retryAfter: string | null) =>
  retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : null

async function answered(url: string, request: RequestInit) {
  try {
    const response = await fetch(url, request)
    return { status: response.status, headers: response.headers, text: await response.text() }
  } catch (error) {
    throw unreachable(url, error)
  }
}

const unreachable = (url: string, error: unknown) => new Unreachable(new URL(url).origin, reasonOf(error), error)

async function streamed(url: string, headers: Headers, signal: AbortSignal): Promise<AsyncIterable<string>> {
  const request = { headers: { ...headers, accept: 'text/event-stream' }, redirect: 'manual', signal } as const
  try {
    const response = await fetch(url, request)
    if (response.status === 200 && response.body) return piecesOf(url, response.body)
    read('GET', url, { status: response.status, headers: response.headers, text: await response.text() })
  } catch (error) {
    throw error instanceof ApiError ? error : unreachable(url, error)
  }
  throw new ApiError(502, `GET ${url} was answered with no stream of events`)
}

async function* piecesOf(url: string, body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder()
  // Not every browser can iterate over a stream.
  const reader = body.getReader()
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      yield decoder.decode(value, { stream: true })
    }
  } catch (error) {
    throw unreachable(url, error)
  } finally {
    reader.cancel().catch(() => {})
  }
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error
  if (name === 'TimeoutError') return 'it took too long'
  const { code, message: deeper } = (cause ?? {}) as { code?: string; message?: string }
  if (code === 'ECONNREFUSED') return 'nothing listens there'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'there is no such host'
  // Cuts off Node's advice on its own command line options.
  return deeper?.split('; if the root CA', 1)[0] || code || message
}

/** undefined if it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function searchOf(query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const one of [value].flat()) search.append(name, String(one))
  }
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

/** A name, escaped for a path. These can't be: every URL with them means what is above, and deleting that is not meant. */
export function segment(name: string): string {
  if (name === '' || name === '.' || name === '..') throw new WrongUse(`'${name}' is no name of anything`)
  return encodeURIComponent(name)
}
