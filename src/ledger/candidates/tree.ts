// The shape of one provider tree that has more than its root.
import type { ProviderId } from '../../store/schema/ids.ts'
import type { Row } from './bitset.ts'

export class Tree {
  readonly rootId: ProviderId
  /** Every member the table knows, in no order; also those whose parent hasn't arrived yet. */
  readonly members = new Set<Row>()
  /** The root first, then depth first; empty while the root is missing. */
  rows: readonly Row[] = []

  constructor(rootId: ProviderId) {
    this.rootId = rootId
  }

  /** Parents are rows, -1 for none. Members that don't lead to the root (half a move, a broken feed) are left out. */
  shape(rootRow: Row, parentOf: (row: Row) => Row): void {
    if (rootRow < 0 || !this.members.has(rootRow)) {
      this.rows = []
      return
    }
    const children = new Map<Row, Row[]>()
    for (const row of [...this.members].sort((a, b) => a - b)) {
      if (row === rootRow) continue
      const siblings = children.get(parentOf(row))
      if (siblings === undefined) children.set(parentOf(row), [row])
      else siblings.push(row)
    }
    const rows: Row[] = []
    const stack = [rootRow]
    while (stack.length > 0) {
      const row = stack.pop()!
      rows.push(row)
      const below = children.get(row)
      if (below !== undefined) for (let i = below.length - 1; i >= 0; i--) stack.push(below[i]!)
    }
    this.rows = rows
  }
}
