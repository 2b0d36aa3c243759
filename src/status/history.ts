// What happened to one machine, and who had it, from the log as far as it is kept.
import { sql } from 'kysely'
import { eventsOf, type HoldfastEvent } from '../events/event.ts'
import { limits } from '../shared/limits.ts'
import type { NodeId } from '../store/schema/ids.ts'
import { query } from '../store/statement.ts'
import { all, one, type Read } from '../store/transaction.ts'

const entriesAbout = query((db, a: { quoted: string; looked: number; limit: number }, on) =>
  db
    .selectFrom('log')
    .select(['id', 'at', 'user_id', 'project_id', 'request_id', 'objects'])
    .where(sql<boolean>`id > (select max(id) from log) - cast(${a.looked} as bigint)`)
    .where(sql<boolean>`${sql.raw(on.dialect === 'sqlite' ? 'instr' : 'strpos')}(objects, ${a.quoted}) > 0`)
    .orderBy('id', 'desc')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)
const properties = query((db, a: { id: NodeId }) => db.selectFrom('nodes').select('properties').where('id', '=', a.id))

interface Past extends Pick<HoldfastEvent, 'kind' | 'whose' | 'at'> {
  /** Such as `allocation active`. */
  what: string
  /** The state that it came to, where it came to one. */
  to: string | null
  /** What the object is called. */
  name: string | null
  /** Whose it is, or who did it. */
  user: string | null
  project: string | null
  request: string | null
}

/** The properties of the node; null if it is gone. */
export function* propertiesOf(id: NodeId) {
  return (yield* one(properties({ id })))?.properties ?? null
}

/** Newest first. */
export function* historyOf(uuid: string): Read<Past[]> {
  const [looked, limit] = [limits.statusHistoryLookedAt, limits.statusHistoryMax]
  const entries = yield* all(entriesAbout({ quoted: JSON.stringify(uuid), looked, limit }))
  return entries.flatMap(row =>
    eventsOf(row.id, row)
      .filter(event => isAbout(event, uuid))
      .toReversed()
      .map(pastOf),
  )
}

function isAbout({ kind, object, data }: HoldfastEvent, uuid: string): boolean {
  if (kind === 'node') return object === uuid
  const { node } = data as { node?: { uuid?: unknown } | null }
  return (kind === 'allocation' || kind === 'hold') && node?.uuid === uuid
}

function pastOf({ kind, became, whose, at, by, data }: HoldfastEvent): Past {
  const { name, to = data['maintenance'] === true ? 'maintenance' : null } = data as { name?: unknown; to?: unknown }
  const isTheirs = kind !== 'node'
  return {
    kind,
    whose,
    at,
    what: `${kind} ${became}`,
    to: typeof to === 'string' ? to : null,
    name: isTheirs && typeof name === 'string' ? name : null,
    user: (isTheirs ? whose.user : null) ?? (by.user || null),
    project: (isTheirs ? whose.project : null) ?? by.project,
    request: by.request,
  }
}
