// Errors of the client: the server refuses, doesn't answer, or its address is unclear. Each has a kind, which is the
// same for all APIs.
import { isObject } from '../shared/is-object.ts'
import type { Ending } from './allocations.ts'

export type ErrorKind =
  /** The request is wrong, or the settings are: it must be changed. */
  | 'invalid'
  /** Who asks isn't known: a wrong name or password, or a token that has ended. */
  | 'unauthorized'
  /** A rule or a quota forbids it. */
  | 'forbidden'
  | 'not_found'
  /** Someone else has it, or its state doesn't allow that now. */
  | 'conflict'
  /** Nothing fits. The error is a NoFit, and says why. */
  | 'no_fit'
  /** The server isn't there or is busy: it may work in a moment. */
  | 'unavailable'
  /** What was waited for didn't come in time. */
  | 'timeout'
  /** A node was taken back, or couldn't be kept. The error is a NodeLost. */
  | 'lost'
  /** The server failed; its log says more. */
  | 'failed'

export abstract class HoldfastError extends Error {
  abstract readonly kind: ErrorKind
}

interface ByKind {
  no_fit: NoFit
  lost: NodeLost
}

/** Whether it is one of our errors, of one of these kinds; of any kind if none is given. */
export function isHoldfastError<Kind extends ErrorKind>(
  error: unknown,
  ...kinds: readonly Kind[]
): error is Kind extends keyof ByKind ? ByKind[Kind] : HoldfastError & { readonly kind: Kind } {
  if (!(error instanceof HoldfastError)) return false
  return kinds.length === 0 || kinds.some(kind => kind === error.kind)
}

/** The server refused; the message is the server's. */
export class ApiError extends HoldfastError {
  readonly kind: ErrorKind
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
    this.kind = kindOf(status, message)
    this.status = status
    this.body = body
    this.requestId = requestId
    this.retryAfterMs = retryAfterMs
  }
}

/** The login itself was refused: the name, the password or the project. */
export class LoginRefused extends ApiError {
  constructor(message: string, { body, requestId }: ApiError) {
    super(401, message, { body, requestId })
  }
}

const KINDS: Record<number, ErrorKind> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  410: 'not_found',
  429: 'unavailable',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
}

function kindOf(status: number, message: string): ErrorKind {
  if (isStateRefused(status, message)) return 'conflict'
  return KINDS[status] ?? (status < 500 || status === 501 ? 'invalid' : 'failed')
}

/** The bare metal API answers 400 to a verb that the node's state forbids. That is a conflict, not a wrong request. */
const isStateRefused = (status: number, message: string) => status === 400 && message.includes('while it is in state')

/** One reason why nothing fits, and how many machines it applies to. */
export interface NoFitReason {
  reason: string
  count: number
}

/** Nothing fits now. A change of the request may help, or waiting. */
export class NoFit extends ApiError {
  override readonly kind = 'no_fit'
  /** Empty where the API gives none. */
  readonly reasons: readonly NoFitReason[]

  constructor(message: string, reasons: readonly NoFitReason[], more: ConstructorParameters<typeof ApiError>[2] = {}) {
    super(409, message, more)
    this.reasons = reasons
  }
}

/** Sentences of Placement and Nova for what doesn't fit. */
const FULL = /would exceed the capacity|^No valid host was found/

/** The error for a refusal. */
export function refusalOf(status: number, message: string, more: ConstructorParameters<typeof ApiError>[2]): ApiError {
  // The reservation API says in `details` what doesn't fit, and when it would.
  const { details } = (more?.body ?? {}) as { details?: { reasons?: unknown } }
  if (status === 409 && Array.isArray(details?.reasons)) {
    return new NoFit(message, details.reasons as NoFitReason[], more)
  }
  if (status === 409 && FULL.test(message)) return new NoFit(message, [], more)
  return new ApiError(status, message, more)
}

/** A node that we had is ours no longer, or not for long. */
export class NodeLost extends HoldfastError {
  readonly kind = 'lost'
  /** Who takes it back, why and when; null if it couldn't be kept. */
  readonly ending: Ending | null

  constructor(message: string, ending: Ending | null = null) {
    super(message)
    this.ending = ending
  }
}

/** What was waited for didn't come in time. */
export class WaitedTooLong extends HoldfastError {
  readonly kind = 'timeout'
  /** The server didn't answer any more. */
  readonly isAway: boolean
  /** What is left of what was asked for. */
  readonly hint: string | null

  constructor(message: string, { isAway = false, hint = null }: Partial<Pick<WaitedTooLong, 'isAway' | 'hint'>> = {}) {
    super(message)
    this.isAway = isAway
    this.hint = hint
  }
}

/** No answer came. The request may have arrived all the same, unless there was no connection. */
export class Unreachable extends HoldfastError {
  readonly kind = 'unavailable'
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
    this.isPassing = PASSING.test(code) || (cause instanceof TypeError && IN_BROWSERS.test(cause.message))
  }
}

const UNSENT = /^(ECONNREFUSED|ENOTFOUND|EAI_)/
const PASSING = /^(ECONN|ENOTFOUND|EAI_|ENET|EHOST|ETIMEDOUT|EPIPE|UND_ERR_|TimeoutError$|AbortError$)/

/** Browsers say no more than that no answer came. */
const IN_BROWSERS = /^(Failed to fetch|network ?error|Load failed)/i

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
export class ConnectionUnclear extends HoldfastError {
  readonly kind = 'invalid'
}

/** What the library was asked for makes no sense. */
export class WrongUse extends HoldfastError {
  readonly kind = 'invalid'
}

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
