// Compares a consumer's claims with the ones it asks for, and checks that the providers have room. Pure.
import type { Inventory } from '../../client/index.ts'

type Amounts = Readonly<Record<string, number>>
export type ByProvider = Readonly<Record<string, Amounts>>

export interface Stock {
  name: string
  inventories: Readonly<Record<string, Inventory>>
  /** Usage by all consumers, including this one. */
  usages: Amounts
}

interface Change {
  provider: string
  resource_class: string
  before: number
  after: number
  /** Usage by all consumers after the change. */
  used: number
  capacity: number
  /** Why the server would refuse it; null if it would not. */
  obstacle: string | null
}

/** One change for each provider and class in either claim. `stocks` must have all of these providers. */
export function changesOf(before: ByProvider, after: ByProvider, stocks: ReadonlyMap<string, Stock>): Change[] {
  const providers = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return providers.flatMap(uuid => {
    const [had, wanted, stock] = [before[uuid] ?? {}, after[uuid] ?? {}, stocks.get(uuid)!]
    const classes = [...new Set([...Object.keys(had), ...Object.keys(wanted)])]
    return classes.map(name => changeOf(stock, name, had[name] ?? 0, wanted[name] ?? 0))
  })
}

function changeOf({ name, inventories, usages }: Stock, resource_class: string, before: number, after: number): Change {
  const inventory = inventories[resource_class]
  const capacity = inventory ? Math.floor((inventory.total - inventory.reserved) * inventory.allocation_ratio) : 0
  const used = (usages[resource_class] ?? 0) - before + after
  const obstacle = after === 0 ? null : obstacleTo(after, used, capacity, inventory)
  return { provider: name, resource_class, before, after, used, capacity, obstacle }
}

function obstacleTo(amount: number, used: number, capacity: number, inventory: Inventory | undefined): string | null {
  if (!inventory) return 'it has none'
  const { min_unit, max_unit, step_size } = inventory
  if (amount < min_unit) return `at least ${min_unit} at once`
  if (amount > max_unit) return `at most ${max_unit} at once`
  if (amount % step_size !== 0) return `only in steps of ${step_size}`
  return used > capacity ? `${used} of ${capacity} would be used` : null
}
