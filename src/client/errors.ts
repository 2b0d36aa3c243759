// Errors of the client: the server refuses, doesn't answer, or its address is unclear.
import { isObject } from '../shared/is-object.ts'

/** The server refused; the message is the server's. */
export class ApiError extends Error {
  readonly status: number
  /** The whole body, for callers that know its form. */
  readonly body: unknown
  readonly requestId: string | null
  /** When the server asks us to try again; null if it doesn't say. */
  readonly retryAfterMs: number | null

  constructor(
    status: number,
    message: string,
    {
      body = null,
      requestId = null,
      retryAfterMs = null,
    }: Partial<Pick<ApiError, 'body' | 'requestId' | 'retryAfterMs'>> = {},
  ) {
    super(message)
    this.status = status
    this.body = body
    this.requestId = requestId
    this.retryAfterMs = retryAfterMs
  }
}

/** No answer came. The request may have arrived all the same, unless there was no connection. */
export class Unreachable extends Error {
  readonly url: string
  readonly reason: string
  /** Nothing listens there, or there is no such host: the request was never sent. */
  readonly isUnsent: boolean
  /** It may work in a moment; not so with a certificate that isn't trusted. */
  readonly isPassing: boolean

  constructor(url: string, reason: string, cause: unknown) {
    super(`no answer from ${url}: ${reason}`, { cause })
    this.url = url
    this.reason = reason
    const code = codeIn(cause)
    this.isUnsent = UNSENT.test(code)
    this.isPassing = PASSING.test(code)
  }
}

const UNSENT = /^(ECONNREFUSED|ENOTFOUND|EAI_)/
const PASSING = /^(ECONN|ENOTFOUND|EAI_|ENET|EHOST|ETIMEDOUT|EPIPE|UND_ERR_|TimeoutError$|AbortError$)/

/** The code that Node gives to what has failed below fetch; the name of the error if there is none. */
function codeIn(error: unknown): string {
  const { name = '', cause } = (error ?? {}) as { name?: string; cause?: { code?: unknown } }
  return typeof cause?.code === 'string' ? cause.code : name
}

/** What a proxy says for a server that is away, and a server that stops, is overrun or has lost its database. */
const AWAY = new Set([502, 503, 504])

/** Whether the server isn't there now but may be in a moment, as in a restart. Any other error is for good. */
export function isAway(error: unknown): error is ApiError | Unreachable {
  if (error instanceof Unreachable) return error.isPassing
  return error instanceof ApiError && (AWAY.has(error.status) || (error.status === 429 && error.retryAfterMs !== null))
}

/** The options don't say where the server is, or which user to log in as. */
export class ConnectionUnclear extends Error {}

type Json = Record<string, unknown>

/** The message in the body of an error, whichever API it comes from; null if there is none. */
export function sentenceIn(body: unknown): string | null {
  if (!isObject(body)) return null
  const { error_message: message, errors, error } = body
  if (typeof message === 'string') return sentenceInString(message)
  if (isObject(message)) return wordsOf(message)
  if (Array.isArray(errors) && isObject(errors[0])) return detailOf(errors[0])
  if (isObject(error)) return wordsOf(error)
  // Compute has one member, named after the status, such as `itemNotFound`.
  const [only] = Object.values(body)
  return isObject(only) ? wordsOf(only) : null
}

/** The bare metal API has JSON in this string, the reservation API plain text. */
function sentenceInString(text: string): string {
  if (!text.startsWith('{')) return text
  try {
    const inside: unknown = JSON.parse(text)
    return (isObject(inside) ? wordsOf(inside) : null) ?? text
  } catch {
    return text
  }
}

function wordsOf(inside: Json): string | null {
  const words = inside['faultstring'] ?? inside['description'] ?? inside['message']
  return typeof words === 'string' ? words : null
}

/** Placement puts a standard sentence before the actual message. */
function detailOf({ detail, title }: Json): string | null {
  if (typeof detail !== 'string') return typeof title === 'string' ? title : null
  const own = detail.split('\n\n').slice(1).join(' ').trim()
  return own || detail.trim()
}
