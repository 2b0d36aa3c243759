// Nodes that were read already, with their traits, kept as long as they are current: a list then only asks which nodes
// it has and how new they are. The revision comes from the database each time, so nothing old is ever shown.
import { limits } from '../limits.ts'
import type { Read } from '../store/transaction.ts'
import { type Node, type NodeKey, nodesOf } from './nodes.ts'
import { traitsOfProviders } from './traits.ts'

export interface ShelvedNode extends Node {
  traits: readonly string[]
  /** How it was written for clients, by whatever way of writing. */
  texts: Map<object, string>
}

export class NodeShelf {
  readonly #nodes = new Map<number, ShelvedNode>()

  #put(id: number, node: ShelvedNode): void {
    this.#nodes.delete(id)
    this.#nodes.set(id, node)
    if (this.#nodes.size > limits.shelvedNodesMax) this.#nodes.delete(this.#nodes.keys().next().value!)
  }

  /** These nodes, in this order, in their present state. */
  *fetch(keys: readonly NodeKey[]): Read<ShelvedNode[]> {
    const missing = keys.filter(({ id, revision }) => this.#nodes.get(id)?.revision !== revision)
    const fresh = new Map<number, ShelvedNode>()
    if (missing.length > 0) {
      const nodes = yield* nodesOf(missing.map(({ id }) => id))
      const traits = yield* traitsOfProviders(nodes.map(node => node.provider_id))
      for (const node of nodes) {
        fresh.set(node.id, { ...node, traits: traits.get(node.provider_id) ?? [], texts: new Map() })
      }
    }
    const found = keys.flatMap(({ id }) => fresh.get(id) ?? this.#nodes.get(id) ?? [])
    for (const [id, node] of fresh) this.#put(id, node)
    return found
  }
}

/** The text that a writer makes of a node, made once for each of its states. */
export function textOf(node: ShelvedNode, writer: (node: ShelvedNode) => string): string {
  const known = node.texts.get(writer)
  if (known !== undefined) return known
  if (node.texts.size >= limits.textsPerNodeMax) node.texts.clear()
  const text = writer(node)
  node.texts.set(writer, text)
  return text
}
