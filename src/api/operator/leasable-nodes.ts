// Bare metal nodes that leases may book: enrolled and withdrawn here.
import type { Context } from '../../context.ts'
import { enrolNode, findLeasableNode, type LeasableNode, listLeasableNodes, withdrawNode } from '../../leases/nodes.ts'

const shownDate = (time: number) => new Date(time).toISOString()

const shown = ({ node, resource_class, bookings }: LeasableNode) => ({
  node,
  resource_class,
  bookings: bookings.map(({ lease_id, reservation_id, start_at, end_at }) => ({
    lease_id,
    reservation_id,
    start_date: shownDate(start_at),
    end_date: shownDate(end_at),
  })),
})

export async function getLeasableNodes({ store }: Context): Promise<object> {
  return { leasable_nodes: (await store.read(listLeasableNodes)).map(shown) }
}

export async function getLeasableNode({ store }: Context, ident: string): Promise<object> {
  return shown(await store.read(() => findLeasableNode(ident)))
}

export async function putLeasableNode({ store, clock }: Context, ident: string): Promise<object> {
  return shown(await store.write(() => enrolNode(ident, clock.now())))
}

export async function deleteLeasableNode({ store }: Context, ident: string): Promise<void> {
  await store.write(() => withdrawNode(ident))
}
