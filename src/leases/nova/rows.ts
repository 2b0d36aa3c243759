// The rows of nova_work: who takes one has it for a term, and says at its end what came of it.
import { type Selectable, sql } from 'kysely'
import { limits } from '../../shared/limits.ts'
import type { Schema } from '../../store/schema.ts'
import { bulk, type Command, command, query } from '../../store/statement.ts'
import { all, one, type Read, run, together, type Write } from '../../store/transaction.ts'
import type { Told } from '../compute/port.ts'

type Row = Selectable<Schema['nova_work']>

/** A row that this process works on, until the end of the term. */
export type Work = Omit<Row, 'taken_until'> & {
  taken_until: number
  /** Something in Nova was to be changed in this round, and may be changed. */
  isBegun: boolean
}

/** What came of a round of work. */
export type Outcome =
  | { kind: 'done'; isOver: boolean }
  | { kind: 'waiting'; at: number; error: string | null; isClear: boolean }
  | { kind: 'failed'; at: number; error: string }
  /** The wish changed during the work, or another process has it by now. */
  | { kind: 'overtaken' }

const put = bulk<{ reservation_id: string; lease_id: string; now: number }>(
  { reservation_id: 'text', lease_id: 'text', now: 'bigint' },
  (db, r, on) =>
    on
      .insert(db.insertInto('nova_work'), {
        reservation_id: r.reservation_id,
        lease_id: r.lease_id,
        due_at: r.now,
        created_at: r.now,
        updated_at: r.now,
      })
      .onConflict(c =>
        c.column('reservation_id').doUpdateSet(e => ({
          lease_id: e.ref('excluded.lease_id'),
          version: e('nova_work.version', '+', 1),
          due_at: e.ref('excluded.due_at'),
          attempts: 0,
          updated_at: e.ref('excluded.updated_at'),
        })),
      ),
)

const rowsOf = (told: readonly Told[], now: number) =>
  told.map(({ reservation, lease }) => ({ reservation_id: reservation, lease_id: lease, now }))

export const beginWork = (told: readonly Told[], now: number): Command[] =>
  told.length === 0 ? [] : [put({ rows: rowsOf(told, now) })]

/** Makes the rows due with a new version. Whoever works on an older one finishes first. */
export function* renewWork(told: readonly Told[], now: number): Write<void> {
  yield* run(put({ rows: rowsOf(told, now) }))
}

const free = command((db, a: { now: number }, on) =>
  on.lockFree(
    db
      .selectFrom('nova_work')
      .selectAll()
      .where('due_at', '<=', a.now)
      .where(e => e.or([e('taken_until', 'is', null), e('taken_until', '<=', a.now)]))
      .orderBy('due_at')
      .orderBy('reservation_id')
      .limit(1),
  ),
)
const setTerm = command((db, a: { id: string; until: number }) =>
  db.updateTable('nova_work').set({ taken_until: a.until }).where('reservation_id', '=', a.id),
)
const renewTerm = command((db, a: { id: string; version: number; was: number; until: number }) =>
  db
    .updateTable('nova_work')
    .set({ taken_until: a.until })
    .where('reservation_id', '=', a.id)
    .where('version', '=', a.version)
    .where('taken_until', '=', a.was),
)
const next = query((db, _: object, on) =>
  db
    .selectFrom('nova_work')
    .select(e => e.fn.min<number | null>(on.greatest(sql`due_at`, sql`coalesce(taken_until, 0)`)).as('at'))
    .where('due_at', 'is not', null),
)
const freeAll = command((db, _: object) =>
  db.updateTable('nova_work').set({ taken_until: null }).where('taken_until', 'is not', null),
)

/** Takes the row that has been due for longest; undefined when there is none. */
export function* takeWork(now: number): Write<Work | undefined> {
  const row = yield* one(free({ now }))
  if (!row) return undefined
  const taken_until = now + limits.novaTermMs
  yield* run(setTerm({ id: row.reservation_id, until: taken_until }))
  return { ...row, taken_until, isBegun: false }
}

/** Begins the term anew; false when the row has changed, or is another's by now. */
export function* holdWork(work: Work, now: number): Write<number | null> {
  const until = now + limits.novaTermMs
  const { reservation_id: id, version, taken_until: was } = work
  return (yield* run(renewTerm({ id, version, was, until }))) > 0 ? until : null
}

/** For a process that is the only one: whoever had taken them is dead. */
export function* freeWork(): Write<void> {
  yield* run(freeAll({}))
}

const adopt = command((db, a: { now: number }) =>
  db
    .insertInto('nova_work')
    .columns(['reservation_id', 'lease_id', 'due_at', 'created_at', 'updated_at'])
    .expression(
      db
        .selectFrom('flavors as f')
        .innerJoin('lease_reservations as r', 'r.id', 'f.id')
        .select(['r.id', 'r.lease_id'])
        .select(sql<number>`cast(${a.now} as bigint)`.as('due_at'))
        .select(sql<number>`cast(${a.now} as bigint)`.as('created_at'))
        .select(sql<number>`cast(${a.now} as bigint)`.as('updated_at'))
        .where('f.managed_by', '=', 'leases'),
    )
    .onConflict(c => c.column('reservation_id').doNothing()),
)
const renewAll = command((db, a: { now: number }) =>
  db
    .updateTable('nova_work')
    .set(e => ({ version: e('version', '+', 1), due_at: a.now, updated_at: a.now }))
    .where('due_at', 'is', null),
)

/** Leases that were made before there was a Nova are brought there, too. */
export function* adoptLeases(now: number): Write<void> {
  yield* run(adopt({ now }))
}

/** Without a Nova nobody is told what changes: if it is there again some day, all is compared. */
export function* leaveWork(now: number): Write<void> {
  yield* run(renewAll({ now }))
}

/** When the next row can be taken; null when none is due. */
export function* nextWork(): Read<number | null> {
  return (yield* one(next({})))?.at ?? null
}

interface Settled {
  id: string
  version: number
  taken: number
}

const remove = command((db, a: Settled) =>
  db
    .deleteFrom('nova_work')
    .where('reservation_id', '=', a.id)
    .where('version', '=', a.version)
    .where('taken_until', '=', a.taken),
)
const settle = command(
  (db, a: Settled & { due: number | null; attempts: number; failures: number; error: string | null }) =>
    db
      .updateTable('nova_work')
      .set({
        due_at: a.due,
        attempts: a.attempts,
        failures: a.failures,
        error: a.error,
        taken_until: null,
      })
      .where('reservation_id', '=', a.id)
      .where('version', '=', a.version)
      .where('taken_until', '=', a.taken),
)
const giveBack = command((db, a: { id: string; taken: number; error: string | null }) =>
  db
    .updateTable('nova_work')
    .set({ taken_until: null, error: a.error })
    .where('reservation_id', '=', a.id)
    .where('taken_until', '=', a.taken),
)

// The lease of a row that is there may be another by now, and whoever works on it has counted its attempts.
const compareAgain = command((db, a: { id: string; lease: string; now: number }) =>
  db
    .insertInto('nova_work')
    .values({ reservation_id: a.id, lease_id: a.lease, due_at: a.now, created_at: a.now, updated_at: a.now })
    .onConflict(c =>
      c.column('reservation_id').doUpdateSet(e => ({ version: e('nova_work.version', '+', 1), due_at: a.now })),
    ),
)

/** What is wrong after the work. */
export function errorOf(outcome: Outcome, work: Work): string | null {
  if (outcome.kind === 'overtaken') return work.error
  return outcome.kind === 'done' ? null : outcome.error
}

function changeBy(work: Work, outcome: Outcome, at: Settled): Command | null {
  const { attempts, failures } = work
  switch (outcome.kind) {
    case 'overtaken':
      return null
    case 'done':
      return outcome.isOver ? remove(at) : settle({ ...at, due: null, attempts: 0, failures: 0, error: null })
    case 'waiting':
      return settle({ ...at, due: outcome.at, attempts: attempts + 1, failures: 0, error: outcome.error })
    default:
      return settle({ ...at, due: outcome.at, attempts, failures: failures + 1, error: outcome.error })
  }
}

/**
 * Writes down what came of the work. If the wish has changed meanwhile, the row stays due: that is `again`. If another
 * had the row meanwhile, what we changed last may have come after all that it did: someone has to compare once more.
 */
export function* settleWork(work: Work, outcome: Outcome, now: number): Write<'settled' | 'again' | 'lost'> {
  const { reservation_id: id, lease_id, version, taken_until: taken, isBegun } = work
  const change = changeBy(work, outcome, { id, version, taken })
  if (change && (yield* run(change)) > 0) return 'settled'
  if ((yield* run(giveBack({ id, taken, error: errorOf(outcome, work) }))) > 0) return 'again'
  if (isBegun) yield* run(compareAgain({ id, lease: lease_id, now }))
  return 'lost'
}

const troubles = query((db, a: { leases: readonly string[] }, on) =>
  db
    .selectFrom('nova_work')
    .select(['reservation_id as reservation', 'lease_id as lease', 'error'])
    .where(on.isIn('lease_id', a.leases))
    .where('error', 'is not', null)
    .orderBy('reservation_id'),
)

const counts = query((db, _: object) =>
  db
    .selectFrom('nova_work')
    .select(e => e.fn.countAll<number>().as('due'))
    .select(sql<number>`count(error)`.as('failing'))
    .where('due_at', 'is not', null),
)
const failing = query((db, a: { limit: number }) =>
  db
    .selectFrom('nova_work')
    .select(['lease_id as lease', 'reservation_id as reservation', 'error', 'failures'])
    .where('due_at', 'is not', null)
    .where('error', 'is not', null)
    .orderBy('updated_at')
    .limit(sql<number>`cast(${a.limit} as bigint)`),
)

/** How much Nova still has to be told, and some of what fails. */
export function* workNow(limit: number) {
  const [[count], rows] = yield* together(counts({}), failing({ limit }))
  return { ...count!, troubles: rows.map(({ error, ...row }) => ({ ...row, reason: error! })) }
}

interface Trouble {
  reservation: string
  lease: string
  error: string
}

/** What is wrong in Nova with the reservations of these leases. */
export function* troublesOf(leases: readonly string[]): Read<Trouble[]> {
  if (leases.length === 0) return []
  return (yield* all(troubles({ leases }))).map(row => ({ ...row, error: row.error! }))
}
