// The duty that heals reservations: when a host goes down, is disabled or shrinks, its reservations that are in use or
// start soon move to other hosts. Slots that fit nowhere are marked as missing and tried again later.
import { sql } from 'kysely'
import { recorded } from '../../audit/record.ts'
import type { Witness } from '../../audit/witness.ts'
import { unusableHypervisors } from '../../compute/hypervisors.ts'
import { Duty } from '../../shared/duty.ts'
import { limits } from '../../shared/limits.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import { command, query } from '../../store/statement.ts'
import { all, mark, type Read, run, together, type Write } from '../../store/transaction.ts'
import { type Booked, isWithin, peakOf } from '../calendar/calendar.ts'
import { type Ailing, healAll } from './hosts.ts'
import { emptyLeftovers, healNodes, onNodes } from './nodes.ts'
import { lowerCeilings } from '../booking/rows.ts'
import { leasablesOf, lockLeasables, noteLeasable, type RevisedLeasable } from '../calendar/resources.ts'
import { type LeaseContext, MINUTE_MS } from '../context.ts'

type Working = Pick<LeaseContext, 'store' | 'clock' | 'log' | 'config' | 'drivers'> & { witness: Witness }

const closedHosts = query((db, _: object) =>
  db
    .selectFrom('leasables')
    .select('provider_id as id')
    .where('reservable', '=', sql.lit(0))
    .where('kind', '=', 'host'),
)
const hostsAmong = query((db, a: { ids: readonly ProviderId[] }, on) =>
  db
    .selectFrom('leasables')
    .select('provider_id as id')
    .where(on.isIn('provider_id', a.ids, 'bigint'))
    .where('kind', '=', 'host'),
)
const setReservable = command((db, a: { id: ProviderId; reservable: 0 | 1; now: number }) =>
  db
    .updateTable('leasables')
    .set(e => ({ reservable: a.reservable, version: e('version', '+', 1), updated_at: a.now }))
    .where('provider_id', '=', a.id),
)
const shrunkHosts = query((db, _: object) =>
  db
    .selectFrom('leasables as l')
    .innerJoin('inventories as i', 'i.provider_id', 'l.provider_id')
    .innerJoin('resource_classes as c', 'c.id', 'i.class_id')
    .select('l.provider_id as id')
    .distinct()
    .where('l.kind', '=', 'host')
    .where(
      sql<boolean>`(c.name = 'VCPU' and i.total - i.reserved < l.vcpus_ceiling)
        or (c.name = 'MEMORY_MB' and i.total - i.reserved < l.memory_mb_ceiling)
        or (c.name = 'DISK_GB' and i.total - i.reserved < l.disk_gb_ceiling)`,
    ),
)
/** Hosts that lack some of what is booked of other classes. An inventory that is gone counts as nothing. */
const hostsWithoutExtras = query((db, _: object, on) =>
  db
    .selectFrom('leasables as l')
    .select('l.provider_id as id')
    .where('l.extras_ceiling', 'is not', null)
    .where(
      sql<boolean>`exists (select 1 from ${sql.raw(
        on.dialect === 'sqlite'
          ? 'json_each(l.extras_ceiling) x where x.value'
          : 'jsonb_each_text(l.extras_ceiling::jsonb) x where x.value::bigint',
      )} > coalesce((select i.total - i.reserved from inventories i join resource_classes c on c.id = i.class_id
        where i.provider_id = l.provider_id and c.name = x.key), 0))`,
    ),
)
const missing = query((db, _: object) =>
  db
    .selectFrom('lease_reservations')
    .select(['id as reservation', 'lease_id as lease', 'resource_type'])
    .where('missing_resources', '=', sql.lit(1))
    .where('status', '<>', 'deleted'),
)
export function healingDuty(context: Working): Duty {
  let lookedAt = -Infinity
  return new Duty({
    name: 'lease healing',
    pollMs: limits.healingPollMs,
    log: context.log,
    run: async () => {
      await emptyLeftovers(context)
      const reopened = await followHypervisors(context)
      // A row that can't be read spoils one look, and not the others.
      const found = (looking: Promise<Ailing[]>): Promise<Ailing[]> =>
        looking.catch((error: unknown) => {
          context.log.warn({ err: error }, 'some reservations that may need healing could not be looked for')
          return []
        })
      const ailing = [
        ...(await found(onClosedHosts(context))),
        ...(await found(onShrunkHosts(context))),
        ...(await found(onReopenedHosts(context, reopened))),
      ]
      const nodes = await found(onNodes(context))
      // Missing slots are searched for when a host comes back, else at intervals: the search reads the whole pool.
      const isTime = performance.now() - lookedAt >= limits.healingPollMs
      if (reopened.length > 0 || isTime) {
        lookedAt = performance.now()
        for (const { resource_type, ...one } of await context.store.read(() => all(missing({})))) {
          if (resource_type !== 'physical:node') ailing.push({ ...one, unusable: new Set() })
          else if (!nodes.some(({ reservation }) => reservation === one.reservation))
            nodes.push({ ...one, unusable: new Set() })
        }
      }
      if (ailing.length > 0) await healAll(context, ailing)
      if (nodes.length > 0) await healNodes(context, nodes)
      if (ailing.some(({ unusable }) => unusable.size > 0)) await settleCeilings(context)
      return null
    },
  })
}

/** Closes hosts that are down or disabled, and reopens those that are back. Returns the reopened ones. */
async function followHypervisors({ store, clock, witness }: Working): Promise<ProviderId[]> {
  const { down, closed } = await store.read(function* () {
    const ids = [...(yield* unusableHypervisors())]
    const down = new Set((yield* all(hostsAmong({ ids }))).map(({ id }) => id))
    const closed = new Set((yield* all(closedHosts({}))).map(({ id }) => id))
    return { down, closed }
  })
  const changed = [...down.symmetricDifference(closed)].sort((a, b) => a - b)
  for (const id of changed) {
    const entryOf = (action: 'open_host' | 'close_host') => witness({ action, outcome: 'done' })
    await store.write(() => recorded(followOne(id, clock.now()), entryOf))
  }
  return changed.filter(id => !down.has(id))
}

function* followOne(id: ProviderId, now: number): Write<'open_host' | 'close_host'> {
  const [host] = yield* lockLeasables([id])
  const isDown = (yield* unusableHypervisors()).has(id)
  // Another conductor may have been faster.
  if (host && host.isReservable === isDown) {
    yield* run(setReservable({ id, reservable: isDown ? 0 : 1, now }))
    yield* noteLeasable(id, (yield* leasablesOf([id]))[0]!)
    yield* mark({ kind: 'host', id: String(id) })
  }
  return isDown ? 'close_host' : 'open_host'
}

/** The reservations on closed hosts that are in use or start soon. */
async function onClosedHosts({ store, clock, config }: Working): Promise<Ailing[]> {
  const closed = await store.read(function* () {
    return yield* leasablesOf((yield* all(closedHosts({}))).map(({ id }) => id))
  })
  const soon = config.leaseHealingMinutes === 0 ? Infinity : clock.now() + config.leaseHealingMinutes * MINUTE_MS
  const unusable = new Set(closed.map(({ id }) => id))
  return closed.flatMap(({ booked }) =>
    booked.filter(({ start }) => start <= soon).map(({ lease, reservation }) => ({ lease, reservation, unusable })),
  )
}

/** The reservations on reopened hosts. They have too many slots if servers kept some that were replaced elsewhere. */
async function onReopenedHosts({ store }: Working, ids: readonly ProviderId[]): Promise<Ailing[]> {
  const hosts = ids.length === 0 ? [] : await store.read(() => leasablesOf(ids))
  return hosts.flatMap(({ booked }) =>
    booked.map(({ lease, reservation }) => ({ lease, reservation, unusable: new Set<ProviderId>() })),
  )
}

function* shrunk(): Read<ProviderId[]> {
  const [sizes, extras] = yield* together(shrunkHosts({}), hostsWithoutExtras({}))
  return [...new Set([...sizes, ...extras].map(({ id }) => id))]
}

/** On hosts with more bookings than capacity: the reservations that start last, until the rest fits. */
async function onShrunkHosts({ store }: Working): Promise<Ailing[]> {
  const hosts = await store.read(function* () {
    return yield* leasablesOf(yield* shrunk())
  })
  return hosts.flatMap(host => {
    const left = host.booked.toSorted((a, b) => a.start - b.start)
    const ailing: Ailing[] = []
    while (isOversold(host, left)) {
      const { lease, reservation } = left.pop()!
      ailing.push({ lease, reservation, unusable: new Set([host.id]) })
    }
    return ailing
  })
}

function isOversold({ capacity }: RevisedLeasable, booked: readonly Booked[]): boolean {
  return booked.length > 0 && !isWithin(peakOf(booked), capacity)
}

async function settleCeilings({ store }: Working): Promise<void> {
  const ids = await store.read(shrunk)
  if (ids.length === 0) return
  await store.write(function* () {
    yield* lowerCeilings(yield* lockLeasables(ids))
  })
}
