// /v1/shards, and the lists that are always empty here.
import { Type } from 'typebox'
import { findNode } from '../../metal/nodes/rows.ts'
import { countShards } from '../../metal/nodes/shards.ts'
import type { Operation } from '../operation.ts'
import { Count, named, Text } from '../shapes.ts'
import { nodeIdent } from './nodes.ts'
import type { Answer, MetalRequest } from './request.ts'

listShards.operation = {
  summary: 'List the shards, with the number of nodes in each',
  answers: { 200: Type.Object({ shards: Type.Array(named('Shard', { name: Text, count: Count })) }) },
} satisfies Operation

export async function listShards({ context }: MetalRequest): Promise<Answer> {
  const found = await context.store.read(() => countShards())
  return { status: 200, body: { shards: found.map(({ name, count }) => ({ name: name ?? 'None', count })) } }
}

/** The id is required here, because these handlers have no function name. */
type Named = Required<Pick<Operation, 'id' | 'summary'>>
const Nothing = Type.Array(Type.Unknown(), { maxItems: 0 })

/** A handler of a list that is always empty. */
const emptyList = (name: string, operation: Named) =>
  Object.assign((_: MetalRequest): Answer => ({ status: 200, body: { [name]: [] } }), {
    operation: { ...operation, answers: { 200: Type.Object({ [name]: Nothing }) } } satisfies Operation,
  })

/** The same below a node, which must exist. */
const emptyListOfNode = (name: string, operation: Named) => {
  const list = emptyList(name, operation)
  const handle = async (request: MetalRequest): Promise<Answer> => {
    await request.context.store.read(() => findNode(nodeIdent(request), request.access()))
    return list(request)
  }
  return Object.assign(handle, { operation: list.operation })
}

export const listHistory = emptyListOfNode('history', {
  id: 'listHistory',
  summary: 'List the history of a node: none is kept',
})
