// /v1/shards, and the lists that are always empty here.
import { countShards } from '../../metal/nodes/shards.ts'
import type { Operation } from '../operation.ts'
import { Count, named, Text } from '../shapes.ts'
import type { Answer, MetalRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

listShards.operation = {
  summary: 'List the shards, with the number of nodes in each',
  answers: { 200: Type.Object({ shards: Type.Array(named('Shard', { name: Text, count: Count })) }) },
} satisfies Operation

export async function listShards({ context }: MetalRequest): Promise<Answer> {
  const found = await context.store.read(() => countShards())
  return { status: 200, body: { shards: found.map(({ name, count }) => ({ name: name ?? 'None', count })) } }
}
