// Hosts: the compute hosts that can be booked. While a hypervisor is a host, it is dedicated to leases.
import { sql } from 'kysely'
import { providerClaims } from '../../ledger/claims/find.ts'
import { providerInventories } from '../../ledger/inventories.ts'
import { dedicateProvider } from '../../ledger/managed.ts'
import { deleteProvider, idIn, listProviders, lockProvider, lockTrees, type Provider } from '../../ledger/providers.ts'
import { problem } from '../../problems/problem.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import { command, query } from '../../store/statement.ts'
import { all, mark, one, type Read, run, type Write } from '../../store/transaction.ts'
import { sayHypervisors } from '../../compute/hypervisors.ts'
import { toldBy } from '../nova/host-changes.ts'
import { addCapabilities, capabilitiesOf, requireUnused } from './capabilities.ts'
import { adopt, letGo, reservationProviderOf } from './reservation-provider.ts'
import { OWNER } from '../lifecycle/reservation-resources.ts'
import { HYPERVISOR, leasablesOf, lockLeasables, noteLeasable, type RevisedLeasable } from '../calendar/resources.ts'
import type { Host, HostAllocation, NewHost } from '../types.ts'

export { properties, setPropertyPrivate } from './capabilities.ts'

const hostRows = query((db, _: object) =>
  db
    .selectFrom('leasables')
    .select(['provider_id as id', 'created_at', 'updated_at'])
    .where('kind', '=', 'host')
    .orderBy('provider_id'),
)
const hostRow = query((db, a: { id: ProviderId }) =>
  db
    .selectFrom('leasables')
    .select(['provider_id as id', 'created_at', 'updated_at'])
    .where('provider_id', '=', a.id)
    .where('kind', '=', 'host'),
)
const hypervisorState = query((db, a: { id: ProviderId }) =>
  db.selectFrom('hypervisors').select(['state', 'status']).where('provider_id', '=', a.id),
)
interface NewRow {
  id: ProviderId
  kind: 'host' | 'node'
  name: string
  reservationProvider: string | null
  reservable: 0 | 1
  vcpus: number
  memory_mb: number
  disk_gb: number
  now: number
}
const insertRow = command((db, a: NewRow) =>
  db.insertInto('leasables').values({
    provider_id: a.id,
    kind: a.kind,
    name: a.name,
    reservation_provider: a.reservationProvider,
    reservable: a.reservable,
    vcpus_ceiling: a.vcpus,
    memory_mb_ceiling: a.memory_mb,
    disk_gb_ceiling: a.disk_gb,
    created_at: a.now,
    updated_at: null,
  }),
)
const touchRow = command((db, a: { id: ProviderId; now: number }) =>
  db.updateTable('leasables').set({ updated_at: a.now }).where('provider_id', '=', a.id),
)
const removeRow = command((db, a: { id: ProviderId }) => db.deleteFrom('leasables').where('provider_id', '=', a.id))

export function* createHost(wanted: NewHost, now: number): Write<Host> {
  const found = yield* findHypervisor(wanted)
  // Trees are locked before their providers. A child is looked for under the lock of the host: until then one that was
  // let go may be removed, and the host may be deleted.
  yield* run(lockTrees({}))
  const provider = yield* lockProvider(found.uuid)
  const child = yield* reservationProviderOf(provider, now)
  yield* adopt(child, now)
  if (wanted.seen)
    yield* sayHypervisors([{ id: provider.id, name: provider.name, ...toldBy(wanted.seen) }], wanted.seen.seenAt)
  if ((yield* leasablesOf([provider.id])).length > 0) throw problem('host_exists', { host: provider.name })
  const { claims } = yield* providerClaims(provider.uuid)
  if (claims.length > 0) {
    throw problem('host_in_use', { reason: `Servers are running on host ${provider.name}: ${claims[0]!.consumer}.` })
  }
  yield* dedicateProvider(provider, OWNER)
  yield* markHost(provider.id)
  const { inventories } = yield* providerInventories(provider.uuid)
  const capacity = (name: string) => {
    const inventory = inventories.find(({ resource_class }) => resource_class === name)
    return inventory ? Math.max(inventory.total - inventory.reserved, 0) : 0
  }
  const state = yield* one(hypervisorState({ id: provider.id }))
  yield* run(
    insertRow({
      id: provider.id,
      kind: 'host',
      name: provider.name,
      reservationProvider: child.uuid,
      reservable: state && (state.state === 'down' || state.status === 'disabled') ? 0 : 1,
      vcpus: capacity('VCPU'),
      memory_mb: capacity('MEMORY_MB'),
      disk_gb: capacity('DISK_GB'),
      now,
    }),
  )
  yield* addCapabilities(provider.id, wanted.capabilities, now)
  return yield* changedHost(provider.id)
}

/** Finds a root provider with vCPUs that nothing manages: the one that Nova named, or by name or decimal id. */
function* findHypervisor({ name, seen }: NewHost): Read<Provider> {
  const notFound = () =>
    seen
      ? problem('hypervisor_without_provider', { name: seen.hostname, uuid: seen.id })
      : problem('hypervisor_not_found', { name })
  const found = yield* seen ? listProviders({ uuid: seen.id }) : providersCalled(name)
  const provider = found.find(({ parent_uuid, managed_by }) => parent_uuid === null && managed_by === null)
  if (!provider || (seen && provider.name !== seen.hostname)) throw notFound()
  const { inventories } = yield* providerInventories(provider.uuid)
  if (!inventories.some(({ resource_class }) => resource_class === 'VCPU')) throw notFound()
  return provider
}

function* providersCalled(name: string): Read<Provider[]> {
  const byName = yield* listProviders({ name })
  const id = idIn(name)
  return byName.length > 0 || id === null ? byName : yield* listProviders({ ids: [id] })
}

function* changedHost(id: ProviderId): Write<Host> {
  const [leasable] = yield* leasablesOf([id])
  yield* noteLeasable(id, leasable!)
  return yield* findHost(String(id))
}

export function* listHosts(): Read<Host[]> {
  const rows = yield* all(hostRows({}))
  return yield* hostsOf(rows)
}

/** The host with this decimal id. */
export function* findHost(id: string): Read<Host> {
  const provider = idIn(id)
  const [host] = provider === null ? [] : yield* hostsOf(yield* all(hostRow({ id: provider })))
  if (!host) throw problem('host_not_found', { host: id })
  return host
}

interface HostRow {
  id: ProviderId
  created_at: number
  updated_at: number | null
}

function* hostsOf(rows: readonly HostRow[]): Read<Host[]> {
  const ids = rows.map(row => row.id)
  const leasables = new Map((yield* leasablesOf(ids)).map(leasable => [leasable.id, leasable]))
  const capabilities = yield* capabilitiesOf(ids)
  return rows.flatMap(({ id, created_at, updated_at }) => {
    const leasable = leasables.get(id)
    if (!leasable) return []
    const { name, capacity, isReservable } = leasable
    return {
      ...HYPERVISOR,
      id: String(id),
      hypervisor_hostname: name,
      service_name: name,
      vcpus: capacity.vcpus,
      memory_mb: capacity.memory_mb,
      local_gb: capacity.disk_gb,
      reservable: isReservable,
      capabilities: capabilities.get(id) ?? {},
      created_at,
      updated_at,
    }
  })
}

/** Locks and reads the host. */
function* lockHost(id: string): Write<RevisedLeasable> {
  const provider = idIn(id)
  const [found] = provider === null ? [] : yield* lockLeasables([provider])
  if (found?.kind !== 'host') throw problem('host_not_found', { host: id })
  return found
}

const markHost = (id: ProviderId) => mark({ kind: 'host', id: String(id) })

/** Adds or changes capabilities; none can be removed. */
export function* updateHost(id: string, capabilities: Readonly<Record<string, string>>, now: number): Write<Host> {
  const host = yield* lockHost(id)
  yield* requireUnused(host, capabilities)
  yield* addCapabilities(host.id, capabilities, now)
  yield* run(touchRow({ id: host.id, now }))
  yield* markHost(host.id)
  return yield* changedHost(host.id)
}

/** Returns the hypervisor to compute. Refused while it has bookings or servers. `isRead`: a nova-compute may know its tree. */
export function* deleteHost(id: string, isRead: boolean, now: number): Write<void> {
  const host = yield* lockHost(id)
  if (host.booked.length > 0) {
    const { reservation, lease } = host.booked[0]!
    throw problem('host_in_use', {
      reason: `Host ${host.name} is booked for reservation ${reservation} of lease ${lease}.`,
    })
  }
  const [found] = yield* listProviders({ ids: [host.id] })
  const provider = yield* lockProvider(found!.uuid)
  const { claims } = yield* providerClaims(provider.uuid)
  if (claims.length > 0) throw problem('host_in_use', { reason: `Servers are running on host ${host.name}.` })
  yield* run(removeRow({ id: host.id }))
  yield* markHost(host.id)
  yield* dedicateProvider(provider, null)
  const child = host.reservationProvider!
  if (isRead) yield* letGo(child, now)
  else yield* deleteProvider(child, OWNER)
  yield* noteLeasable(host.id, null)
}

interface AllocationFilter {
  lease: string | null
  reservation: string | null
  host: ProviderId | null
  after: number
}
const allocationRows = query((db, a: AllocationFilter) =>
  db
    .selectFrom('leasables')
    .innerJoin('bookings', 'bookings.provider_id', 'leasables.provider_id')
    .select(['leasables.provider_id as host', 'reservation_id', 'lease_id', 'slots', 'start_at', 'end_at'])
    .where('kind', '=', 'host')
    .where(sql<boolean>`(cast(${a.lease} as text) is null or lease_id = ${a.lease})`)
    .where(sql<boolean>`(cast(${a.reservation} as text) is null or reservation_id = ${a.reservation})`)
    .where(sql<boolean>`(cast(${a.host} as bigint) is null or leasables.provider_id = ${a.host})`)
    .where('end_at', '>=', a.after)
    .orderBy('leasables.provider_id')
    .orderBy('start_at')
    .orderBy('reservation_id'),
)

/** One entry for each host with bookings, and always one for `host`. Past bookings only for a lease or reservation. */
export function* hostAllocations(
  filter: { lease?: string; reservation?: string; host?: string },
  now: number,
): Read<HostAllocation[]> {
  const { lease = null, reservation = null, host = null } = filter
  const after = lease === null && reservation === null ? now : 0
  const rows = yield* all(allocationRows({ lease, reservation, host: host === null ? null : idIn(host), after }))
  const found = [...Map.groupBy(rows, row => row.host)].map(([id, mine]) => ({
    host: String(id),
    reservations: mine.flatMap(({ slots, reservation_id, lease_id, start_at, end_at }) =>
      Array.from({ length: slots }, () => ({ id: reservation_id, lease_id, start_at, end_at })),
    ),
  }))
  return found.length === 0 && host !== null ? [{ host, reservations: [] }] : found
}
