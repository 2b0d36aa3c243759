// What a request may see, and what it may do with it. Every lookup of a node, an allocation or a reservation for a
// client takes an Access. So a client can't tell another project's object from one that doesn't exist.
import { type RawBuilder, sql } from 'kysely'

/** Arguments of a statement: sees everything, or what a project owns or leases. Without a project it sees nothing. */
export interface View {
  readonly all: 0 | 1
  readonly project: string | null
}

/** Who an object belongs to: a node has an owner and a lessee, everything else has one project. */
interface Tenancy {
  readonly owner?: string | null
  readonly lessee?: string | null
  readonly project?: string | null
}

export interface Access {
  readonly view: View
  /** Throws unless the client may do this request's action on an object with this tenancy. */
  readonly permit: (whose: Tenancy) => void
}

/** No restriction: for our own work, and for objects that were checked before. */
export const EVERYTHING: Access = { view: { all: 1, project: null }, permit: () => {} }

/** For objects that a request only mentions, such as the marker of a page: it is enough that the client sees them. */
export const seeing = ({ view }: Access): Access => ({ view, permit: () => {} })

/** Whether the view includes what this project owns. */
export const isSeen = (owner: string | null, { all, project }: View): boolean =>
  all === 1 || (owner !== null && owner === project)

/** SQL: the project in this column is in view. */
export const ownInView = (column: string, a: View): RawBuilder<boolean> =>
  sql<boolean>`(cast(${a.all} as bigint) = 1 or ${sql.ref(column)} = ${a.project})`

/** SQL: the node `n` is in view. */
export const inView = (a: View): RawBuilder<boolean> =>
  sql<boolean>`(cast(${a.all} as bigint) = 1 or n.owner = ${a.project} or n.lessee = ${a.project})`
