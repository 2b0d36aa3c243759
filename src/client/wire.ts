// Sends requests to one server with fetch: path prefixes, version headers, and refusals as errors.
import { ApiError, sentenceIn, Unreachable } from './errors.ts'

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
} as const

type Prefix = keyof typeof HEADERS

/** Long enough for a busy server, short enough for a waiting user. */
const ANSWER_TIMEOUT_MS = 60_000

export class Wire {
  readonly url: string
  readonly #headers: Record<string, string>

  /** `headers` authenticate us. */
  constructor(url: string, headers: Record<string, string>) {
    this.url = url
    this.#headers = headers
  }

  at(prefix: Prefix): Api {
    return new Api(`${this.url}${prefix}`, { ...HEADERS[prefix], ...this.#headers })
  }
}

/** One of a server's APIs. */
export class Api {
  readonly #base: string
  readonly #headers: Record<string, string>

  constructor(base: string, headers: Record<string, string>) {
    this.#base = base
    this.#headers = headers
  }

  get = <T>(path: string, query?: Query) => this.#send<T>('GET', `${path}${searchOf(query)}`)
  post = <T>(path: string, body?: unknown) => this.#send<T>('POST', path, body)
  put = <T>(path: string, body?: unknown) => this.#send<T>('PUT', path, body)
  patch = <T>(path: string, body: unknown, query?: Query) => this.#send<T>('PATCH', `${path}${searchOf(query)}`, body)
  delete = <T = void>(path: string, query?: Query) => this.#send<T>('DELETE', `${path}${searchOf(query)}`)

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

  async #send<T>(method: Method, path: string, body?: unknown): Promise<T> {
    const { answer } = await exchange(method, `${this.#base}${path}`, this.#headers, body)
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
  headers: Record<string, string>,
  body?: unknown,
): Promise<{ answer: unknown; headers: Headers }> {
  const response = await answered(url, {
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const { status, text } = response
  const answer = text === '' ? null : parsed(text)
  if (status >= 200 && status < 300 && answer !== undefined) return { answer, headers: response.headers }
  const sentence = sentenceIn(answer) ?? `${method} ${url} was answered with ${status}, in no form that Holdfast uses`
  const requestId = response.headers.get('x-openstack-request-id') ?? response.headers.get('openstack-request-id')
  throw new ApiError(status, sentence, { body: answer ?? null, requestId })
}

async function answered(url: string, request: RequestInit) {
  try {
    const response = await fetch(url, request)
    return { status: response.status, headers: response.headers, text: await response.text() }
  } catch (error) {
    throw new Unreachable(new URL(url).origin, reasonOf(error), { cause: error })
  }
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error
  if (name === 'TimeoutError') return `it took longer than ${ANSWER_TIMEOUT_MS / 1_000} s`
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

/** A name, escaped for a path. */
export const segment = (name: string) => encodeURIComponent(name)
