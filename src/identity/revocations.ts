// Revoked tokens, in the database, where all processes see them.
import { command, query } from '../store/statement.ts'
import { mark, run, runAll, type Write } from '../store/transaction.ts'

export const revocationOf = query((db, a: { token: string }) =>
  db.selectFrom('revoked_tokens').select('token_id').where('token_id', '=', a.token),
)
const add = command((db, a: { token: string; expiresAt: number }) =>
  db
    .insertInto('revoked_tokens')
    .values({ token_id: a.token, expires_at: a.expiresAt })
    .onConflict(c => c.doNothing()),
)
const forgetEnded = command((db, a: { now: number }) => db.deleteFrom('revoked_tokens').where('expires_at', '<', a.now))

export function* revokeToken(token: { id: string; expiresAt: number }, now: number): Write<void> {
  yield* runAll([forgetEnded({ now }), add({ token: token.id, expiresAt: token.expiresAt })])
  yield* mark({ kind: 'token', id: token.id })
}

/** Whether nobody has used it before: then it is used now. */
export function* useOnce(ticket: { id: string; expiresAt: number }, now: number): Write<boolean> {
  yield* run(forgetEnded({ now }))
  return (yield* run(add({ token: ticket.id, expiresAt: ticket.expiresAt }))) === 1
}
