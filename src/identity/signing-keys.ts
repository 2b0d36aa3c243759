// The keys that sign tokens. They are in the database, so that all its processes accept each other's tokens.
import { command, query } from '../store/statement.ts'
import { all, mark, run, type Read, type Write } from '../store/transaction.ts'

export interface SigningKey {
  readonly id: number
  readonly secret: Buffer
  readonly createdAt: number
  /** Since then it signs no new tokens; null for the key in use. */
  readonly retiredAt: number | null
}

const present = query((db, _: object) => db.selectFrom('token_keys').selectAll().orderBy('id', 'desc'))
const add = command((db, a: { id: number; secret: string; now: number }) =>
  db.insertInto('token_keys').values({ id: a.id, secret: a.secret, created_at: a.now, retired_at: null }),
)
const retire = command((db, a: { now: number }) =>
  db.updateTable('token_keys').set({ retired_at: a.now }).where('retired_at', 'is', null),
)
const forgetRetired = command((db, a: { until: number }) =>
  db.deleteFrom('token_keys').where('retired_at', '<=', a.until),
)

/** All keys, newest first. */
export function* signingKeys(): Read<SigningKey[]> {
  return (yield* all(present({}))).map(row => ({
    id: row.id,
    secret: Buffer.from(row.secret, 'base64'),
    createdAt: row.created_at,
    retiredAt: row.retired_at,
  }))
}

/** All keys; if there is none, `fresh` becomes the first. */
export function* firstSigningKeys(fresh: Buffer, now: number): Write<SigningKey[]> {
  const there = yield* signingKeys()
  if (there.length > 0) return there
  yield* run(add({ id: 1, secret: fresh.toString('base64'), now }))
  return yield* signingKeys()
}

/**
 * Starts to use a fresh key. Tokens of older keys stay valid until they expire; `forgetAll` ends them now. A retired
 * key is removed once its last token has expired.
 */
export function* rotateSigningKeys(a: {
  fresh: Buffer
  now: number
  lifeMs: number
  forgetAll: boolean
}): Write<SigningKey> {
  const [newest] = yield* signingKeys()
  const id = (newest?.id ?? 0) + 1
  yield* run(retire({ now: a.now }))
  yield* run(forgetRetired({ until: a.forgetAll ? a.now : a.now - a.lifeMs }))
  yield* run(add({ id, secret: a.fresh.toString('base64'), now: a.now }))
  yield* mark({ kind: 'signing key', id: String(id) })
  return { id, secret: a.fresh, createdAt: a.now, retiredAt: null }
}

/** Whether a token that this key signed can still be valid. */
export const isAccepted = ({ retiredAt }: SigningKey, now: number, lifeMs: number): boolean =>
  retiredAt === null || now < retiredAt + lifeMs
