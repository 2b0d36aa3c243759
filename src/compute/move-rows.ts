// The rows of moves and their lookups.
import { type Kysely, type Selectable, sql } from 'kysely'
import { limits } from '../shared/limits.ts'
import type { MoveId, ServerId } from '../store/schema/ids.ts'
import type { Schema } from '../store/schema.ts'
import { command, query } from '../store/statement.ts'
import { all, type Read } from '../store/transaction.ts'

export type MoveRow = Selectable<Schema['moves']>
export type MoveKind = MoveRow['kind']

export interface Move extends MoveRow {
  server: string
  flavor_after: string
  project_id: string
  user_id: string
  source: string | null
  target: string | null
}

const selectMoves = (db: Kysely<Schema>) =>
  db
    .selectFrom('moves as m')
    .innerJoin('servers as s', 's.id', 'm.server_id')
    .leftJoin('providers as a', 'a.id', 'm.source_id')
    .leftJoin('providers as b', 'b.id', 'm.target_id')
    .selectAll('m')
    .select(['s.uuid as server', 's.flavor_id as flavor_after', 's.project_id', 's.user_id'])
    .select(['a.name as source', 'b.name as target'])

const latestMoves = query((db, a: { limit: number }) =>
  selectMoves(db)
    .orderBy('m.id', 'desc')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)
const movesOfServer = query((db, a: { server: string }) =>
  selectMoves(db).where('s.uuid', '=', a.server).orderBy('m.id', 'desc'),
)
export const finishedMove = query((db, a: { server: ServerId }) =>
  selectMoves(db).where('m.server_id', '=', a.server).where('m.status', '=', 'finished'),
)
// A live migration can end at once. An evacuation ends when the old host is back.
const movesDue = query((db, _: object) =>
  selectMoves(db)
    .leftJoin('hypervisors as h', 'h.provider_id', 'm.source_id')
    .where(sql<boolean>`m.status in ('running', 'finished', 'done')`)
    .where(e =>
      e.or([
        e('m.status', '=', 'running'),
        e.and([e('m.status', '=', 'done'), e.or([e('h.state', 'is', null), e('h.state', '=', 'up')])]),
      ]),
    )
    .orderBy('m.id')
    .limit(limits.serversPerLook),
)
const movesFinished = query((db, a: { before: number }) =>
  selectMoves(db)
    .where(sql<boolean>`m.status in ('running', 'finished', 'done')`)
    .where('m.status', '=', 'finished')
    .where('m.updated_at', '<=', a.before)
    .orderBy('m.id')
    .limit(limits.serversPerLook),
)
const movesById = query((db, a: { ids: readonly MoveId[] }, on) =>
  selectMoves(db)
    .where(on.isIn('m.id', a.ids, 'bigint'))
    .orderBy('m.id'),
)
export const moveStatus = query((db, a: { id: MoveId }) =>
  db.selectFrom('moves').select('status').where('id', '=', a.id),
)
export const addMove = command((db, a: Omit<MoveRow, 'id'>) =>
  db.insertInto('moves').values({
    uuid: a.uuid,
    server_id: a.server_id,
    kind: a.kind,
    status: a.status,
    source_id: a.source_id,
    target_id: a.target_id,
    flavor_before: a.flavor_before,
    wish_before: a.wish_before,
    status_before: a.status_before,
    created_at: a.created_at,
    updated_at: a.updated_at,
  }),
)
export const changeMove = command((db, a: { id: MoveId; status: MoveRow['status']; now: number }) =>
  db.updateTable('moves').set({ status: a.status, updated_at: a.now }).where('id', '=', a.id),
)

/** All moves of a server, or the latest of any; the newest first. */
export function* listMoves(server: string | null): Read<Move[]> {
  return yield* all(server === null ? latestMoves({ limit: limits.serverPageMax }) : movesOfServer({ server }))
}

/** Moves that can end without a confirmation. */
export function* dueMoves(): Read<Move[]> {
  return yield* all(movesDue({}))
}

/** Moves that have waited for a confirmation since before that time. */
export function* lateMoves(before: number): Read<Move[]> {
  return yield* all(movesFinished({ before }))
}

export function* movesByIds(ids: readonly MoveId[]): Read<Move[]> {
  return ids.length === 0 ? [] : yield* all(movesById({ ids }))
}
