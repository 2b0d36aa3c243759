// Removes the demo: all things with its marks, and everything that others have put on its machines.
// Nothing else.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Holdfast, type Node, type Provider } from '../../client/index.ts'
import { atOnce } from '../../shared/at-once.ts'
import { customClassesOf, customTraitsOf, fleetOf } from './fleet.ts'
import type { Report } from './fill.ts'
import { flavorId, isDemoLease, isDemoProvider, isMarked, SERVER_METADATA } from './marks.ts'
import { FLAVORS } from './promises.ts'
import { statusOf, unless } from './refusals.ts'
import { DemoFailure, type Present, presentDemo } from './state.ts'

interface Sweep {
  server: Holdfast
  /** The demo's nodes and providers, and all consumers on them. */
  nodes: Map<string, Node>
  providers: Map<string, Provider>
  consumers: Set<string>
  /** Acts on all items, several at a time, and counts them. */
  each: <T>(what: string, items: readonly T[], act: (item: T) => Promise<unknown>) => Promise<void>
  /** Retries while the server answers 409. */
  whenFree: (act: () => Promise<unknown>) => Promise<void>
}

/** Returns how many things were removed. */
export async function remove(server: Holdfast, now: () => number, report: Report): Promise<number> {
  const record = await presentDemo(server)
  let gone = 0
  const sweep: Sweep = {
    server,
    ...(await findAll(server)),
    each: async (what, items, act) => {
      await atOnce(items, item => unlessGone(act(item)), {
        onDone: done => report(`removing ${what}`, done, items.length),
      })
      gone += items.length
    },
    whenFree: act => untilFree(act, now),
  }
  await removeServers(sweep, now)
  await removeLeases(sweep)
  await removeHolders(sweep)
  await withdraw(sweep)
  await removeNodes(sweep)
  await removeHosts(sweep)
  await removeRest(sweep, record)
  return gone
}

async function findAll(server: Holdfast): Promise<Pick<Sweep, 'nodes' | 'providers' | 'consumers'>> {
  const nodes = (await server.nodes.list({ fields: ['uuid', 'extra', 'instance_uuid'] })).filter(isMarked)
  const all = await server.providers.list()
  const roots = new Set(all.filter(isDemoProvider).map(({ root_provider_uuid }) => root_provider_uuid))
  const providers = all.filter(({ root_provider_uuid }) => roots.has(root_provider_uuid))
  const consumers = new Set(nodes.map(({ instance_uuid }) => instance_uuid).filter(uuid => uuid !== null))
  await atOnce(providers, async ({ uuid }) => {
    for (const consumer of await server.providers.consumers(uuid)) consumers.add(consumer)
  })
  return {
    nodes: new Map(nodes.map(node => [node.uuid, node])),
    providers: new Map(providers.map(provider => [provider.uuid, provider])),
    consumers,
  }
}

const LOOK_MS = 150
/** Enough for a node to be torn down; after this it is an error. */
const FREE_MS_MAX = 60_000

async function untilFree(act: () => Promise<unknown>, now: () => number): Promise<void> {
  const deadline = now() + FREE_MS_MAX
  for (;;) {
    try {
      await act()
      return
    } catch (error) {
      if (statusOf(error) !== 409 || now() > deadline) throw error
      await sleep(LOOK_MS)
    }
  }
}

/** Someone else may have removed it first. */
const unlessGone = (act: Promise<unknown>) => unless(404, act)

async function removeServers({ server: { servers }, consumers, each }: Sweep, now: () => number): Promise<void> {
  const left = async () =>
    (await servers.list({ all_tenants: 1 })).filter(
      ({ id, metadata }) => metadata['demo'] === SERVER_METADATA.demo || consumers.has(id),
    )
  await each('servers', await left(), ({ id }) => servers.delete(id))
  // On bare metal a server is gone only when its node is empty.
  const deadline = now() + FREE_MS_MAX
  for (let rest = await left(); rest.length > 0; rest = await left()) {
    if (now() > deadline) throw new DemoFailure(`server ${rest[0]!.name} is still there: ${rest[0]!.status}`)
    await sleep(LOOK_MS)
  }
}

async function removeLeases({ server, nodes, providers, each }: Sweep): Promise<void> {
  const names = new Set(providers.values().map(({ name }) => name))
  const hosts = (await server.hosts.list()).filter(({ hypervisor_hostname }) => names.has(hypervisor_hostname))
  const ids = new Set(hosts.map(({ id }) => id))
  const bookedHosts = (await server.hosts.bookings()).filter(({ resource_id }) => ids.has(resource_id))
  const bookedNodes = (await server.leasableNodes.list()).filter(({ node }) => nodes.has(node))
  const booked = new Set([
    ...bookedHosts.flatMap(({ reservations }) => reservations.map(({ lease_id }) => lease_id)),
    ...bookedNodes.flatMap(({ bookings }) => bookings.map(({ lease_id }) => lease_id)),
  ])
  const ours = (await server.leases.list()).filter(lease => isDemoLease(lease) || booked.has(lease.id))
  await each('leases', ours, ({ id }) => server.leases.delete(id))
}

/** Removes allocations and holds. An allocation whose node is active can't be deleted: it goes with the node. */
async function removeHolders({ server: { allocations, reservations }, nodes, each }: Sweep): Promise<void> {
  const ourAllocations = (await allocations.list({ fields: ['uuid', 'node_uuid', 'extra'] })).filter(
    one => isMarked(one) || nodes.has(one.node_uuid ?? ''),
  )
  await each('allocations', ourAllocations, ({ uuid }) => unless(409, allocations.delete(uuid)))
  const holds = (await reservations.list()).filter(({ node_uuid }) => nodes.has(node_uuid))
  await each('holds', holds, ({ uuid }) => reservations.delete(uuid))
}

/** Takes hosts and nodes out of leasing. */
async function withdraw({ server, nodes, providers, each, whenFree }: Sweep): Promise<void> {
  const names = new Set(providers.values().map(({ name }) => name))
  const hosts = (await server.hosts.list()).filter(({ hypervisor_hostname }) => names.has(hypervisor_hostname))
  await each('hosts from the pool', hosts, ({ id }) => whenFree(() => server.hosts.delete(id)))
  const leasable = (await server.leasableNodes.list()).filter(({ node }) => nodes.has(node))
  await each('nodes from leasing', leasable, ({ node }) => whenFree(() => server.leasableNodes.withdraw(node)))
}

async function removeNodes({ server, nodes, each, whenFree }: Sweep): Promise<void> {
  await each('nodes', [...nodes.keys()], async uuid => {
    // In maintenance a node can be deleted in any state, together with its allocation.
    await server.nodes.startMaintenance(uuid, 'holdfast demo --remove')
    await whenFree(async () => {
      try {
        await server.nodes.delete(uuid)
      } catch (error) {
        if (statusOf(error) !== 409) throw error
        // Claims made through Placement don't go with the node.
        for (const consumer of await server.providers.consumers(uuid)) await unless(409, server.claims.delete(consumer))
        throw error
      }
    })
  })
}

async function removeHosts({ server, providers, each, whenFree }: Sweep): Promise<void> {
  const consumers = new Set<string>()
  await atOnce([...providers.keys()], async uuid => {
    const found = server.providers.consumers(uuid).then(all => all.forEach(one => consumers.add(one)))
    await unlessGone(found)
  })
  await each('claims', [...consumers], consumer => server.claims.delete(consumer))
  // Children go before their parents.
  const depthOf = ({ parent_provider_uuid: parent }: Provider): number =>
    parent === null ? 0 : 1 + depthOf(providers.get(parent)!)
  const levels = Map.groupBy(providers.values(), depthOf)
  for (const depth of [...levels.keys()].sort((a, b) => b - a)) {
    await each('compute hosts', levels.get(depth)!, ({ uuid }) => whenFree(() => server.providers.delete(uuid)))
  }
}

/** The rack with the record goes last. */
async function removeRest({ server, each }: Sweep, record: Present | null): Promise<void> {
  const ids = new Set(FLAVORS.map(({ name }) => flavorId(name)))
  const flavors = (await server.flavors.list()).filter(({ id }) => ids.has(id))
  await each('flavors', flavors, ({ id }) => server.flavors.delete(id))
  const racks = (await server.chassis.list()).filter(one => isMarked(one) && one.uuid !== record?.chassis)
  await each('racks', racks, ({ uuid }) => server.chassis.delete(uuid))
  if (!record) return
  const isNew = (name: string) => !record.kept.includes(name)
  // Names that someone else uses by now stay.
  await atOnce(customTraitsOf(fleetOf(record)).filter(isNew), name =>
    unless(409, unlessGone(server.traits.delete(name))),
  )
  await atOnce(customClassesOf().filter(isNew), name => unless(409, unlessGone(server.resourceClasses.delete(name))))
  await each('racks', [record], ({ chassis }) => server.chassis.delete(chassis))
}
