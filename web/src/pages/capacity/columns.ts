// The columns of the tree: what most hosts have, the rest together.
import { isOfLease, type Use } from '../../data/capacity-tree.ts'
import { words } from '../../words.ts'

export interface Column {
  title: string
  has: (resource: string) => boolean
  /** Whether it shows several resources: then each has its name. */
  isMixed: boolean
  /** Of the row, in rem. */
  width: number
}

const FIRST = ['VCPU', 'PCPU', 'MEMORY_MB', 'DISK_GB', 'PGPU', 'VGPU']

/** Those that everybody knows first, the others by name. */
export const inOrder = (a: string, b: string): number => {
  const [first, second] = [FIRST.indexOf(a), FIRST.indexOf(b)]
  if (first >= 0 || second >= 0) return (first < 0 ? FIRST.length : first) - (second < 0 ? FIRST.length : second)
  return a < b ? -1 : 1
}

export function columnsFor(resources: ReadonlySet<string>): Column[] {
  const { memory, disk, gpu, other } = words.capacity
  const one = (title: string, names: readonly string[], width: number): Column => ({
    title,
    has: name => names.includes(name),
    isMixed: names.filter(name => resources.has(name)).length > 1,
    width,
  })
  const known = [
    one('VCPU', ['VCPU'], 8.5),
    one(memory, ['MEMORY_MB'], 11),
    one(disk, ['DISK_GB'], 10.5),
    one(gpu, ['PGPU', 'VGPU'], 10),
  ].filter(({ has }) => resources.values().some(has))
  const rest: Column = {
    title: other,
    has: name => !isOfLease(name) && !known.some(({ has }) => has(name)),
    isMixed: true,
    width: 12,
  }
  return resources.values().some(rest.has) ? [...known, rest] : known
}

export const usesIn = (column: Column, sums: ReadonlyMap<string, Use>): [string, Use][] =>
  [...sums].filter(([name]) => column.has(name)).toSorted(([a], [b]) => inOrder(a, b))
