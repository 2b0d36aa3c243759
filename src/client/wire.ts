// Requests to one server, over fetch: its prefixes, its versions, and its refusals as errors.
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

/** Long enough for a busy server, short enough for someone who waits. */
const ANSWER_TIMEOUT_MS = 60_000

export class Wire {
  readonly url: string
  readonly #headers: Record<string, string>

  /** `headers` say who we are. */
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
  patch = <T>(path: string, body: unknown) => this.#send<T>('PATCH', path, body)
  delete = (path: string) => this.#send<void>('DELETE', path)

  /** All rows of a list, page by page; `limit` is how many are wanted at most. */
  async all<T>(path: string, name: string, query: Query = {}, limit = Infinity): Promise<T[]> {
    const rows: T[] = []
    let search = searchOf({ ...query, limit: Number.isFinite(limit) ? limit : undefined })
    for (;;) {
      const page = await this.#send<Json>('GET', `${path}${search}`)
      rows.push(...((page[name] ?? []) as T[]))
      const next = page['next'] ?? nextIn(page[`${name}_links`])
      if (typeof next !== 'string' || rows.length >= limit) return rows.slice(0, limit)
      // Only the question: behind a proxy, the server may know itself by another name.
      search = new URL(next).search
    }
  }

  async #send<T>(method: Method, path: string, body?: unknown): Promise<T> {
    const { answer } = await exchange(method, `${this.#base}${path}`, this.#headers, body)
    return answer as T
  }
}

/** Where compute says it. */
const nextIn = (links: unknown) =>
  (links as { rel: string; href: string }[] | undefined)?.find(({ rel }) => rel === 'next')?.href

/** One request; a refusal is thrown as an ApiError, silence as Unreachable. */
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
  // Behind a semicolon Node says how to start itself, which is no help to our users.
  return deeper?.split('; if the root CA', 1)[0] || code || message
}

/** undefined for what is no JSON. */
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

/** A name as a part of a path. */
export const segment = (name: string) => encodeURIComponent(name)
