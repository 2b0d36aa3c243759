// Parses JSON bodies for every dialect. Refuses bodies that are not UTF-8, not JSON, too complex, or can't be stored.
import { isUtf8 } from 'node:buffer'
import { limits } from '../shared/limits.ts'
import { problem } from '../problems/problem.ts'

/** The text of a body; it was read as bytes. */
export function textOfBody(raw: unknown): string {
  if (!(raw instanceof Buffer)) return ''
  if (!isUtf8(raw)) throw problem('malformed_json', { reason: 'the body is not UTF-8' })
  requireModest(raw)
  return raw.toString()
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Refuses bodies that are nested too deep or hold too many values, in one pass over the bytes: parsing 4 MB of brackets
 * would block all requests for most of a second. Whether it is JSON at all is left to the parser.
 */
export function requireModest(bytes: Buffer): void {
  let depth = 0
  let elements = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      while (++at < bytes.length && bytes[at] !== QUOTE) if (bytes[at] === BACKSLASH) at++
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      elements++
      if (++depth > limits.jsonDepthMax) throw problem('invalid_body', { reason: 'the body is nested too deep' })
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth--
    } else if (byte === COMMA) {
      elements++
    }
    if (elements > limits.jsonElementsMax) {
      throw problem('invalid_body', { reason: `the body holds more than ${limits.jsonElementsMax} values` })
    }
  }
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw problem('malformed_json', { reason: (error as Error).message })
  }
}

/**
 * Refuses strings that a database can't return unchanged, and bodies nested deeper than allowed. Goes level by level,
 * without recursion: values that no schema limits may be nested deeper than the stack.
 */
export function requireStorable(body: unknown, depthMax = Infinity): void {
  let level = [body]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > depthMax) throw problem('invalid_body', { reason: 'the body is nested too deep' })
    const next: unknown[] = []
    for (const value of level) {
      if (typeof value === 'string' && (!value.isWellFormed() || value.includes('\0'))) {
        throw problem('invalid_body', { reason: 'a string holds NUL or half of a surrogate pair' })
      }
      if (typeof value !== 'object' || value === null) continue
      for (const [key, inner] of Object.entries(value)) next.push(key, inner)
    }
    level = next
  }
}
