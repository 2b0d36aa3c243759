// Lists of servers, newest first. The most selective filter chooses the statement.
import { type Kysely, sql } from 'kysely'
import { problem } from '../problems/problem.ts'
import type { Schema } from '../store/schema.ts'
import type { ServerId } from '../store/schema/ids.ts'
import { onePage, partsOf, readIfShort, type RowsToRead, type Sized } from '../store/sized.ts'
import { type Dialect, query, type Tools } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
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
  tags: TagFilter | null
}

/** Which tags a server must have, and must not; null asks for nothing. */
export interface TagFilter {
  every: readonly string[] | null
  any: readonly string[] | null
  notEvery: readonly string[] | null
  notAny: readonly string[] | null
}

interface Args extends Omit<ServerFilter, 'tags'> {
  /** Only servers made before the one with this id. */
  before: number
  limit: number
}

const given = (value: string | null) => sql`cast(${value} as text)`

/** What is listed of a server before its row is read. */
type ListedServer = Sized<ServerId> & Pick<Server, 'uuid' | 'name'>

const filtered = (db: Kysely<Schema>, a: Args, on: Tools) =>
  selectServers(db)
    .clearSelect()
    .select(['s.id', 's.uuid', 's.name', on.bytes('s.metadata', 's.wish', 's.tags', 's.fault').as('bytes')])
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

const everyServer = query((db, a: Args, on) => filtered(db, a, on))
const byUuid = query((db, a: Args, on) => filtered(db, a, on).where('s.uuid', '=', a.uuid))
const byFlavor = query((db, a: Args, on) => filtered(db, a, on).where('s.flavor_id', '=', a.flavor!))
const byHost = query((db, a: Args, on) =>
  filtered(db, a, on).where('p.name', '=', a.host).where('s.host_id', 'is not', null),
)
const byProject = query((db, a: Args, on) => filtered(db, a, on).where('s.project_id', '=', a.project!))
/** Null, or the tags as they stand in the column: see `needles`. */
interface TagArgs extends Args {
  every: string | null
  any: string | null
  notEvery: string | null
  notAny: string | null
}

/**
 * The tags as a JSON array of what to look for in the column. A tag holds no comma, and a quote in it is escaped, so
 * `,"tag"` is found where that tag is and nowhere else.
 */
const needles = (tags: readonly string[] | null): string | null =>
  tags && JSON.stringify([...new Set(tags)].map(tag => `,${JSON.stringify(tag)}`))

/** How many of the wanted tags the server has, and how many are wanted. */
const counted = (on: { dialect: Dialect }, wanted: string | null) =>
  on.dialect === 'postgres'
    ? {
        has: sql<number>`(select count(*) from json_array_elements_text(cast(${given(wanted)} as json)) as n (tag)
          where position(n.tag in ',' || substr(s.tags, 2)) > 0)`,
        of: sql<number>`json_array_length(cast(${given(wanted)} as json))`,
      }
    : {
        has: sql<number>`(select count(*) from json_each(${given(wanted)}) as n
          where instr(',' || substr(s.tags, 2), n.value) > 0)`,
        of: sql<number>`json_array_length(${given(wanted)})`,
      }

const byTags = query((db, a: TagArgs, on) => {
  const [every, any, notEvery, notAny] = [a.every, a.any, a.notEvery, a.notAny].map(wanted => counted(on, wanted))
  return filtered(db, a, on)
    .where(sql<boolean>`(${given(a.uuid)} is null or s.uuid = ${given(a.uuid)})`)
    .where(sql<boolean>`(${given(a.every)} is null or ${every!.has} = ${every!.of})`)
    .where(sql<boolean>`(${given(a.any)} is null or ${any!.has} > 0)`)
    .where(sql<boolean>`(${given(a.notEvery)} is null or ${notEvery!.has} < ${notEvery!.of})`)
    .where(sql<boolean>`(${given(a.notAny)} is null or ${notAny!.has} = 0)`)
})
const serversById = query((db, a: { ids: readonly ServerId[] }, on) =>
  selectServers(db).where(on.isIn('s.id', a.ids, 'bigint')),
)
const idOf = query((db, a: { uuid: string }) =>
  db.selectFrom('servers').select(['id', 'project_id']).where('uuid', '=', a.uuid),
)

/** One more than `limit` when there are more. */
export function* listServers(filter: ServerFilter, marker: string | null, limit: number): Read<ListedServer[]> {
  const { tags, ...rest } = filter
  const args = { ...rest, before: yield* markedBy(marker, filter), limit: limit + 1 }
  if (tags !== null) {
    const { every, any, notEvery, notAny } = tags
    const wanted = { every: needles(every), any: needles(any), notEvery: needles(notEvery), notAny: needles(notAny) }
    return yield* all(byTags({ ...args, ...wanted }))
  }
  if (filter.uuid !== null) return yield* all(byUuid(args))
  if (filter.flavor !== null) return yield* all(byFlavor(args))
  if (filter.host !== null) return yield* all(byHost(args))
  if (filter.project !== null) return yield* all(byProject(args))
  return yield* all(everyServer(args))
}

interface ServerPage {
  rows: RowsToRead<ServerId, Server>
  /** The uuid of the last one, if there are more. */
  marker: string | null
}

/** A page of servers. It ends early when they are large. */
export function* pageOfServers(filter: ServerFilter, marker: string | null, limit: number): Read<ServerPage> {
  const cut = onePage(yield* listServers(filter, marker, limit), limit)
  return { rows: yield* readIfShort(cut, serversById), marker: cut.hasMore ? cut.page.at(-1)!.uuid : null }
}

export const serverParts = (store: Store, rows: ServerPage['rows']) => partsOf(store, rows, serversById)

function* markedBy(marker: string | null, { project }: ServerFilter): Read<number> {
  if (marker === null) return Number.MAX_SAFE_INTEGER
  const found = yield* one(idOf({ uuid: marker }))
  if (!found || (project !== null && found.project_id !== project)) {
    throw problem('compute_invalid', { reason: `marker [${marker}] not found` })
  }
  return found.id
}
