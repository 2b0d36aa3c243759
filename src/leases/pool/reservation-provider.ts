// The child provider below a host's: the inventories of started leases are there.
import { createHash } from 'node:crypto'
import { recorded } from '../../audit/record.ts'
import type { Witness } from '../../audit/witness.ts'
import { dropOtherInventories, inventoryNews } from '../../ledger/inventories.ts'
import { ownProvider } from '../../ledger/managed.ts'
import { createProvider } from '../../ledger/new-provider.ts'
import {
  bumpGeneration,
  deleteProvider,
  listProviders,
  lockProvider,
  lockProvidersWith,
  type Provider,
} from '../../ledger/providers.ts'
import { problem } from '../../problems/problem.ts'
import { Duty } from '../../shared/duty.ts'
import { limits } from '../../shared/limits.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import { query } from '../../store/statement.ts'
import { all, type Write } from '../../store/transaction.ts'
import type { RevisedLeasable } from '../calendar/resources.ts'
import type { LeaseContext } from '../context.ts'
import { OWNER } from '../lifecycle/reservation-resources.ts'

const reservationProviderName = (host: string) => `blazar_${host}`

/** Derived from the host's uuid, so that no random source is needed here. */
function reservationProviderUuid({ uuid }: Provider): string {
  const hex = createHash('sha256').update(`reservations of ${uuid}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The child provider of a host. One that is left over from earlier is reused, once it is adopted. */
export function* reservationProviderOf(host: Provider, now: number): Write<Provider> {
  const name = reservationProviderName(host.name)
  const [present] = yield* listProviders({ name })
  if (!present) {
    const uuid = reservationProviderUuid(host)
    return yield* createProvider({ uuid, name, parentUuid: host.uuid, managedBy: OWNER }, now)
  }
  if (present.parent_uuid !== host.uuid) {
    throw problem('host_in_use', { reason: `Resource provider ${name} is there already, and not below ${host.name}.` })
  }
  return present
}

/** Makes a child that was a client's ours, and empty. One that we let go is both already. */
export function* adopt({ uuid }: Provider, now: number): Write<void> {
  const child = yield* lockProvider(uuid)
  if (child.managed_by === OWNER) return
  yield* ownProvider(child, OWNER)
  const gone = yield* dropOtherInventories(child, new Map())
  yield* bumpGeneration(child, now, inventoryNews(new Map(), gone))
}

/** Creates a host's reservation provider again, if somebody has removed it. */
export function* ensureReservationProvider(leasable: RevisedLeasable, now: number): Write<void> {
  const [host] = yield* listProviders({ ids: [leasable.id] })
  const name = reservationProviderName(leasable.name)
  yield* createProvider({ uuid: leasable.reservationProvider!, name, parentUuid: host!.uuid, managedBy: OWNER }, now)
}

/** Leaves the empty child where it is for a while: nova-compute knows the tree from its last look, and fails without it. */
export function* letGo(uuid: string, now: number): Write<void> {
  // Its time of change says since when.
  yield* bumpGeneration(yield* lockProvider(uuid), now)
}

const leftOver = query((db, a: { owner: string }) =>
  db
    .selectFrom('providers as p')
    .select(['p.id', 'p.uuid', 'p.parent_id', 'p.updated_at', 'p.created_at'])
    .where('p.managed_by', '=', a.owner)
    .where('p.parent_id', 'is not', null)
    .leftJoin('leasables as l', 'l.reservation_provider', 'p.uuid')
    .where('l.provider_id', 'is', null)
    .orderBy('p.id'),
)

type Working = Pick<LeaseContext, 'store' | 'clock' | 'log'> & { witness: Witness }

/** Removes the children that were let go, when nobody can know them any more. */
export function leftOversDuty(context: Working): Duty {
  return new Duty({
    name: 'withdrawn hosts',
    pollMs: limits.withdrawnHostsPollMs,
    log: context.log,
    run: () => removeLeftOvers(context),
  })
}

async function removeLeftOvers({ store, clock, witness }: Working): Promise<number | null> {
  const since = ({ updated_at, created_at }: { updated_at: number | null; created_at: number }) =>
    updated_at ?? created_at
  const found = await store.read(() => all(leftOver({ owner: OWNER })))
  const before = clock.now() - limits.withdrawnHostKeptMs
  const entry = witness({ action: 'remove_provider', outcome: 'done' })
  for (const { id, parent_id } of found.filter(one => since(one) <= before)) {
    await store.write(() => recorded(removeLeftOver(id, parent_id!, before), entry))
  }
  const next = found.map(since).filter(at => at > before)
  return next.length === 0 ? null : Math.min(...next) - before
}

function* removeLeftOver(id: ProviderId, parent: ProviderId, before: number): Write<void> {
  yield* lockProvidersWith([parent, id])
  // It may be a host again, or let go again, since we looked.
  const found = (yield* all(leftOver({ owner: OWNER }))).find(one => one.id === id)
  if (found && (found.updated_at ?? found.created_at) <= before) yield* deleteProvider(found.uuid, OWNER)
}
