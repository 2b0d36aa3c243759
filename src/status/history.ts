// What happened to one machine, and who had it, from the log as far as it is kept.
import { type Selectable, sql } from 'kysely'
import { eventsOf, type HoldfastEvent } from '../events/event.ts'
import { limits } from '../shared/limits.ts'
import type { NodeId } from '../store/schema/ids.ts'
import type { Schema } from '../store/schema.ts'
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
const linesOf = query((db, a: { id: NodeId; limit: number }) =>
  db
    .selectFrom('node_history')
    .select(['at', 'type', 'event', 'output'])
    .where('node_id', '=', a.id)
    .where('type', 'in', ['hook', 'take-over'])
    .orderBy('id', 'desc')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)
const properties = query((db, a: { id: NodeId }) => db.selectFrom('nodes').select('properties').where('id', '=', a.id))

interface Machine {
  id: NodeId
  uuid: string
  owner: string | null
  lessee: string | null
}

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
  /** Why it failed, or why it is in maintenance. */
  reason: string | null
  /** What a hook of the operator's printed. */
  output: string | null
}

/** The properties of the node; null if it is gone. */
export function* propertiesOf(id: NodeId) {
  return (yield* one(properties({ id })))?.properties ?? null
}

/** Newest first: what the log tells of the machine, and what only its own history has. */
export function* historyOf({ id, uuid, owner, lessee }: Machine): Read<Past[]> {
  const [looked, limit] = [limits.statusHistoryLookedAt, limits.statusHistoryMax]
  const entries = yield* all(entriesAbout({ quoted: JSON.stringify(uuid), looked, limit }))
  const told = entries.flatMap(row =>
    eventsOf(row.id, row)
      .filter(event => isAbout(event, uuid))
      .toReversed()
      .map(pastOf),
  )
  const lines = yield* all(linesOf({ id, limit }))
  const noted = lines.map(line => noteOf(line, { owner, lessee }))
  // The log is in its own order, which times alone don't give.
  return noted.length === 0 ? told : [...told, ...noted].toSorted((one, other) => other.at - one.at)
}

type Line = Pick<Selectable<Schema['node_history']>, 'at' | 'type' | 'event' | 'output'>

/** What is no event: what hooks said, and that a conductor died. */
const noteOf = ({ at, type, event, output }: Line, whose: Past['whose']): Past => ({
  kind: 'node',
  whose,
  at,
  what: `node ${type}`,
  to: null,
  name: null,
  user: null,
  project: null,
  request: null,
  reason: event,
  output,
})

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
    reason: !isTheirs && typeof data['reason'] === 'string' ? data['reason'] : null,
    output: null,
  }
}
