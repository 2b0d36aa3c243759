// Reads nodes for clients: from memory when it surely has all that is committed, and else from the database. So nothing
// old is ever shown, in any process.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { problem } from '../../problems/problem.ts'
import type { Store } from '../../store/store.ts'
import type { Access, View } from '../access.ts'
import type { Fleet, FleetNode } from './fleet.ts'
import { KeptPages, type NodePage } from './kept-pages.ts'
import { type ListedKey, listNodeKeys, type NodeFilter, type Page, type TraitFilter } from './list.ts'
import { findNodeKey } from './rows.ts'
import type { NodeShelf, ShelvedNode } from './shelf.ts'

interface NodeReaderOptions {
  store: Store
  fleet: Fleet
  shelf: NodeShelf
  /** Whether the fleet surely has all that was committed before the call. */
  isFresh: () => Promise<boolean>
}

interface Wanted {
  view: View
  filter: NodeFilter
  traits: TraitFilter
  page: Page
}

const notFound = (name: string) => problem('metal_not_found', { what: 'Node', name })

export class NodeReader {
  readonly #store: Store
  readonly #fleet: Fleet
  readonly #shelf: NodeShelf
  readonly #isFresh: () => Promise<boolean>
  readonly #kept: KeptPages

  constructor({ store, fleet, shelf, isFresh }: NodeReaderOptions) {
    this.#store = store
    this.#fleet = fleet
    this.#shelf = shelf
    this.#isFresh = isFresh
    this.#kept = new KeptPages(fleet)
    fleet.onGone(id => shelf.forget(id))
  }

  /** The node of this uuid or name. */
  async one(ident: string, access: Access, now: number): Promise<ShelvedNode> {
    if (await this.#isFresh()) {
      const uuid = canonicalUuid(ident)
      const key = uuid ? this.#fleet.withUuid(uuid) : this.#fleet.named(ident)
      if (!key || !isInView(key, access.view)) throw notFound(ident)
      access.permit(key)
      const [node] = await this.#fetch([key], now)
      // Looked at again: it may have been read anew, and be others' now.
      if (!node || !isInView(node, access.view)) throw notFound(ident)
      access.permit(node)
      return node
    }
    const shelf = this.#shelf
    const [node] = await this.#store.read(function* () {
      return yield* shelf.fetch([yield* findNodeKey(ident, access)], now)
    })
    return node!
  }

  async list(wanted: Wanted, now: number): Promise<NodePage> {
    const { view, filter, traits, page } = wanted
    const matches = page.sortKey === 'id' ? matcherOf(view, filter, traits) : null
    if (matches && (await this.#isFresh())) {
      const wish = JSON.stringify([view, filter, page])
      return this.#kept.get(wish, now) ?? (await this.#find(wish, wanted, matches, now))
    }
    const shelf = this.#shelf
    const { keys, parts, nodes } = await this.#store.read(function* () {
      const keys = yield* listNodeKeys(view, filter, traits, page, now)
      const parts = yield* shelf.parts(keys.slice(0, page.limit), now)
      return { keys, parts, nodes: parts.length > 1 ? null : yield* shelf.fetch(parts.flat(), now) }
    })
    // What was read later may be others' by now.
    const found = nodes ?? (await this.#fetchParts(parts, now)).filter(node => isInView(node, view))
    return { nodes: found, marker: keys.length > page.limit ? (found.at(-1)?.uuid ?? null) : null }
  }

  async #find(wish: string, { view, page }: Wanted, matches: Matcher, now: number): Promise<NodePage> {
    const { version } = this.#fleet
    const keys = this.#keysOf(matches, view, page)
    const found = await this.#fetch(keys.slice(0, page.limit), now)
    // Those that were read anew may no longer match. Behind one that is gone all are looked at again.
    const nodes = found.filter((node, i) => isSame(node, keys[i]!) || matches(node))
    const shown = { nodes, marker: keys.length > page.limit ? keys.at(-2)!.uuid : null }
    this.#kept.keep(wish, shown, version)
    return shown
  }

  /** Those that are gone by now are left out. */
  async #fetch(keys: readonly FleetNode[], now: number): Promise<ShelvedNode[]> {
    const known = this.#shelf.known(keys, now)
    if (known !== null) return known
    const shelf = this.#shelf
    const { parts, nodes } = await this.#store.read(function* () {
      const parts = yield* shelf.parts(keys, now)
      return { parts, nodes: parts.length > 1 ? null : yield* shelf.fetch(keys, now) }
    })
    return nodes ?? (await this.#fetchParts(parts, now))
  }

  /** Each part in a turn of its own. */
  async #fetchParts(parts: readonly (readonly ListedKey[])[], now: number): Promise<ShelvedNode[]> {
    const found: ShelvedNode[] = []
    for (const part of parts) {
      found.push(...(await this.#store.read(() => this.#shelf.fetch(part, now))))
      await nextTurn()
    }
    return found
  }

  /** The nodes of a page, and one more when there is a next page. */
  #keysOf(matches: Matcher, view: View, { marker, descending, limit }: Page): FleetNode[] {
    const { inOrder } = this.#fleet
    const last = marker === null ? null : this.#fleet.withUuid(marker)
    if (last === undefined || (last && !isInView(last, view))) throw notFound(marker!)
    const { list } = inOrder
    const keys: FleetNode[] = []
    const step = descending ? -1 : 1
    let at = descending ? list.length - 1 : 0
    if (last) at = descending ? inOrder.after(last.id) - 2 : inOrder.after(last.id)
    for (; at >= 0 && at < list.length && keys.length <= limit; at += step) {
      const node = list[at]!
      if (matches(node)) keys.push(node)
    }
    return keys
  }
}

const isSame = (a: FleetNode, b: FleetNode): boolean => a.id === b.id && a.revision === b.revision

const isInView = ({ owner, lessee }: FleetNode, { all, project }: View): boolean =>
  all === 1 || (project !== null && (owner === project || lessee === project))

type Matcher = (node: FleetNode) => boolean

/** Filters that compare a field which the fleet has. */
const COMPARED = ['instance_uuid', 'lessee', 'maintenance', 'owner', 'parent_node'] as const
const ALSO_COMPARED = ['provision_state', 'resource_class', 'retired'] as const
/** Filters that the fleet can decide in other ways. */
const DECIDED = new Set<string>([...COMPARED, ...ALSO_COMPARED, 'associated', 'project', 'include_children'])

/** Says which nodes a list has; null when only the database knows. */
function matcherOf(view: View, filter: NodeFilter, traits: TraitFilter): Matcher | null {
  if (Object.values(traits).some(names => names !== null)) return null
  const given = Object.entries(filter).filter(([, value]) => value !== null)
  if (given.some(([name]) => !DECIDED.has(name))) return null
  const { associated, project, include_children: hasChildren, parent_node: parent } = filter
  const equal = [...COMPARED, ...ALSO_COMPARED].filter(name => filter[name] !== null)
  const isWithChildren = hasChildren === 1 || parent !== null
  return node =>
    (isWithChildren || node.parent_node === null) &&
    (view.all === 1 || isInView(node, view)) &&
    (associated === null || (node.instance_uuid !== null) === (associated === 1)) &&
    (project === null || node.owner === project || node.lessee === project) &&
    equal.every(name => node[name] === filter[name])
}
