// Who has a node, for drivers that hand machines over.
import { consumerClaims } from '../../ledger/claims/find.ts'
import { jsonIn, MEMBERS } from '../../shared/json.ts'
import { one, type Read } from '../../store/transaction.ts'
import { EVERYTHING } from '../access.ts'
import { allocationByNode } from '../allocations/rows.ts'
import type { Holder } from '../drivers/port.ts'
import type { NodeRow } from './rows.ts'

/** Null where nobody has it. */
export function* holderIn({ id, uuid, instance_uuid }: NodeRow): Read<Holder | null> {
  if (instance_uuid === null) return null
  const claim = (yield* consumerClaims(instance_uuid)).find(({ provider }) => provider === uuid)
  if (!claim) return null
  const found = yield* one(allocationByNode({ node: id, ...EVERYTHING.view }))
  const allocation = found ? { uuid: found.uuid, name: found.name, extra: jsonIn(found.extra, MEMBERS) } : null
  return { project: claim.project_id, user: claim.user_id, allocation }
}
