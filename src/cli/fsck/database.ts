// Checks the invariants directly in the database, with or without a running server.
import type { Fsck } from '../../client/index.ts'
import type { Config } from '../../config/config.ts'
import { checkEverything, unreadable } from '../../measure/fsck.ts'
import { withLedger } from '../ledger-database.ts'

export async function fsckOfDatabase({ database }: Config): Promise<Fsck> {
  const look = withLedger(database, checkEverything)
  const invariants = await look.catch(error => [unreadable('the database can be opened', error)])
  return { violations: invariants.reduce((sum, { violations }) => sum + violations, 0), invariants }
}
