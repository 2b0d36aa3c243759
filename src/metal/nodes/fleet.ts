// The nodes in memory, for matching allocations and for lists. Each commit here updates them; on PostgreSQL the feed brings the
// changes of other processes. Whether a node is claimed is in the ledger's candidate table.
import { limits } from '../../shared/limits.ts'
import type { Change } from '../../store/change.ts'
import type { NodeId, ProviderId } from '../../store/schema/ids.ts'
import type { PowerState, State } from '../../store/schema/states.ts'
import { type Query, query } from '../../store/statement.ts'
import type { ReadOptions, Store } from '../../store/store.ts'
import { all } from '../../store/transaction.ts'
import { NodesInOrder } from './nodes-in-order.ts'
import { isUsable } from './states.ts'

/** The columns of a node that a search needs. */
export interface FleetNode {
  id: NodeId
  uuid: string
  provider_id: ProviderId
  name: string | null
  resource_class: string | null
  placement_class: string
  provision_state: State
  power_state: PowerState | null
  maintenance: 0 | 1
  retired: 0 | 1
  instance_uuid: string | null
  owner: string | null
  lessee: string | null
  leasable: 0 | 1
  pledged_at: number | null
  parent_node: string | null
  revision: number
}

export function fleetNode(row: FleetNode): FleetNode {
  const { id, uuid, provider_id, name, resource_class, placement_class, provision_state, power_state } = row
  const { maintenance, retired, instance_uuid, owner, lessee, leasable, pledged_at, parent_node, revision } = row
  const place = { id, uuid, provider_id, name, resource_class, placement_class }
  const state = { provision_state, power_state, maintenance, retired, instance_uuid }
  return { ...place, ...state, owner, lessee, leasable, pledged_at, parent_node, revision }
}

const COLUMNS = [
  'id',
  'uuid',
  'provider_id',
  'name',
  'resource_class',
  'placement_class',
  'provision_state',
  'power_state',
  'maintenance',
  'retired',
  'instance_uuid',
  'owner',
  'lessee',
  'leasable',
  'pledged_at',
  'parent_node',
  'revision',
] as const

const everyNode = query((db, _: object) => db.selectFrom('nodes').select(COLUMNS).orderBy('id'))
const nodesOfProviders = query((db, a: { providers: readonly ProviderId[] }, on) =>
  db
    .selectFrom('nodes')
    .select(COLUMNS)
    .where(on.isIn('provider_id', a.providers, 'bigint')),
)

/** Whether the node itself is free. Only the ledger knows whether it is claimed. */
export const isOpen = (node: FleetNode): boolean =>
  isUsable(node) && node.power_state !== null && node.instance_uuid === null

/** The nodes of one resource class. */
interface ClassNodes {
  all: Map<NodeId, FleetNode>
  open: OpenNodes
}

/** A list for random picks: add, remove and pick by index, each in constant time. */
class OpenNodes {
  readonly list: FleetNode[] = []
  readonly #places = new Map<NodeId, number>()

  put(node: FleetNode): void {
    const place = this.#places.get(node.id) ?? this.list.length
    this.#places.set(node.id, place)
    this.list[place] = node
  }

  delete(id: NodeId): void {
    const place = this.#places.get(id)
    if (place === undefined) return
    this.#places.delete(id)
    const last = this.list.pop()!
    if (last.id === id) return
    this.list[place] = last
    this.#places.set(last.id, place)
  }
}

const NONE: ClassNodes = { all: new Map(), open: new OpenNodes() }

export class Fleet {
  /** Grows with each change of a node. */
  version = 0
  readonly #store: Store
  readonly #byProvider = new Map<ProviderId, FleetNode>()
  readonly #byUuid = new Map<string, FleetNode>()
  readonly #byName = new Map<string, FleetNode>()
  readonly #classes = new Map<string, ClassNodes>()
  readonly #inOrder = new NodesInOrder<FleetNode>()
  /** For each read under way: the providers whose nodes were deleted since it began. A provider never comes back. */
  readonly #goneDuring = new Set<Set<ProviderId>>()
  /** Providers whose nodes were deleted lately, the oldest first. SQLite may give their ids to others. */
  readonly #gone = new Set<ProviderId>()
  /** Nodes that the database may have put back to an older state: any that is read is newer. */
  #doubted = new Set<ProviderId>()
  #heardGone: (id: NodeId) => void = () => {}

  constructor(store: Store) {
    this.#store = store
  }

  /** `isAnew`: the database may have lost what is known. */
  load(isAnew = false): Promise<void> {
    // A database that was restored may use their ids again.
    this.#gone.clear()
    if (isAnew) this.#doubted = new Set(this.#byProvider.keys())
    return this.#read([...this.#byProvider.keys()], everyNode({}), { isLoad: true })
  }

  /** Applies what this process has committed. If the answer came after the node was deleted, the database is asked. */
  absorb(changes: readonly Change[]): void | Promise<void> {
    const doubted: ProviderId[] = []
    for (const change of changes) {
      if (!('attached' in change) || change.room !== 'metal') continue
      if (change.attached === null) this.#drop(change.provider)
      else if (this.#gone.has(change.provider)) doubted.push(change.provider)
      else this.#put(change.attached as FleetNode)
    }
    if (doubted.length > 0) return this.refresh(doubted)
  }

  /** Reads the nodes of these providers again. */
  async refresh(providers: Iterable<ProviderId>): Promise<void> {
    const wanted = [...providers]
    const known = wanted.filter(provider => this.#byProvider.has(provider))
    await this.#read(known, nodesOfProviders({ providers: wanted }))
  }

  /** Commits go on meanwhile: only nodes known before may be dropped as missing, and deleted ones don't come back. */
  async #read(known: readonly ProviderId[], wanted: Query<FleetNode>, options: ReadOptions = {}): Promise<void> {
    const gone = new Set<ProviderId>()
    this.#goneDuring.add(gone)
    try {
      const found = await this.#store.read(() => all(wanted), options)
      const there = new Set(found.map(node => node.provider_id))
      for (const provider of known) if (!there.has(provider)) this.#drop(provider)
      for (const node of found) if (!gone.has(node.provider_id)) this.#put(node)
    } finally {
      this.#goneDuring.delete(gone)
    }
  }

  /** Sets who is told of nodes that were deleted. */
  onGone(heard: (id: NodeId) => void): void {
    this.#heardGone = heard
  }

  get size(): number {
    return this.#byProvider.size
  }

  nodes(): Iterable<FleetNode> {
    return this.#byProvider.values()
  }

  /** All nodes, in the order of their ids. */
  get inOrder(): Pick<NodesInOrder<FleetNode>, 'after'> & { readonly list: readonly FleetNode[] } {
    return this.#inOrder
  }

  ofProvider(provider: ProviderId): FleetNode | undefined {
    return this.#byProvider.get(provider)
  }

  withUuid(uuid: string): FleetNode | undefined {
    return this.#byUuid.get(uuid)
  }

  named(name: string): FleetNode | undefined {
    return this.#byName.get(name)
  }

  ofClass(resourceClass: string): Iterable<FleetNode> {
    return (this.#classes.get(resourceClass) ?? NONE).all.values()
  }

  /** The open nodes of the class, in no particular order. */
  openOf(resourceClass: string): readonly FleetNode[] {
    return (this.#classes.get(resourceClass) ?? NONE).open.list
  }

  #put(node: FleetNode): void {
    const before = this.#byProvider.get(node.provider_id)
    const isDoubted = this.#doubted.delete(node.provider_id)
    if (before && !isDoubted && before.revision > node.revision) return
    this.version++
    this.#gone.delete(node.provider_id)
    if (before) this.#remove(before.provider_id)
    this.#inOrder.put(node)
    this.#byProvider.set(node.provider_id, node)
    this.#byUuid.set(node.uuid, node)
    if (node.name !== null) this.#byName.set(node.name, node)
    if (node.resource_class === null) return
    const kin = this.#classes.getOrInsertComputed(node.resource_class, () => ({
      all: new Map(),
      open: new OpenNodes(),
    }))
    kin.all.set(node.id, node)
    if (isOpen(node)) kin.open.put(node)
  }

  #drop(provider: ProviderId): void {
    this.version++
    for (const gone of this.#goneDuring) gone.add(provider)
    this.#gone.add(provider)
    if (this.#gone.size > limits.goneNodesMax) this.#gone.delete(this.#gone.values().next().value!)
    const node = this.#byProvider.get(provider)
    if (node) {
      this.#inOrder.delete(node.id)
      this.#heardGone(node.id)
    }
    this.#remove(provider)
  }

  #remove(provider: ProviderId): void {
    const node = this.#byProvider.get(provider)
    if (!node) return
    this.#byProvider.delete(provider)
    if (this.#byUuid.get(node.uuid) === node) this.#byUuid.delete(node.uuid)
    if (node.name !== null && this.#byName.get(node.name) === node) this.#byName.delete(node.name)
    if (node.resource_class === null) return
    const kin = this.#classes.get(node.resource_class)!
    kin.all.delete(node.id)
    kin.open.delete(node.id)
    if (kin.all.size === 0) this.#classes.delete(node.resource_class)
  }
}
