// Lists of servers, newest first. The most selective filter chooses the statement.
import { type Kysely, sql } from 'kysely'
import { problem } from '../problems/problem.ts'
import type { Schema } from '../store/schema.ts'
import { query } from '../store/statement.ts'
import { all, one, type Read } from '../store/transaction.ts'
import { selectServers, type Server } from './servers.ts'

/** Null means no filter. */
export interface ServerFilter {
  project: string | null
  user: string | null
  /** A pattern for `like`, in lower case. */
  name: string | null
  status: string | null
  flavor: string | null
  image: string | null
  host: string | null
  uuid: string | null
  reservation: string | null
}

interface Args extends ServerFilter {
  /** Only servers made before the one with this id. */
  before: number
  limit: number
}

const given = (value: string | null) => sql`cast(${value} as text)`

const filtered = (db: Kysely<Schema>, a: Args) =>
  selectServers(db)
    .where(sql.ref<number>('s.id'), '<', a.before)
    .where(sql<boolean>`(${given(a.project)} is null or s.project_id = ${given(a.project)})`)
    .where(sql<boolean>`(${given(a.user)} is null or s.user_id = ${given(a.user)})`)
    .where(sql<boolean>`(${given(a.name)} is null or lower(s.name) like ${given(a.name)} escape '\\')`)
    .where(sql<boolean>`(${given(a.status)} is null or s.status = ${given(a.status)})`)
    .where(sql<boolean>`(${given(a.flavor)} is null or s.flavor_id = ${given(a.flavor)})`)
    .where(sql<boolean>`(${given(a.image)} is null or s.image_id = ${given(a.image)})`)
    .where(sql<boolean>`(${given(a.host)} is null or p.name = ${given(a.host)})`)
    .where(sql<boolean>`(${given(a.reservation)} is null or s.reservation_id = ${given(a.reservation)})`)
    .orderBy('s.id', 'desc')
    .limit(sql<number>`cast(${a.limit} as bigint)`)

const everyServer = query((db, a: Args) => filtered(db, a))
const byUuid = query((db, a: Args) => filtered(db, a).where('s.uuid', '=', a.uuid))
const byFlavor = query((db, a: Args) => filtered(db, a).where('s.flavor_id', '=', a.flavor!))
const byHost = query((db, a: Args) => filtered(db, a).where('p.name', '=', a.host).where('s.host_id', 'is not', null))
const byProject = query((db, a: Args) => filtered(db, a).where('s.project_id', '=', a.project!))
const idOf = query((db, a: { uuid: string }) =>
  db.selectFrom('servers').select(['id', 'project_id']).where('uuid', '=', a.uuid),
)

/** One more than `limit` when there are more. */
export function* listServers(filter: ServerFilter, marker: string | null, limit: number): Read<Server[]> {
  const args = { ...filter, before: yield* markedBy(marker, filter), limit: limit + 1 }
  if (filter.uuid !== null) return yield* all(byUuid(args))
  if (filter.flavor !== null) return yield* all(byFlavor(args))
  if (filter.host !== null) return yield* all(byHost(args))
  if (filter.project !== null) return yield* all(byProject(args))
  return yield* all(everyServer(args))
}

function* markedBy(marker: string | null, { project }: ServerFilter): Read<number> {
  if (marker === null) return Number.MAX_SAFE_INTEGER
  const found = yield* one(idOf({ uuid: marker }))
  if (!found || (project !== null && found.project_id !== project)) {
    throw problem('compute_invalid', { reason: `marker [${marker}] not found` })
  }
  return found.id
}
