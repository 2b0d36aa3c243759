// A cache of nodes with their traits. Who asks for nodes says at which revision they are, from memory that has all that
// is committed or from the database, so nothing old is ever shown. Nodes that are missing or outdated here are read.
import { limits } from '../../shared/limits.ts'
import { DOCUMENTS } from '../../shared/node-fields.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import { query } from '../../store/statement.ts'
import { all, type Read, together } from '../../store/transaction.ts'
import { type Node, type NodeKey, nodesById } from './rows.ts'
import { byProvider, traitsByNode } from './traits.ts'

export interface ShelvedNode extends Node {
  traits: readonly string[]
  /** About how many bytes its documents have. */
  bytes: number
  /** The node's JSON for clients, by writer function. As bytes, which are fastest to concatenate. */
  texts: Map<object, Buffer>
}

const sizesOf = query((db, a: { ids: readonly NodeId[] }, on) =>
  db
    .selectFrom('nodes')
    .select(['id', on.bytes(...DOCUMENTS).as('bytes')])
    .where(on.isIn('id', a.ids, 'bigint')),
)

type Key = Pick<NodeKey, 'id' | 'revision'>

/** A hold that expires doesn't change the revision. */
const hasLapsed = ({ reserved_until: until }: Node, now: number) => until !== null && until <= now

export class NodeShelf {
  readonly #nodes = new Map<NodeId, ShelvedNode>()
  /** Of all of them. */
  #bytes = 0

  #put(id: NodeId, node: ShelvedNode): void {
    this.forget(id)
    this.#nodes.set(id, node)
    this.#bytes += node.bytes
    for (const [first] of this.#nodes) {
      if (this.#nodes.size <= limits.shelvedNodesMax && this.#bytes <= limits.shelvedBytesMax) return
      this.forget(first)
    }
  }

  forget(id: NodeId): void {
    this.#bytes -= this.#nodes.get(id)?.bytes ?? 0
    this.#nodes.delete(id)
  }

  /** These keys in parts, so that no part reads more than so much at a time. */
  *parts<K extends Key>(keys: readonly K[], now: number): Read<K[][]> {
    const missing = keys.filter(key => this.known([key], now) === null)
    const sizes = new Map((yield* all(sizesOf({ ids: missing.map(({ id }) => id) }))).map(row => [row.id, row.bytes]))
    const parts: K[][] = []
    let bytes = Infinity
    for (const key of keys) {
      const size = sizes.get(key.id) ?? 0
      if (bytes + size > limits.answerPartBytes) {
        parts.push([])
        bytes = 0
      }
      parts.at(-1)!.push(key)
      bytes += size
    }
    return parts
  }

  clear(): void {
    this.#nodes.clear()
  }

  /** These nodes, in this order, if all are here and none is older. */
  known(keys: readonly Key[], now: number): ShelvedNode[] | null {
    const found: ShelvedNode[] = []
    for (const { id, revision } of keys) {
      const node = this.#nodes.get(id)
      if (node === undefined || node.revision < revision || hasLapsed(node, now)) return null
      found.push(node)
    }
    return found
  }

  /** These nodes, in this order, in their present state. */
  *fetch(keys: readonly Key[], now: number): Read<ShelvedNode[]> {
    const found: (ShelvedNode | undefined)[] = []
    const missing: NodeId[] = []
    for (const { id, revision } of keys) {
      const node = this.#nodes.get(id)
      const isCurrent = node !== undefined && node.revision >= revision && !hasLapsed(node, now)
      found.push(isCurrent ? node : undefined)
      if (!isCurrent) missing.push(id)
    }
    if (missing.length === 0) return found as ShelvedNode[]
    const fresh = yield* read(missing, now)
    for (const [i, { id }] of keys.entries()) found[i] ??= fresh.get(id)
    for (const [id, node] of fresh) this.#put(id, node)
    return found.filter(node => node !== undefined)
  }
}

function* read(ids: readonly NodeId[], now: number): Read<Map<NodeId, ShelvedNode>> {
  const [nodes, rows] = yield* together(nodesById({ ids }), traitsByNode({ ids }))
  const traits = byProvider(rows)
  return new Map(
    nodes.map(node => [
      node.id,
      {
        ...withoutLapsed(node, now),
        traits: traits.get(node.provider_id) ?? [],
        bytes: DOCUMENTS.reduce((sum, name) => sum + (node[name]?.length ?? 0), 0),
        texts: new Map(),
      },
    ]),
  )
}

const withoutLapsed = (node: Node, now: number): Node =>
  !hasLapsed(node, now) ? node : { ...node, reservation_uuid: null, reserved_until: null, reserved_for: null }

/** The writer's text for a node, cached until the node changes. */
export function textOf(node: ShelvedNode, writer: (node: ShelvedNode) => string): Buffer {
  const known = node.texts.get(writer)
  if (known !== undefined) return known
  if (node.texts.size >= limits.textsPerNodeMax) node.texts.clear()
  const written = writer(node)
  // Memory of its own: a short text from the shared pool would keep the 8 kB around it as long as it is kept.
  const text = Buffer.allocUnsafeSlow(Buffer.byteLength(written))
  text.write(written)
  node.texts.set(writer, text)
  return text
}
