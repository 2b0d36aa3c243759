// The names of users and projects that tokens told us, in the database: for users who aren't ours, as those of Keystone.
import { limits } from '../shared/limits.ts'
import { bulk, command, query } from '../store/statement.ts'
import { all, mark, one, type Read, run, type Subject, together, type Write } from '../store/transaction.ts'

export type NameKind = 'user' | 'project'

export interface SeenName {
  kind: NameKind
  id: string
  name: string
  seen_at: number
}

export interface SeenMember {
  project_id: string
  user_id: string
  seen_at: number
}

interface Seen {
  names: readonly SeenName[]
  members: readonly SeenMember[]
}

const namesSince = query((db, a: { at: number }) =>
  db
    .selectFrom('seen_names')
    .select(['kind', 'id', 'name', 'seen_at'])
    .where('seen_at', '>=', a.at)
    .orderBy('seen_at')
    .orderBy('kind')
    .orderBy('id'),
)
const namesById = query((db, a: { user: string; project: string }) =>
  db
    .selectFrom('seen_names')
    .select(['kind', 'name'])
    .where(e =>
      e.or([
        e.and([e('kind', '=', 'user'), e('id', '=', a.user)]),
        e.and([e('kind', '=', 'project'), e('id', '=', a.project)]),
      ]),
    ),
)
const membersSince = query((db, a: { at: number }) =>
  db
    .selectFrom('seen_members')
    .select(['project_id', 'user_id', 'seen_at'])
    .where('seen_at', '>=', a.at)
    .orderBy('seen_at')
    .orderBy('project_id')
    .orderBy('user_id'),
)
const putNames = bulk<SeenName>({ kind: 'text', id: 'text', name: 'text', seen_at: 'bigint' }, (db, r, on) =>
  on.insert(db.insertInto('seen_names'), { ...r }).onConflict(c =>
    c.columns(['kind', 'id']).doUpdateSet(old => ({
      name: old.ref('excluded.name'),
      seen_at: old.ref('excluded.seen_at'),
    })),
  ),
)
const putMembers = bulk<SeenMember>({ project_id: 'text', user_id: 'text', seen_at: 'bigint' }, (db, r, on) =>
  on
    .insert(db.insertInto('seen_members'), { ...r })
    .onConflict(c =>
      c.columns(['project_id', 'user_id']).doUpdateSet(old => ({ seen_at: old.ref('excluded.seen_at') })),
    ),
)
const firstName = query((db, _: object) =>
  db.selectFrom('seen_names').select('seen_at').orderBy('seen_at', 'desc').limit(1).offset(limits.seenNamesMax),
)
const firstMember = query((db, _: object) =>
  db.selectFrom('seen_members').select('seen_at').orderBy('seen_at', 'desc').limit(1).offset(limits.seenNamesMax),
)
const forgetNames = command((db, a: { at: number }) => db.deleteFrom('seen_names').where('seen_at', '<=', a.at))
const forgetMembers = command((db, a: { at: number }) => db.deleteFrom('seen_members').where('seen_at', '<=', a.at))

/** What was written since then, the oldest first. */
export function* seenSince(at: number): Read<Seen> {
  const [names, members] = yield* together(namesSince({ at }), membersSince({ at }))
  return { names, members }
}

/** What they are called; null where nobody said so. */
export function* namesOf(ids: Record<NameKind, string>): Read<Record<NameKind, string | null>> {
  const found = yield* all(namesById(ids))
  const named = (kind: NameKind) => found.find(row => row.kind === kind)?.name ?? null
  return { user: named('user'), project: named('project') }
}

/** Writes them down. Beyond the limit those are forgotten who were not seen for longest. */
export function* rememberSeen({ names, members }: Seen): Write<void> {
  if (names.length > 0) yield* run(putNames({ rows: names }))
  if (members.length > 0) yield* run(putMembers({ rows: members }))
  const tooOld = { name: yield* one(firstName({})), member: yield* one(firstMember({})) }
  if (tooOld.name) yield* run(forgetNames({ at: tooOld.name.seen_at }))
  if (tooOld.member) yield* run(forgetMembers({ at: tooOld.member.seen_at }))
}

/** Writes into the log what happens to users and projects in the users file, and keeps their names for its readers. */
export function* recordChange(names: readonly SeenName[], subjects: readonly Subject[]): Write<void> {
  yield* run(putNames({ rows: names }))
  yield* mark(...subjects)
}
