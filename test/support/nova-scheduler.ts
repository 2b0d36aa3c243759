// Where a server of the test Nova goes, and its claims in Placement: as nova-scheduler and nova-conductor do it.
import type { Body } from './nova-answers.ts'
import type { Allocations, Holdfast, Resources } from './nova-holdfast.ts'
import type { NovaHost } from './nova-host.ts'
import type { Flavor, Server } from './nova-rows.ts'
import type { TestNova } from './nova.ts'

const CLAIM_ATTEMPTS = 4
const NOWHERE = 'No valid host was found. '

export class NoValidHost extends Error {
  constructor(reason = '') {
    super(`${NOWHERE}${reason}`)
  }
}

/** Finds a host and claims it; the claims that the server has elsewhere stay, as an evacuation wants it. */
export async function schedule(
  nova: TestNova,
  server: Server,
  flavor: Flavor,
  { without = [], only = null }: { without?: readonly string[]; only?: string | null } = {},
): Promise<NovaHost> {
  const { allocation_requests } = await candidatesFor(nova, flavor, only)
  if (allocation_requests.length === 0) throw new NoValidHost()
  const hosts = [...nova.hosts.values()].filter(
    host => host.isUp && host.isEnabled && !without.includes(host.name) && (only === null || host.name === only),
  )
  const load = (host: NovaHost) => [...nova.servers.values()].filter(each => each.host === host.name).length
  for (const host of hosts.toSorted((a, b) => load(a) - load(b))) {
    // A host whose own provider gives nothing is skipped.
    const found = allocation_requests.find(({ allocations }) => host.uuid in allocations)
    if (found && (await claim(nova.holdfast, server, found))) return host
  }
  throw new NoValidHost('There are not enough hosts available.')
}

interface AllocationRequest {
  allocations: Allocations
  mappings: Record<string, string[]>
}

async function candidatesFor(nova: TestNova, flavor: Flavor, only: string | null) {
  const query = new URLSearchParams(queryOf(flavor))
  if (only !== null) query.set('in_tree', nova.hosts.get(only)?.uuid ?? crypto.randomUUID())
  const { status, body } = await nova.holdfast.placement('GET', `/allocation_candidates?${String(query)}`, '1.36')
  // An unknown class or trait is a 400: users see that there is no host.
  return (status === 200 ? body : { allocation_requests: [] }) as { allocation_requests: AllocationRequest[] }
}

/** The search for a flavor's sizes, resources and traits, as ResourceRequest.to_querystring has it. */
export function queryOf({ vcpus, ram, disk, ephemeral, swap, specs }: Flavor): [string, string][] {
  const gigabytes = disk + ephemeral + Math.ceil(swap / 1024)
  const groups = new Map<string, Resources>([['', { VCPU: vcpus, MEMORY_MB: ram, DISK_GB: gigabytes }]])
  const traits = new Map<string, string[]>()
  for (const [key, value] of Object.entries(specs)) {
    const [, kind, group, name] = /^(resources|trait)([^:]*):(.+)$/.exec(key) ?? []
    if (kind === 'resources') groups.set(group!, { ...groups.get(group!), [name!]: Number(value) })
    else if (kind === 'trait') {
      traits.set(group!, [...(traits.get(group!) ?? []), value === 'forbidden' ? `!${name}` : name!])
    }
  }
  const query: [string, string][] = [
    ['limit', '1000'],
    ['root_required', '!COMPUTE_STATUS_DISABLED'],
  ]
  for (const [group, resources] of groups) {
    const wanted = Object.entries(resources).filter(([, amount]) => amount > 0)
    const amounts = wanted.map(([name, amount]) => `${name}:${amount}`).toSorted()
    if (amounts.length > 0) query.push([`resources${group}`, amounts.join(',')])
  }
  for (const [group, names] of traits) query.push([`required${group}`, names.toSorted().join(',')])
  if ([...groups.keys()].some(group => group !== '')) query.push(['group_policy', specs['group_policy'] ?? 'none'])
  return query.toSorted(([a], [b]) => (a < b ? -1 : 1))
}

async function claim(holdfast: Holdfast, server: Server, wanted: AllocationRequest): Promise<boolean> {
  for (let attempt = 0; attempt < CLAIM_ATTEMPTS; attempt++) {
    const { allocations, consumer_generation = null } = await holdfast.consumer(server.id)
    const isMove = Object.keys(allocations).length > 0
    const { status, body } = await holdfast.placement('PUT', `/allocations/${server.id}`, '1.36', {
      allocations: isMove ? merged(allocations, wanted.allocations) : wanted.allocations,
      ...(!isMove && { mappings: wanted.mappings }),
      project_id: server.project,
      user_id: server.user,
      consumer_generation: isMove ? consumer_generation : null,
    })
    if (status === 204) return true
    if (codeOf(body) !== 'placement.concurrent_update') return false
  }
  return false
}

function merged(source: Allocations, target: Allocations): Allocations {
  const all: Allocations = {}
  for (const [uuid, { resources }] of Object.entries(source)) all[uuid] = { resources: { ...resources } }
  for (const [uuid, { resources }] of Object.entries(target)) {
    const into = (all[uuid] ??= { resources: {} }).resources
    for (const [name, amount] of Object.entries(resources)) into[name] = (into[name] ?? 0) + amount
  }
  return all
}

/** Moves all claims of a consumer to another in one request. False: Placement refused. */
export async function moveClaims(holdfast: Holdfast, from: string, to: string): Promise<boolean> {
  for (let attempt = 0; attempt < CLAIM_ATTEMPTS; attempt++) {
    const [source, target] = [await holdfast.consumer(from), await holdfast.consumer(to)]
    const isEmpty = Object.keys(source.allocations).length === 0
    if (isEmpty) return Object.keys(target.allocations).length > 0
    const { project_id, user_id } = source
    const { status, body } = await holdfast.placement('POST', '/allocations', '1.28', {
      [from]: { allocations: {}, project_id, user_id, consumer_generation: source.consumer_generation },
      [to]: {
        allocations: bareOf(source.allocations),
        project_id,
        user_id,
        consumer_generation: target.consumer_generation ?? null,
      },
    })
    if (status === 204) return true
    if (codeOf(body) !== 'placement.concurrent_update') return false
  }
  return false
}

/** Lets go of all that a consumer has. By force, generations don't matter. */
export async function release(holdfast: Holdfast, uuid: string, isForced = false): Promise<void> {
  if (isForced) {
    await holdfast.placement('DELETE', `/allocations/${uuid}`, '1.0')
    return
  }
  for (let attempt = 0; attempt < CLAIM_ATTEMPTS; attempt++) {
    const consumer = await holdfast.consumer(uuid)
    if (Object.keys(consumer.allocations).length === 0) return
    const sent = { ...consumer, allocations: {} }
    if ((await holdfast.placement('PUT', `/allocations/${uuid}`, '1.28', sent)).status === 204) return
  }
}

/** Lets go of what a consumer has on one host and below it. */
export async function releaseTree(holdfast: Holdfast, uuid: string, root: string): Promise<void> {
  const { body } = await holdfast.placement('GET', `/resource_providers?in_tree=${root}`, '1.14')
  const tree = new Set<string>(body.resource_providers.map((each: Body) => each.uuid))
  const consumer = await holdfast.consumer(uuid)
  const left = Object.entries(consumer.allocations).filter(([provider]) => !tree.has(provider))
  const sent = { ...consumer, allocations: bareOf(Object.fromEntries(left)) }
  await holdfast.placement('PUT', `/allocations/${uuid}`, '1.28', sent)
}

/** Without the generations that answers have. */
const bareOf = (allocations: Allocations): Allocations =>
  Object.fromEntries(Object.entries(allocations).map(([uuid, { resources }]) => [uuid, { resources }]))

const codeOf = (body: Body): string | undefined => body?.errors?.[0]?.code
