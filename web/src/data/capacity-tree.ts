// Providers as trees, apart from signals: what each subtree has and uses, and which rows are shown.
import type { CapacityProvider } from '../../../src/client/capacity.ts'

/** Used, and how much there is. */
export type Use = readonly [used: number, capacity: number]

export interface Branch {
  provider: CapacityProvider
  /** Without what it shares with its parent: `numa0` of `gpu-host-03_numa0`. */
  name: string
  depth: number
  root: string
  children: Branch[]
  /** Of the whole subtree. */
  sums: ReadonlyMap<string, Use>
  /** Of the whole subtree. */
  traits: ReadonlySet<string>
}

const orderOf = (name: string) => name.replaceAll(/\d+/g, digits => digits.padStart(9, '0'))

export function treesOf(providers: readonly CapacityProvider[]): Branch[] {
  const known = new Set(providers.map(({ uuid }) => uuid))
  const below = Map.groupBy(providers, ({ parent }) => (parent !== null && known.has(parent) ? parent : ''))
  const ordered = (list: readonly CapacityProvider[] = []) =>
    list.toSorted((a, b) => (orderOf(a.name) < orderOf(b.name) ? -1 : 1))
  const branch = (provider: CapacityProvider, parent: Branch | null): Branch => {
    const name = parent === null ? provider.name : shortName(provider.name, parent.provider.name)
    const [depth, root] = parent === null ? [0, provider.uuid] : [parent.depth + 1, parent.root]
    const own: Branch = { provider, name, depth, root, children: [], sums: new Map(), traits: new Set() }
    own.children = ordered(below.get(provider.uuid)).map(child => branch(child, own))
    own.sums = sumsOf([new Map(Object.entries(provider.inventories)), ...own.children.map(({ sums }) => sums)])
    own.traits = new Set([...provider.traits, ...own.children.flatMap(({ traits }) => [...traits])])
    return own
  }
  return ordered(below.get('')).map(provider => branch(provider, null))
}

function shortName(name: string, parent: string): string {
  if (!name.startsWith(parent)) return name
  return name.slice(parent.length).replace(/^[^a-zA-Z0-9]+/, '') || name
}

export function sumsOf(all: readonly ReadonlyMap<string, Use>[]): Map<string, Use> {
  const sums = new Map<string, Use>()
  for (const one of all) {
    for (const [name, [used, capacity]] of one) {
      const [usedBefore, before] = sums.get(name) ?? [0, 0]
      sums.set(name, [usedBefore + used, before + capacity])
    }
  }
  return sums
}

/** The rows that are shown: those whose ancestors are all open. */
export function rowsOf(trees: readonly Branch[], isOpen: (uuid: string) => boolean): Branch[] {
  const rows: Branch[] = []
  const add = (branch: Branch) => {
    rows.push(branch)
    if (isOpen(branch.provider.uuid)) for (const child of branch.children) add(child)
  }
  for (const tree of trees) add(tree)
  return rows
}

/** The branches in which something is called so or has such a trait; with all above them, and below those that match. */
export function filteredTrees(trees: readonly Branch[], text: string): Branch[] {
  const sought = text.trim().toLowerCase()
  if (sought === '') return [...trees]
  const isIt = ({ provider: { name, uuid, traits, inventories } }: Branch) =>
    [name, uuid, ...traits, ...Object.keys(inventories)].some(one => one.toLowerCase().includes(sought))
  const kept = (branch: Branch): Branch | null => {
    if (isIt(branch)) return branch
    const children = branch.children.flatMap(child => kept(child) ?? [])
    return children.length > 0 ? { ...branch, children } : null
  }
  return trees.flatMap(tree => kept(tree) ?? [])
}

const GIB_MB = 1_024
const TIB_MB = 1_024 * GIB_MB

/** The class of what a lease gives out, which only the lease can have. */
export const isOfLease = (resource: string): boolean => resource.startsWith('CUSTOM_RESERVATION_')

/** `64 GiB` of 65536 MEMORY_MB; others are numbers. */
export function amountShown(resource: string, amount: number): string {
  if (amount === 0) return '0'
  if (resource === 'MEMORY_MB') {
    if (amount >= TIB_MB) return `${round(amount / TIB_MB)} TiB`
    return amount >= GIB_MB ? `${round(amount / GIB_MB)} GiB` : `${amount} MiB`
  }
  if (resource === 'DISK_GB') return amount >= 1_000 ? `${round(amount / 1_000)} TB` : `${amount} GB`
  return String(amount)
}
const round = (amount: number) => (amount >= 100 ? Math.round(amount) : Math.round(amount * 10) / 10)
