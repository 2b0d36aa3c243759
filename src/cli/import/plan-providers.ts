// Plans the changes to providers, and to the hosts of the reservation pool.
import type { Host, Inventory, Provider } from '../../client/index.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import type { Fleet, HostEntry, ProviderEntry } from './document.ts'
import { TERMS } from './members.ts'
import { clash, fileAndLine, type Mistake, mistake } from './mistake.ts'
import { unknownTraits } from './plan-nodes.ts'
import { capabilitiesOf, keptProviders, type Present, type ProviderDetails } from './present.ts'
import { actionFor, isSameSet, type Step } from './step.ts'

/** null means no change. */
export interface ProviderStep extends Step {
  kind: 'provider'
  /** null for a new provider. */
  uuid: string | null
  /** The uuid that the file gives. */
  givenUuid: string | null
  /** How many of its ancestors are in the file too. */
  depth: number
  isRenamed: boolean
  /** A name or a uuid; null for a root, undefined for no change. */
  parent: string | null | undefined
  /** The inventories that change, with the members that the file names. */
  inventories: Record<string, Partial<Inventory>> | null
  traits: string[] | null
  aggregates: string[] | null
}

export interface HostStep extends Step {
  kind: 'host'
  /** null for a new host. */
  id: string | null
  capabilities: Record<string, string>
}

const NO_DETAILS: ProviderDetails = { inventories: {}, traits: [], aggregates: [] }

export function planProviders(present: Present, fleet: Fleet, mistakes: Mistake[]): ProviderStep[] {
  const byUuid = new Map(present.providers.map(provider => [provider.uuid, provider]))
  const byName = new Map(present.providers.map(provider => [provider.name, provider]))
  const kept = keptProviders(present)
  const parents = new Parents(present, fleet)
  const found = new Map<string, ProviderEntry>()
  const steps = fleet.providers.flatMap(entry => {
    const { at, uuid, name } = entry
    if (uuid === null && name === null) return []
    const namesake = name === null ? undefined : byName.get(name)
    const provider = uuid === null ? namesake : byUuid.get(uuid)
    if (namesake && namesake !== provider) {
      mistakes.push(clash(at('name'), `${name} is the name of provider ${namesake.uuid} already`))
    }
    if (!provider && name === null && !entry.isFlawed) mistakes.push(mistake(at(), 'is a new provider and has no name'))
    const before = provider && found.getOrInsert(provider.uuid, entry)
    if (before && before !== entry) {
      mistakes.push(clash(at(), `is provider ${provider.uuid}, as is ${fileAndLine(before.at())}`))
    }
    if (provider && kept.has(provider.uuid)) mistakes.push(clash(at(), kept.get(provider.uuid)!))
    mistakes.push(...parents.mistakesOf(entry))
    const details = (provider && present.details.get(provider.uuid)) ?? NO_DETAILS
    mistakes.push(...unknownTraits(entry, present.traits), ...wrongInventories(entry, details, present.classes))
    return stepFor(entry, provider, details, parents)
  })
  return steps.sort((a, b) => a.depth - b.depth)
}

function stepFor(
  entry: ProviderEntry,
  provider: Provider | undefined,
  details: ProviderDetails,
  parents: Parents,
): ProviderStep {
  const inventories = changedInventories(entry, details)
  const name = entry.name ?? provider?.name ?? entry.uuid!
  const isMoved = entry.parent !== undefined && !parents.isBelow(provider, entry.parent)
  const changes = {
    isRenamed: provider !== undefined && name !== provider.name,
    parent: isMoved ? entry.parent : undefined,
    inventories: Object.keys(inventories).length > 0 ? inventories : null,
    traits: entry.traits && !isSameSet(entry.traits, details.traits) ? entry.traits : null,
    aggregates: entry.aggregates && !isSameSet(entry.aggregates, details.aggregates) ? entry.aggregates : null,
  }
  const fields = [
    ...(changes.isRenamed || !provider ? ['name'] : []),
    ...(changes.parent !== undefined ? ['parent'] : []),
    ...Object.keys(inventories).map(name => `inventories.${name}`),
    ...(changes.traits ? ['traits'] : []),
    ...(changes.aggregates ? ['aggregates'] : []),
  ]
  return {
    kind: 'provider',
    action: actionFor(!provider, fields),
    name,
    fields,
    uuid: provider?.uuid ?? null,
    givenUuid: entry.uuid,
    depth: parents.depthOf(entry),
    ...changes,
  }
}

function changedInventories({ inventories }: ProviderEntry, details: ProviderDetails) {
  const isNews = ([name, terms]: [string, Partial<Inventory>]) => {
    const before = details.inventories[name]
    return !before || TERMS.some(term => terms[term] !== undefined && terms[term] !== before[term])
  }
  return Object.fromEntries(Object.entries(inventories ?? {}).filter(isNews))
}

function wrongInventories(
  { at, inventories, isFlawed }: ProviderEntry,
  details: ProviderDetails,
  classes: Present['classes'],
): Mistake[] {
  return Object.entries(inventories ?? {}).flatMap(([name, terms]) => {
    const place = at('inventories', name)
    const { total, reserved = 0 } = { ...details.inventories[name], ...terms }
    if (!name.startsWith('CUSTOM_') && classes?.has(name) !== true) {
      return clash(place, "is no standard resource class, and doesn't begin with CUSTOM_")
    }
    if (total === undefined) return isFlawed ? [] : mistake(place, 'is new and has no total')
    return reserved > total ? mistake(place, `reserves ${reserved} of ${total}`) : []
  })
}

/** The parents of providers, in the file and on the server. */
class Parents {
  readonly #entries = new Map<string, ProviderEntry>()
  readonly #providers = new Map<string, Provider>()
  readonly #nodes: ReadonlySet<string>

  constructor({ providers }: Present, fleet: Fleet) {
    this.#nodes = new Set(fleet.nodes.flatMap(({ uuid }) => uuid ?? []))
    for (const provider of providers) {
      this.#providers.set(provider.uuid, provider)
      this.#providers.set(provider.name, provider)
    }
    for (const entry of fleet.providers) {
      if (entry.name !== null) this.#entries.set(entry.name, entry)
      if (entry.uuid !== null) this.#entries.set(entry.uuid, entry)
    }
  }

  #entryOf = (ident: string) => this.#entries.get(ident) ?? this.#entries.get(canonicalUuid(ident) ?? '')
  #providerOf = (ident: string) => this.#providers.get(ident) ?? this.#providers.get(canonicalUuid(ident) ?? '')

  /** Its ancestors in the file; null if they form a cycle. */
  #above(entry: ProviderEntry): ProviderEntry[] | null {
    const above: ProviderEntry[] = []
    for (let at: ProviderEntry | undefined = entry; typeof at?.parent === 'string';) {
      at = this.#entryOf(at.parent)
      if (at === entry || above.length > this.#entries.size) return null
      if (at) above.push(at)
    }
    return above
  }

  depthOf = (entry: ProviderEntry) => this.#above(entry)?.length ?? 0

  mistakesOf(entry: ProviderEntry): Mistake[] {
    const { at, parent } = entry
    if (typeof parent !== 'string') return []
    if (!this.#entryOf(parent) && !this.#providerOf(parent) && !this.#nodes.has(canonicalUuid(parent) ?? '')) {
      return [clash(at('parent'), `there is no provider ${parent}, neither here nor on the server`)]
    }
    return this.#above(entry) === null ? [mistake(at('parent'), 'is below itself')] : []
  }

  /** Whether the provider already has this parent. */
  isBelow(provider: Provider | undefined, parent: string | null): boolean {
    const above = provider?.parent_provider_uuid ?? null
    return parent === null ? above === null : above !== null && this.#providerOf(parent)?.uuid === above
  }
}

export function planHosts(present: Present, fleet: Fleet, mistakes: Mistake[]): HostStep[] {
  const byName = new Map(present.hosts.map(host => [host.hypervisor_hostname, host]))
  const isHypervisor = hypervisorsAfter(present, fleet)
  return fleet.hosts.map(entry => {
    const host = byName.get(entry.name)
    if (!host && !isHypervisor(entry.name)) {
      const says = 'there is no hypervisor of this name: a provider without a parent that has VCPU'
      mistakes.push(clash(entry.at('name'), says))
    }
    return hostStep(entry, host)
  })
}

function hostStep({ name, capabilities }: HostEntry, host: Host | undefined): HostStep {
  const before = host ? capabilitiesOf(host) : {}
  const changed = Object.entries(capabilities).filter(([key, value]) => before[key] !== value)
  const fields = changed.map(([key]) => `capabilities.${key}`)
  return {
    kind: 'host',
    action: actionFor(!host, fields),
    name,
    fields,
    id: host?.id ?? null,
    capabilities: Object.fromEntries(changed),
  }
}

/** Tells which names will be hypervisors after the import of the file's providers. */
function hypervisorsAfter(present: Present, { providers }: Fleet): (name: string) => boolean {
  const kept = keptProviders(present)
  const entries = new Map(providers.flatMap(entry => (entry.name === null ? [] : [[entry.name, entry] as const])))
  return name => {
    const entry = entries.get(name)
    const provider = present.providers.find(one => one.name === name || one.uuid === entry?.uuid)
    // Its mistakes are reported already.
    if (entry?.isFlawed) return true
    const parent = entry?.parent === undefined ? (provider?.parent_provider_uuid ?? null) : entry.parent
    const classes = { ...(provider && present.details.get(provider.uuid)?.inventories), ...entry?.inventories }
    return parent === null && Object.hasOwn(classes, 'VCPU') && !(provider && kept.has(provider.uuid))
  }
}
