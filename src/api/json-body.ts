// A body as JSON, the same way for every dialect: what is no UTF-8 or no JSON, or couldn't be kept, is refused.
import { isUtf8 } from 'node:buffer'
import { problem } from '../problem.ts'

/** The text of a body that was read as bytes. */
export function textOfBody(raw: unknown): string {
  if (!(raw instanceof Buffer)) return ''
  if (!isUtf8(raw)) throw problem('malformed_json', { reason: 'the body is not UTF-8' })
  return raw.toString()
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw problem('malformed_json', { reason: (error as Error).message })
  }
}

/**
 * Refuses strings that no database gives back as they were, and what is nested deeper than allowed. Level by level,
 * without recursion: where a schema leaves values open, they may be nested deeper than the stack.
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
