// How long an allocation may last: until its node is booked for a lease.
import { problem } from '../../problems/problem.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import { query } from '../../store/statement.ts'
import { one, type Read } from '../../store/transaction.ts'
import type { Access } from '../access.ts'
import { mayHaveUntil } from '../nodes/lease-promise.ts'
import { promised } from '../nodes/provider.ts'
import type { NodeRow } from '../nodes/rows.ts'

const nextLease = query((db, a: { provider: ProviderId; start: number }) =>
  db
    .selectFrom('bookings as b')
    .innerJoin('leases as l', 'l.id', 'b.lease_id')
    .select(['l.name', 'l.project_id'])
    .where('b.provider_id', '=', a.provider)
    .where('b.start_at', '=', a.start)
    .where('l.is_deleted', '=', 0),
)

/** Refuses an end after the next booking of the node. Only those who may see the lease are told its name. */
export function* requireUntil(node: NodeRow, until: number | null, { view }: Access): Read<void> {
  if (mayHaveUntil(node, until)) return
  const { pledged_at, provider_id, name, uuid } = node
  if (pledged_at === null) throw promised(node)
  const lease = yield* one(nextLease({ provider: provider_id, start: pledged_at }))
  const by = lease && (view.all === 1 || lease.project_id === view.project) ? ` by lease ${lease.name}` : ''
  const from = new Date(pledged_at).toISOString()
  throw problem('node_refuses', {
    reason: `Node ${name ?? uuid} is enrolled for leasing and booked from ${from}${by}; it can be had until then.`,
  })
}
