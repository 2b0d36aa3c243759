// /v1/nodes/X/inventory
import { findInventory } from '../../metal/nodes/inventory.ts'
import type { Operation } from '../operation.ts'
import { Document } from '../shapes.ts'
import { nodeIdent } from './nodes.ts'
import type { Answer, MetalRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

showInventory.operation = {
  summary: 'Show what the last inspection of a node found',
  answers: { 200: Type.Object({ inventory: Document, plugin_data: Document }) },
} satisfies Operation

/** Upstream's plugins note there what they did with the inventory; here it is what the rules did. */
export async function showInventory(request: MetalRequest): Promise<Answer> {
  const found = await request.context.store.read(() => findInventory(nodeIdent(request), request.access()))
  const { report, traits, notes } = found
  return { status: 200, body: { inventory: report, plugin_data: { traits, notes } } }
}
