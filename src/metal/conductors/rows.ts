// The rows of conductors: which are alive, which are silent. All times are the database's, so all processes agree.
import { type Selectable, sql } from 'kysely'
import { databaseNow } from '../../clock/database-now.ts'
import { someOf, subject, type Word } from '../../events/subject.ts'
import { problem } from '../../problems/problem.ts'
import { jsonText, type JsonText, shownIn, TEXTS } from '../../shared/json.ts'
import type { Schema } from '../../store/schema.ts'
import { command, query } from '../../store/statement.ts'
import { all, mark, one, type Read, run, type Subject, type Write } from '../../store/transaction.ts'

export interface Conductor extends Selectable<Schema['conductors']> {
  /** Since its last heartbeat. */
  silent_ms: number
}

const everyConductor = query((db, _: object, on) =>
  db
    .selectFrom('conductors')
    .selectAll()
    .select(e => sql<number>`${databaseNow(on)} - ${e.ref('heartbeat_at')}`.as('silent_ms'))
    .orderBy('hostname'),
)
const conductorNamed = query((db, a: { hostname: string }, on) =>
  db
    .selectFrom('conductors')
    .selectAll()
    .select(e => sql<number>`${databaseNow(on)} - ${e.ref('heartbeat_at')}`.as('silent_ms'))
    .where('hostname', '=', a.hostname),
)
/** The conductors with a heartbeat within this time. */
export const liveConductors = query((db, a: { silentMs: number }, on) =>
  db
    .selectFrom('conductors')
    .select(['hostname', 'incarnation'])
    .where('online', '=', 1)
    .where(e => sql<boolean>`${e.ref('heartbeat_at')} >= ${databaseNow(on)} - cast(${a.silentMs} as bigint)`)
    .orderBy('id'),
)
const onlineGroups = query((db, _: object, on) =>
  db
    .selectFrom('conductors')
    .select(['conductor_group', 'drivers', 'hostname'])
    .select(e => sql<number>`${databaseNow(on)} - ${e.ref('heartbeat_at')}`.as('silent_ms'))
    .where('online', '=', 1),
)
interface Registration {
  hostname: string
  incarnation: string
  group: string
  drivers: JsonText<readonly string[]>
}
const register = command((db, a: Registration, on) =>
  db
    .insertInto('conductors')
    .values({
      hostname: a.hostname,
      incarnation: a.incarnation,
      conductor_group: a.group,
      drivers: a.drivers,
      online: 1,
      registered_at: databaseNow(on),
      heartbeat_at: databaseNow(on),
    })
    .onConflict(c =>
      c.column('hostname').doUpdateSet(e => ({
        incarnation: e.ref('excluded.incarnation'),
        conductor_group: e.ref('excluded.conductor_group'),
        drivers: e.ref('excluded.drivers'),
        online: 1 as const,
        registered_at: databaseNow(on),
        heartbeat_at: databaseNow(on),
      })),
    ),
)
const ownSilence = query((db, a: { incarnation: string }, on) =>
  db
    .selectFrom('conductors')
    .select(e => sql<number>`${databaseNow(on)} - ${e.ref('heartbeat_at')}`.as('silent_ms'))
    .where('incarnation', '=', a.incarnation),
)
const beat = command((db, a: { incarnation: string }, on) =>
  db
    .updateTable('conductors')
    .set({ heartbeat_at: databaseNow(on) })
    .where('incarnation', '=', a.incarnation)
    .where('online', '=', 1),
)
const signOff = command((db, a: { incarnation: string }) =>
  db.updateTable('conductors').set({ online: 0 }).where('incarnation', '=', a.incarnation).where('online', '=', 1),
)
/** The database's clock was set back: whoever died before that would seem alive until the clock is where it was. */
const takeBack = command((db, a: { silentMs: number }, on) =>
  db
    .updateTable('conductors')
    .set({ heartbeat_at: databaseNow(on) })
    .where('online', '=', 1)
    .where(e => sql<boolean>`${e.ref('heartbeat_at')} > ${databaseNow(on)} + cast(${a.silentMs} as bigint)`),
)
const markSilent = command((db, a: { silentMs: number; self: string }, on) =>
  db
    .updateTable('conductors')
    .set({ online: 0 })
    .where('online', '=', 1)
    // The caller is alive, even if a slow database delayed its heartbeat.
    .where('incarnation', '<>', a.self)
    .where(e => sql<boolean>`${e.ref('heartbeat_at')} < ${databaseNow(on)} - cast(${a.silentMs} as bigint)`)
    // If the caller seems silent too, the database's clock has jumped ahead, and nobody can be told from the dead.
    .where(e =>
      e.not(
        e.exists(
          db
            .selectFrom('conductors as own')
            .select('own.id')
            .where('own.incarnation', '=', a.self)
            .where(sql<boolean>`own.heartbeat_at < ${databaseNow(on)} - cast(${a.silentMs} as bigint)`),
        ),
      ),
    )
    .returning('hostname'),
)
const forget = command((db, a: { silentMs: number }, on) =>
  db
    .deleteFrom('conductors')
    .where('online', '=', 0)
    .where(e => sql<boolean>`${e.ref('heartbeat_at')} < ${databaseNow(on)} - cast(${a.silentMs} as bigint)`),
)

const workByIncarnation = query((db, _: object) =>
  db
    .selectFrom('nodes')
    .select('lock_incarnation')
    .select(e => e.fn.countAll<number>().as('count'))
    .where('transition', 'is not', null)
    .where('lock_incarnation', 'is not', null)
    .groupBy('lock_incarnation'),
)

/** How many nodes each conductor works on, by its incarnation. */
export function* workOfConductors(): Read<Map<string, number>> {
  const rows = yield* all(workByIncarnation({}))
  return new Map(rows.map(({ lock_incarnation, count }) => [lock_incarnation!, count]))
}

export function* listConductors(): Read<Conductor[]> {
  return yield* all(everyConductor({}))
}

export function* findConductor(hostname: string): Read<Conductor> {
  const found = yield* one(conductorNamed({ hostname }))
  if (!found) throw problem('metal_not_found', { what: 'Conductor', name: hostname })
  return found
}

interface Identity {
  hostname: string
  incarnation: string
  group: string
  drivers: readonly string[]
}

/**
 * Signs a conductor in and returns its name. A name from the operator goes to the process that came last. A name from
 * the machine is replaced by the spare one if a live process has it already.
 */
export function* signIn(who: Identity, isGiven: boolean, silentMs: number, spareName: string): Write<string> {
  const taken = yield* one(conductorNamed({ hostname: who.hostname }))
  const isLive = taken !== undefined && taken.online === 1 && taken.silent_ms < silentMs
  const hostname = isLive && !isGiven && taken.incarnation !== who.incarnation ? spareName : who.hostname
  const { incarnation, group, drivers } = who
  yield* run(register({ hostname, incarnation, group, drivers: jsonText(drivers) }))
  // Not if only the answer to its first attempt was lost.
  const isThere = hostname === taken?.hostname && taken.online === 1 && taken.incarnation === incarnation
  if (!isThere) yield* mark(conductorBecame(hostname, 'joined', { group, drivers: someOf(drivers) }))
  return hostname
}

/** Says what became of a conductor. */
export const conductorBecame = (hostname: string, became: Word<'conductor'>, data: Subject['data'] = {}): Subject =>
  subject('conductor', hostname, became, { data })

/** How long it was silent before, by the database's clock, which may have jumped; null when others have given it up. */
export function* heartbeat(incarnation: string): Write<number | null> {
  const own = yield* one(ownSilence({ incarnation }))
  return (yield* run(beat({ incarnation }))) > 0 ? (own?.silent_ms ?? 0) : null
}

export function* leave(hostname: string, incarnation: string): Write<void> {
  if ((yield* run(signOff({ incarnation }))) > 0) yield* mark(conductorBecame(hostname, 'left'))
}

export interface Silence {
  silentMs: number
  keepMs: number
  /** The caller's incarnation. */
  self: string
}

/** Marks silent conductors as offline, and deletes those that have been offline for long. */
export function* retireSilent({ silentMs, keepMs, self }: Silence): Write<string[]> {
  yield* run(takeBack({ silentMs }))
  const silent = yield* all(markSilent({ silentMs, self }))
  yield* run(forget({ silentMs: keepMs }))
  yield* mark(...silent.map(({ hostname }) => conductorBecame(hostname, 'silent')))
  return silent.map(row => row.hostname)
}

/** How work names its conductor: the host name is for people, the incarnation for the guard. */
export const affinityOf = ({ hostname, incarnation }: Pick<Conductor, 'hostname' | 'incarnation'>) =>
  `${hostname} ${incarnation}`

/** The host name in an affinity. An incarnation has no spaces. */
export const hostOf = (affinity: string): string => affinity.slice(0, affinity.lastIndexOf(' '))

function* conductorsFor(driver: string, group: string): Read<{ hostname: string; silent_ms: number }[]> {
  const online = yield* all(onlineGroups({}))
  return online.filter(row => row.conductor_group === group && shownIn(row.drivers, TEXTS).includes(driver))
}

/** Refused when nobody has this driver and group, or all who have it are silent: nobody would answer. */
export function* requireLiveConductor(driver: string, group: string, silentMs: number): Read<void> {
  const hostname = yield* requireConductor(driver, group)
  if ((yield* conductorsFor(driver, group)).every(row => row.silent_ms >= silentMs)) {
    throw problem('conductor_silent', { hostname, driver })
  }
}

/** The host name of a conductor for this driver and group; refused when there is none. */
export function* requireConductor(driver: string, group: string): Read<string> {
  const [found] = yield* conductorsFor(driver, group)
  if (!found) {
    throw problem('invalid_parameter', {
      reason:
        'No valid host was found. Reason: No conductor service registered which supports driver ' +
        `${driver} for conductor group "${group}".`,
    })
  }
  return found.hostname
}
