// What a Nova says, in words that can be kept and shown.
import { isObject } from '../shared/is-object.ts'
import { limits } from '../shared/limits.ts'
import { plainText } from '../shared/plain-text.ts'

/** The message of an error: `{"itemNotFound": {"message"}}`, or `{"message"}` of who answers before Nova does; null for none. */
export function messageIn(body: unknown): string | null {
  if (!isObject(body)) return null
  const inner = Object.values(body).find(isObject)
  const text = [body['message'], inner?.['message'], inner?.['title']].find(one => typeof one === 'string')
  return text === undefined ? null : clipped(text)
}

/** One line, without the full stop that ours has. */
function clipped(text: string): string {
  const line = plainText(text).replaceAll(/\s+/g, ' ').trim()
  return (line.length > limits.novaMessageMax ? `${line.slice(0, limits.novaMessageMax - 1)}…` : line).replace(
    /\.$/,
    '',
  )
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name could not be looked up',
  UND_ERR_SOCKET: 'the connection was closed without an answer',
  ECONNRESET: 'the connection was closed without an answer',
  UND_ERR_CONNECT_TIMEOUT: 'nobody answers there',
  ETIMEDOUT: 'nobody answers there',
  EHOSTUNREACH: 'no way leads there',
  ENETUNREACH: 'no way leads there',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the answer is too large',
}

/** Never the message of the error, which may name addresses, files and users. */
export function whyBroken(error: unknown): string {
  const { code, cause } = error as NodeJS.ErrnoException
  const inner = (cause as NodeJS.ErrnoException | undefined)?.code
  const [known] = [code, inner].flatMap(one => WORDS[one ?? ''] ?? [])
  return known ?? `the log says why${typeof (code ?? inner) === 'string' ? ` (${code ?? inner})` : ''}`
}

/** For operators: with what the error itself says. */
export function inFull(error: Error): string {
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  const inner = cause.cause instanceof Error ? cause.cause.message : ''
  return clipped([error.message, cause.message, inner].filter(one => one !== '').join(' '))
}
