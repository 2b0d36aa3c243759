// Objects in bodies whose members are named by UUIDs. Whatever their spelling, we keep the canonical one.
import { canonicalUuid } from '../../ledger/uuid.ts'
import { problem } from '../../problems/problem.ts'

/** The members under their canonical names; two spellings of one UUID say two things about it, and are refused. */
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
