// Whose things a request sees, and what it may do with one that it sees. Everything that finds a node, an allocation or a
// reservation for a client takes this as an argument, so that what isn't the client's can't be told from what isn't there.
import { type RawBuilder, sql } from 'kysely'

/** In the arguments of a statement: all, or what a project owns or leases; of no project, nothing. */
export interface View {
  readonly all: 0 | 1
  readonly project: string | null
}

/** Whose something is: a node has an owner and a lessee, everything else one project. */
interface Tenancy {
  readonly owner?: string | null
  readonly lessee?: string | null
  readonly project?: string | null
}

export interface Access {
  readonly view: View
  /** Throws unless the client may do with such a thing what it is about to do. */
  readonly permit: (whose: Tenancy) => void
}

/** For those who act for nobody. */
export const EVERYTHING: Access = { view: { all: 1, project: null }, permit: () => {} }

/** For what is only named along with the thing that the request is about: seeing it is enough. */
export const seeing = ({ view }: Access): Access => ({ view, permit: () => {} })

/** Whether what belongs to this project is in view. */
export const isSeen = (owner: string | null, { all, project }: View): boolean =>
  all === 1 || (owner !== null && owner === project)

/** The condition that what belongs to a project, as a column says, is in view. */
export const ownInView = (column: string, a: View): RawBuilder<boolean> =>
  sql<boolean>`(cast(${a.all} as bigint) = 1 or ${sql.ref(column)} = ${a.project})`

/** The condition on nodes as `n` that they are in view. */
export const inView = (a: View): RawBuilder<boolean> =>
  sql<boolean>`(cast(${a.all} as bigint) = 1 or n.owner = ${a.project} or n.lessee = ${a.project})`
