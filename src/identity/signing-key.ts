// The key that tokens are signed with: one for all processes on a database, made by the first.
import { command, query } from '../store/statement.ts'
import { one, run, type Write } from '../store/transaction.ts'

const presentKey = query((db, _: object) => db.selectFrom('signing_keys').select('secret').where('id', '=', 1))
const addKey = command((db, a: { secret: string; now: number }) =>
  db
    .insertInto('signing_keys')
    .values({ id: 1, secret: a.secret, created_at: a.now })
    .onConflict(c => c.doNothing()),
)

/** The key; the fresh one becomes it if there was none. */
export function* signingKey(fresh: Buffer, now: number): Write<Buffer> {
  yield* run(addKey({ secret: fresh.toString('base64'), now }))
  const { secret } = (yield* one(presentKey({})))!
  return Buffer.from(secret, 'base64')
}
