// Reads objects whose member names are UUIDs, and makes the names canonical.
import { canonicalUuid } from '../../ledger/uuid.ts'
import { problem } from '../../problems/problem.ts'

/** The members by canonical UUID. Two spellings of one UUID are refused, because they could contradict each other. */
export function byUuid<T>(members: readonly (readonly [string, T])[]): Map<string, T> {
  const found = new Map<string, T>()
  for (const [key, value] of members) {
    const uuid = canonicalUuid(key)
    if (uuid === null) throw problem('invalid_body', { reason: `'${key}' is not a UUID` })
    if (found.has(uuid)) throw problem('invalid_body', { reason: `${uuid} is named twice, in two spellings` })
    found.set(uuid, value)
  }
  return found
}
