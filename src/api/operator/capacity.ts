// GET /holdfast/v1/capacity: what the providers have and how much of it is used, from the ledger in memory.
import { providersIn } from '../../ledger/candidates/listed.ts'
import { leasesOfHosts } from '../../status/hosts.ts'
import { bookingOf } from '../../status/shown.ts'
import type { Operation } from '../operation.ts'
import { byName, named, orNull, Text, Uuid } from '../shapes.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { StatusRights } from './status-rights.ts'
import { Booking } from './status-shapes.ts'
import { Type } from '../../shared/type.ts'

getCapacity.operation = {
  summary: 'Say what each provider has, and how much of it is used',
  description:
    'Trees are together, each parent before its children; the trees are sorted by name. Of each inventory it says how ' +
    'much is used, and how much can be.',
  answers: {
    200: Type.Object({
      providers: Type.Array(
        named('CapacityProvider', {
          uuid: Uuid,
          name: Text,
          parent: orNull(Uuid),
          traits: Type.Array(Text),
          inventories: byName(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 })),
          lease: orNull(Booking),
        }),
      ),
    }),
  },
} satisfies Operation

export async function getCapacity(request: OperatorRequest): Promise<Answer> {
  const { mirror, fleet, calendar, store, catchUp, board } = request.context
  await catchUp()
  const { sight } = new StatusRights(request)
  const leases = await store.read(() => leasesOfHosts(calendar.leasables, request.now))
  // The provider of a node has the node's uuid for a name.
  const providers = providersIn(mirror.table, (id, name) => fleet.ofProvider(id)?.name ?? name)
  const body = {
    providers: providers.map(({ id, ...provider }) => {
      const lease = leases.get(id)
      return { ...provider, lease: lease ? bookingOf(lease, sight, board.names) : null }
    }),
  }
  return { status: 200, body, headers: { 'cache-control': 'no-store' } }
}
