// The inventory of a node: what the last inspection found, kept whole beside the node's row.
import { DOCUMENT, jsonIn, type JsonText, jsonText } from '../../shared/json.ts'
import { problem } from '../../problems/problem.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import { command, query } from '../../store/statement.ts'
import { one, type Read, run, type Write } from '../../store/transaction.ts'
import type { Access } from '../access.ts'
import type { Json } from '../drivers/port.ts'
import { findNode } from './rows.ts'

interface Inventory {
  /** The driver's report. */
  report: Json
  /** The traits that the rules have given the node. The next inspection takes away what no longer holds. */
  traits: readonly string[]
  /** What could not be read or set, for the operator. */
  notes: readonly string[]
}

const inventoryOf = query((db, a: { node: NodeId }) =>
  db.selectFrom('node_documents').select('document').where('node_id', '=', a.node).where('kind', '=', 'inventory'),
)
const putInventory = command((db, a: { node: NodeId; document: JsonText<object>; now: number }) =>
  db
    .insertInto('node_documents')
    .values({ node_id: a.node, kind: 'inventory', document: a.document, updated_at: a.now })
    .onConflict(c => c.columns(['node_id', 'kind']).doUpdateSet({ document: a.document, updated_at: a.now })),
)

/** Null if the node was never inspected. */
export function* inventoryOn(node: NodeId): Read<Inventory | null> {
  const found = yield* one(inventoryOf({ node }))
  return found ? (jsonIn(found.document, DOCUMENT) as Inventory) : null
}

export function* saveInventory(node: NodeId, inventory: Inventory, now: number): Write<void> {
  yield* run(putInventory({ node, document: jsonText<object>(inventory), now }))
}

export function* findInventory(ident: string, access: Access): Read<Inventory> {
  const node = yield* findNode(ident, access)
  const found = yield* inventoryOn(node.id)
  if (!found) throw problem('metal_not_found', { what: 'Inventory record for node', name: node.uuid })
  return found
}
