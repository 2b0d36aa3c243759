// Whose nodes a request sees, and what it may do with one that it sees. Everything that finds a node for a client takes
// this as an argument, so that what isn't the client's can't be told from what isn't there.
import { type RawBuilder, sql } from 'kysely'

/** In the arguments of a statement: all nodes, or those that a project owns or leases; of no project, none. */
export interface View {
  readonly all: 0 | 1
  readonly project: string | null
}

/** The projects of a node. */
export interface Tenancy {
  readonly owner: string | null
  readonly lessee: string | null
}

export interface Access {
  readonly view: View
  /** Throws unless the client may do with such a node what it is about to do. */
  readonly permit: (node: Tenancy) => void
}

/** For those who act for nobody. */
export const EVERYTHING: Access = { view: { all: 1, project: null }, permit: () => {} }

/** The condition on nodes as `n` that they are in view. */
export const inView = (a: View): RawBuilder<boolean> =>
  sql<boolean>`(cast(${a.all} as bigint) = 1 or n.owner = ${a.project} or n.lessee = ${a.project})`
