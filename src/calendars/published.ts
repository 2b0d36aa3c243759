// The calendars that programs subscribe to: made, listed, found by the token in their URL, and deleted.
import { createHash } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { Maker } from '../identity/standing.ts'
import { problem } from '../problems/problem.ts'
import { jsonIn, TEXTS } from '../shared/json.ts'
import { limits } from '../shared/limits.ts'
import type { Schema } from '../store/schema.ts'
import { command, query } from '../store/statement.ts'
import { all, mark, one, type Read, run, type Write } from '../store/transaction.ts'

export type PublishedCalendar = Selectable<Schema['calendars']>

const add = command((db, a: PublishedCalendar) =>
  db.insertInto('calendars').values({
    id: a.id,
    token_hash: a.token_hash,
    kind: a.kind,
    whose: a.whose,
    auth: a.auth,
    user_id: a.user_id,
    project_id: a.project_id,
    roles: a.roles,
    created_at: a.created_at,
    last_read_at: a.last_read_at,
  }),
)
// One creation at a time: what others are creating isn't counted yet.
const lockCreation = command((db, _: object, on) =>
  db.selectNoFrom((on.dialect === 'postgres' ? sql`cast(pg_advisory_xact_lock(8786) as text)` : sql`1`).as('locked')),
)
const countOf = query((db, a: { user: string; project: string | null }) =>
  db
    .selectFrom('calendars')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('user_id', '=', a.user)
    .where('project_id', 'is not distinct from', a.project),
)
const ofProject = query((db, a: { project: string }) =>
  db.selectFrom('calendars').selectAll().where('project_id', '=', a.project).orderBy('created_at').orderBy('id'),
)
const every = query((db, _: object) => db.selectFrom('calendars').selectAll().orderBy('created_at').orderBy('id'))
const byHash = query((db, a: { hash: string }) =>
  db.selectFrom('calendars').selectAll().where('token_hash', '=', a.hash),
)
const byId = query((db, a: { id: string }) => db.selectFrom('calendars').selectAll().where('id', '=', a.id))
const remove = command((db, a: { id: string }) => db.deleteFrom('calendars').where('id', '=', a.id))
const setRead = command((db, a: { id: string; now: number }) =>
  db.updateTable('calendars').set({ last_read_at: a.now }).where('id', '=', a.id),
)

/** A token is as random as a key, so a plain hash can't be turned back. */
export const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url')

export function* publishCalendar(calendar: PublishedCalendar): Write<void> {
  yield* run(lockCreation({}))
  const found = yield* one(countOf({ user: calendar.user_id, project: calendar.project_id }))
  if (found!.count >= limits.calendarsPerUserMax) throw problem('calendar_limit', { max: limits.calendarsPerUserMax })
  yield* run(add(calendar))
  yield* markCalendar(calendar.id)
}

/** Those that were made in a project; with null, all. */
export function* listCalendars(project: string | null): Read<PublishedCalendar[]> {
  return yield* all(project === null ? every({}) : ofProject({ project }))
}

/** Its URL opens nothing from now on. */
export function* deleteCalendar(id: string, project: string | null): Write<void> {
  const found = yield* one(byId({ id }))
  const isVisible = found !== undefined && (project === null || found.project_id === project)
  if (!isVisible || (yield* run(remove({ id }))) === 0) throw problem('calendar_not_found', { id })
  yield* markCalendar(id)
}

export function* calendarWithHash(hash: string): Read<PublishedCalendar | undefined> {
  return yield* one(byHash({ hash }))
}

/** Whether the row still says that nobody has read the calendar for a while. */
export const isReadingNews = ({ last_read_at }: PublishedCalendar, now: number): boolean =>
  last_read_at === null || last_read_at < now - limits.calendarReadNoteMs

export function* noteReading(id: string, now: number): Write<void> {
  yield* run(setRead({ id, now }))
}

export const makerOf = ({ auth, user_id, project_id, roles }: PublishedCalendar): Maker => ({
  auth,
  user: user_id,
  project: project_id,
  roles: jsonIn(roles, TEXTS),
})

const markCalendar = (id: string) => mark({ kind: 'calendar', id })
