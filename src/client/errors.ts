// What can go wrong between a client and Holdfast: it refuses, it can't be reached, or nobody knows where it is.
import { isObject } from '../shared/is-object.ts'

/** The server refused; the message is its own sentence. */
export class ApiError extends Error {
  readonly status: number
  /** The whole body, for those who know its form. */
  readonly body: unknown
  readonly requestId: string | null

  constructor(
    status: number,
    message: string,
    { body = null, requestId = null }: { body?: unknown; requestId?: string | null } = {},
  ) {
    super(message)
    this.status = status
    this.body = body
    this.requestId = requestId
  }
}

/** No answer came. */
export class Unreachable extends Error {
  readonly url: string

  constructor(url: string, reason: string, options?: ErrorOptions) {
    super(`no answer from ${url}: ${reason}`, options)
    this.url = url
  }
}

/** What was given doesn't say where the server is, or as whom to speak to it. */
export class ConnectionUnclear extends Error {}

type Json = Record<string, unknown>

/** The sentence in an error's body, in the form of each API; null when there is none. */
export function sentenceIn(body: unknown): string | null {
  if (!isObject(body)) return null
  const { error_message: message, errors, error } = body
  if (typeof message === 'string') return sentenceInString(message)
  if (isObject(message)) return wordsOf(message)
  if (Array.isArray(errors) && isObject(errors[0])) return detailOf(errors[0])
  if (isObject(error)) return wordsOf(error)
  // Compute names the object after the status.
  const [only] = Object.values(body)
  return isObject(only) ? wordsOf(only) : null
}

/** Bare metal puts JSON into a string; the reservation API puts a sentence there. */
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

/** Placement puts a stock sentence before its own. */
function detailOf({ detail, title }: Json): string | null {
  if (typeof detail !== 'string') return typeof title === 'string' ? title : null
  const own = detail.split('\n\n').slice(1).join(' ').trim()
  return own || detail.trim()
}
