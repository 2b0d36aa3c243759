// What differs between the two sides of a move: pure functions over what was read.
import type { Inventory } from '../../client/index.ts'
import type { Amounts, ConsumerState, ProviderRow, ProviderState } from './placement.ts'

export const KINDS = ['class', 'trait', 'provider', 'consumer'] as const

/** One thing that both sides should have, by its name or uuid. */
export interface Thing {
  kind: (typeof KINDS)[number]
  id: string
}

/** A field of a thing that isn't the same on both sides. */
export interface Difference extends Thing {
  /** What people call it. */
  name: string
  field: string
  from: unknown
  to: unknown
}

export const isCustom = (name: string) => name.startsWith('CUSTOM_')

/** The target lacks it. */
export const absent = (thing: Thing, name = thing.id): Difference => ({
  ...thing,
  name,
  field: 'it',
  from: 'there',
  to: 'absent',
})

/** Only the target has it. */
const extra = (thing: Thing, name = thing.id): Difference => ({
  ...thing,
  name,
  field: 'it',
  from: 'absent',
  to: 'there',
})

export function providerDifferences(from: ProviderState | null, to: ProviderState | null): Difference[] {
  const thing = { kind: 'provider', id: (from ?? to)?.uuid ?? '' } as const
  const name = (from ?? to)?.name ?? ''
  if (!from) return to ? [extra(thing, name)] : []
  if (!to) return [absent(thing, name)]
  return compare({ ...thing, name }, fieldsOf(from), fieldsOf(to))
}

/** `comparesTypes` if both sides know the types of consumers. */
export function consumerDifferences(
  id: string,
  from: ConsumerState | null,
  to: ConsumerState | null,
  comparesTypes: boolean,
): Difference[] {
  const thing = { kind: 'consumer', id } as const
  if (!from) return to ? [extra(thing)] : []
  if (!to) return [absent(thing)]
  const fields = ({ resources, project, user, type }: ConsumerState) => ({
    ...Object.fromEntries(Object.entries(resources).map(([provider, amounts]) => [`of ${provider}`, sorted(amounts)])),
    project,
    user,
    ...(comparesTypes && { type }),
  })
  return compare({ ...thing, name: id }, fields(from), fields(to))
}

type Fields = Record<string, unknown>

function compare(thing: Omit<Difference, 'field' | 'from' | 'to'>, from: Fields, to: Fields): Difference[] {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])]
  return names
    .filter(name => JSON.stringify(from[name] ?? null) !== JSON.stringify(to[name] ?? null))
    .map(field => ({ ...thing, field, from: from[field] ?? null, to: to[field] ?? null }))
}

const fieldsOf = ({ name, parent, inventories, traits, aggregates }: ProviderState): Fields => ({
  name,
  parent,
  ...Object.fromEntries(Object.entries(inventories).map(([name, terms]) => [name, termsOf(terms)])),
  traits: traits.toSorted(),
  aggregates: aggregates.toSorted(),
})

/** Placement keeps ratios in single precision on some databases. */
const DIGITS = 6

const termsOf = ({ total, reserved, min_unit, max_unit, step_size, allocation_ratio }: Inventory) => ({
  total,
  reserved,
  min_unit,
  max_unit,
  step_size,
  allocation_ratio: Number(allocation_ratio.toPrecision(DIGITS)),
})

/** The same amounts of the same classes. */
export const isSameAmounts = (a: Amounts | undefined, b: Amounts | undefined): boolean =>
  a !== undefined && b !== undefined && JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))

const sorted = (amounts: Amounts) =>
  Object.fromEntries(Object.entries(amounts).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** The parts of a provider that must be written; all of one that is absent. */
export function partsToWrite(from: ProviderState, to: ProviderState | null) {
  const parts = { inventories: to?.inventories ?? {}, traits: to?.traits ?? [], aggregates: to?.aggregates ?? [] }
  const before = { ...from, ...parts }
  const isSame = (part: keyof typeof parts) =>
    providerDifferences({ ...before, [part]: from[part] }, before).length === 0
  return (Object.keys(parts) as (keyof typeof parts)[]).filter(part => !isSame(part))
}

/** Level by level, each parent before its children. A parent that isn't listed counts as there. */
export function levelsOf<P extends ProviderRow>(providers: readonly P[]): P[][] {
  const byUuid = new Map(providers.map(provider => [provider.uuid, provider]))
  const depths = new Map<string, number>()
  const depthOf = (provider: P): number => {
    const path: string[] = []
    let at: P | undefined = provider
    while (at && !depths.has(at.uuid)) {
      // Also ends a circle, which no Placement has.
      depths.set(at.uuid, 0)
      path.push(at.uuid)
      at = at.parent === null ? undefined : byUuid.get(at.parent)
    }
    let depth = at ? depths.get(at.uuid)! : -1
    for (const uuid of path.toReversed()) depths.set(uuid, ++depth)
    return depths.get(provider.uuid)!
  }
  const groups = Map.groupBy(providers, depthOf)
  return [...groups.keys()].toSorted((a, b) => a - b).map(depth => groups.get(depth)!)
}
