// Nodes in the order of their ids, to be cut into pages. New nodes have the highest ids, so most of them come last.
import type { NodeId } from '../../store/schema/ids.ts'

export class NodesInOrder<Node extends { readonly id: NodeId }> {
  readonly list: Node[] = []

  put(node: Node): void {
    const at = this.after(node.id)
    if (this.list[at - 1]?.id === node.id) this.list[at - 1] = node
    else if (at === this.list.length) this.list.push(node)
    else this.list.splice(at, 0, node)
  }

  delete(id: NodeId): void {
    const at = this.after(id) - 1
    if (this.list[at]?.id === id) this.list.splice(at, 1)
  }

  /** The place of the first node with a higher id. */
  after(id: NodeId): number {
    let [low, high] = [0, this.list.length]
    if (high === 0 || this.list[high - 1]!.id <= id) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.list[middle]!.id <= id) low = middle + 1
      else high = middle
    }
    return low
  }
}
