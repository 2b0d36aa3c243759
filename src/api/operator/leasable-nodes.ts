// /leasable-nodes: the bare metal nodes that leases may book.
import {
  enrolNode,
  findLeasableNode,
  type LeasableNode,
  listLeasableNodes,
  withdrawNode,
} from '../../leases/pool/nodes.ts'
import type { Operation } from '../operation.ts'
import { named, Text, TextOrNull } from '../shapes.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

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

const Shown = named('LeasableNode', {
  node: Text,
  resource_class: TextOrNull,
  bookings: Type.Array(Type.Object({ lease_id: Text, reservation_id: Text, start_date: Text, end_date: Text })),
})

getLeasableNodes.operation = {
  summary: 'List the nodes that leases may book',
  answers: { 200: Type.Object({ leasable_nodes: Type.Array(Shown) }) },
} satisfies Operation

export async function getLeasableNodes({ context }: OperatorRequest): Promise<Answer> {
  return { status: 200, body: { leasable_nodes: (await context.store.read(listLeasableNodes)).map(shown) } }
}

getLeasableNode.operation = { summary: 'Show a node that leases may book', answers: { 200: Shown } } satisfies Operation

export async function getLeasableNode(request: OperatorRequest): Promise<Answer> {
  const node = await request.context.store.read(() => findLeasableNode(request.param('ident')))
  return { status: 200, body: shown(node) }
}

putLeasableNode.operation = { summary: 'Let leases book a node', answers: { 200: Shown } } satisfies Operation

export async function putLeasableNode(request: OperatorRequest): Promise<Answer> {
  const node = await request.context.store.write(() => enrolNode(request.param('ident'), request.now))
  return { status: 200, body: shown(node) }
}

deleteLeasableNode.operation = {
  summary: 'Let leases book a node no longer',
  answers: { 204: null },
} satisfies Operation

export async function deleteLeasableNode(request: OperatorRequest): Promise<Answer> {
  await request.context.store.write(() => withdrawNode(request.param('ident')))
  return { status: 204 }
}
