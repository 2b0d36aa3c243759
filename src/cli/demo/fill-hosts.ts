// Creates the demo's compute hosts: providers, the pool for leases, flavors, servers, and claims.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Resources } from '../../client/index.ts'
import { atOnce } from '../../shared/at-once.ts'
import type { Crowd } from './crowd.ts'
import type { Filling } from './fill.ts'
import type { HostProvider } from './hosts.ts'
import { demoUuid, flavorId, HOST_CAPABILITY, SERVER_METADATA } from './marks.ts'
import type { Person } from './people.ts'
import { DemoFailure } from './state.ts'

export async function makeHosts({ crowd, fleet, report }: Filling): Promise<void> {
  const { providers, hosts, flavors } = crowd.admin
  const all = fleet.hosts.providers
  const make = async ({ name, uuid, parent, inventories, traits, aggregates }: HostProvider) => {
    let { generation } = await providers.create({ name, uuid, ...(parent && { parent_provider_uuid: parent }) })
    if (Object.keys(inventories).length > 0) generation = await providers.setInventories(uuid, inventories, generation)
    generation = await providers.setTraits(uuid, traits, generation)
    if (aggregates.length > 0) await providers.setAggregates(uuid, aggregates, generation)
  }
  let before = 0
  for (const level of levelsOf(all)) {
    await atOnce(level, make, { onDone: done => report('making compute hosts', before + done, all.length) })
    before += level.length
  }
  await atOnce(fleet.hosts.pool, name => hosts.create(name, HOST_CAPABILITY))
  await atOnce(fleet.flavors, async ({ specs, ...flavor }) => {
    const { id } = await flavors.create({ id: flavorId(flavor.name), ...flavor })
    await flavors.setExtraSpecs(id, specs)
  })
}

/** The providers level by level, roots first. */
function levelsOf(all: readonly HostProvider[]): HostProvider[][] {
  const levels: HostProvider[][] = []
  const depths = new Map<string, number>()
  for (const provider of all) {
    const depth = provider.parent === null ? 0 : depths.get(provider.parent)! + 1
    depths.set(provider.uuid, depth)
    ;(levels[depth] ??= []).push(provider)
  }
  return levels
}

/** Replaces the names of providers by their uuids. */
const resourcesOf = (byName: Record<string, Record<string, number>>): Resources =>
  Object.fromEntries(
    Object.entries(byName).map(([name, resources]) => [demoUuid('provider', name), { resources }] as const),
  )

/** Only admins and services may claim in Placement, so the admin does it for people. */
export async function makeClaims({ crowd, fleet, report }: Filling): Promise<void> {
  await atOnce(
    fleet.claims,
    ({ consumer, who, type, resources }) =>
      crowd.admin.claims.set(consumer, resourcesOf(resources), ownersOf(crowd, who, type)),
    { onDone: done => report('making claims', done, fleet.claims.length) },
  )
}

export const ownersOf = (crowd: Crowd, { name, project }: Person, type: string) => ({
  project: crowd.projectOf(project),
  user: name,
  type,
})

export async function makeServers({ crowd, fleet, report }: Filling): Promise<void> {
  await atOnce(
    fleet.servers,
    async ({ name, who, flavor }) => {
      const { servers } = await crowd.as(who)
      await servers.create({ name, flavorRef: flavorId(flavor), metadata: SERVER_METADATA })
    },
    { onDone: done => report('making servers', done, fleet.servers.length) },
  )
}

const LOOK_MS = 200
const BUILD_MS_MAX = 60_000

/** Servers on bare metal take until their node is deployed. */
export async function untilBuilt({ crowd, now }: Filling): Promise<void> {
  const deadline = now() + BUILD_MS_MAX
  for (;;) {
    const servers = await crowd.admin.servers.list({ all_tenants: 1 })
    const building = servers.find(({ status, metadata }) => status === 'BUILD' && metadata['demo'] !== undefined)
    if (!building) return
    if (now() > deadline) throw new DemoFailure(`server ${building.name} is still being built`)
    await sleep(LOOK_MS)
  }
}
