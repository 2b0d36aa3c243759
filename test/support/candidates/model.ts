// Test only: the rules of allocation candidates as plain loops over plain objects. Slow on purpose; the search must agree with it.
import type { CandidateRequest, Group } from '../../../src/ledger/candidates/request.ts'
import type { ProviderSnapshot } from '../../../src/ledger/candidates/table.ts'

export interface ModelCandidate {
  allocations: Record<string, Record<string, number>>
  mappings: Record<string, string[]>
}

interface Part {
  suffix: string
  /** [provider, class, amount] */
  takes: [ProviderSnapshot, string, number][]
  providers: ProviderSnapshot[]
}

export function modelCandidates(world: readonly ProviderSnapshot[], request: CandidateRequest): ModelCandidate[] {
  const found = new Map<string, ModelCandidate>()
  for (const anchor of world.filter(p => p.parentId === null)) {
    if (!request.rootRequired.every(trait => anchor.traits.includes(trait))) continue
    if (request.rootForbidden.some(trait => anchor.traits.includes(trait))) continue
    let combinations: Part[][] = [[]]
    for (const group of request.groups) {
      const parts = group.suffix === '' ? unsuffixedParts(world, anchor, group) : suffixedParts(world, anchor, group)
      combinations = combinations.flatMap(chosen => parts.map(part => [...chosen, part]))
    }
    for (const parts of combinations) {
      if (!followsPolicy(request, parts)) continue
      if (!request.sameSubtree.every(suffixes => inOneSubtree(world, parts, suffixes))) continue
      if (!fitsTogether(parts)) continue
      if (!request.nested && usesTwoOfATree(parts)) continue
      if (!isHandedOut(parts)) continue
      const candidate = merge(parts)
      found.set(canonical(candidate), candidate)
    }
  }
  return [...found.values()]
}

const sorted = <T>(record: Record<string, T>): [string, T][] =>
  Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))

/** Equal text for equal candidates. */
export function canonical(candidate: ModelCandidate): string {
  return JSON.stringify([
    sorted(candidate.allocations).map(([uuid, amounts]) => [uuid, sorted(amounts)]),
    sorted(candidate.mappings).map(([suffix, uuids]) => [suffix, [...uuids].sort()]),
  ])
}

const shares = (p: ProviderSnapshot) => p.traits.includes('MISC_SHARES_VIA_AGGREGATE')
const inTreeOf = (p: ProviderSnapshot, root: ProviderSnapshot) => p.rootId === root.id

/** Whether the provider is in the anchor's tree, or shares with a provider of that tree. */
function reachable(world: readonly ProviderSnapshot[], anchor: ProviderSnapshot, p: ProviderSnapshot): boolean {
  if (inTreeOf(p, anchor)) return true
  const tree = world.filter(other => inTreeOf(other, anchor))
  return shares(p) && tree.some(other => other.aggregates.some(aggregate => p.aggregates.includes(aggregate)))
}

function has(p: ProviderSnapshot, resourceClass: string, amount: number): boolean {
  const inventory = p.inventories.find(one => one.resourceClass === resourceClass)
  if (inventory === undefined || inventory.blocked) return false
  const { total, reserved, allocationRatio, used, minUnit, maxUnit, stepSize } = inventory
  if (used + amount > (total - reserved) * allocationRatio) return false
  return minUnit <= amount && amount <= maxUnit && amount % stepSize === 0
}

const isMember = (p: ProviderSnapshot, memberOf: string[][]) =>
  memberOf.every(any => any.some(aggregate => p.aggregates.includes(aggregate)))
const isInAny = (p: ProviderSnapshot, aggregates: string[]) => aggregates.some(one => p.aggregates.includes(one))

function suffixedParts(world: readonly ProviderSnapshot[], anchor: ProviderSnapshot, group: Group): Part[] {
  const { resources, required, forbidden, memberOf, forbiddenAggregates, inTree } = group
  const named = world.find(p => p.uuid === inTree)
  if (inTree !== null && named === undefined) return []
  if (resources.length === 0 && required.length === 0 && memberOf.length === 0) return []
  return world
    .filter(p => reachable(world, anchor, p))
    .filter(p => resources.every(({ resourceClass, amount }) => has(p, resourceClass, amount)))
    .filter(p => required.every(any => any.some(trait => p.traits.includes(trait))))
    .filter(p => !forbidden.some(trait => p.traits.includes(trait)))
    .filter(p => isMember(p, memberOf) && !isInAny(p, forbiddenAggregates))
    .filter(p => named === undefined || resources.length === 0 || p.rootId === named.rootId)
    .map(p => ({
      suffix: group.suffix,
      takes: resources.map(({ resourceClass, amount }) => [p, resourceClass, amount]),
      providers: [p],
    }))
}

function unsuffixedParts(world: readonly ProviderSnapshot[], anchor: ProviderSnapshot, group: Group): Part[] {
  const { resources, required, forbidden, memberOf, forbiddenAggregates, inTree } = group
  const named = world.find(p => p.uuid === inTree)
  if (inTree !== null && (named === undefined || named.rootId !== anchor.id)) return []
  if (resources.length === 0) return []
  let choices: ProviderSnapshot[][] = [[]]
  for (const { resourceClass, amount } of resources) {
    const able = world
      .filter(p => reachable(world, anchor, p))
      .filter(p => has(p, resourceClass, amount))
      .filter(p => inTree === null || inTreeOf(p, anchor))
      .filter(p => isMember(p, memberOf) || (inTreeOf(p, anchor) && isMember(anchor, memberOf)))
      .filter(p => !isInAny(p, forbiddenAggregates) && !isInAny(anchor, forbiddenAggregates))
    choices = choices.flatMap(chosen => able.map(p => [...chosen, p]))
  }
  return choices
    .filter(chosen => required.every(any => any.some(trait => chosen.some(p => p.traits.includes(trait)))))
    .filter(chosen => !forbidden.some(trait => chosen.some(p => p.traits.includes(trait))))
    .map(chosen => ({
      suffix: '',
      takes: resources.map(({ resourceClass, amount }, i) => [chosen[i]!, resourceClass, amount]),
      providers: [...new Set(chosen)],
    }))
}

function followsPolicy(request: CandidateRequest, parts: Part[]): boolean {
  if (request.groupPolicy !== 'isolate') return true
  const suffixed = parts.filter(part => part.suffix !== '')
  return new Set(suffixed.map(part => part.providers[0])).size === suffixed.length
}

function inOneSubtree(world: readonly ProviderSnapshot[], parts: Part[], suffixes: string[]): boolean {
  const chosen = parts.filter(part => suffixes.includes(part.suffix)).flatMap(part => part.providers)
  const lineage = (p: ProviderSnapshot): ProviderSnapshot[] => {
    const parent = world.find(other => other.id === p.parentId)
    return parent === undefined ? [p] : [p, ...lineage(parent)]
  }
  return chosen.length === 0 || chosen.some(top => chosen.every(p => lineage(p).includes(top)))
}

function sums(parts: Part[]): Map<ProviderSnapshot, Map<string, number>> {
  const out = new Map<ProviderSnapshot, Map<string, number>>()
  for (const [p, resourceClass, amount] of parts.flatMap(part => part.takes)) {
    const amounts = out.get(p) ?? new Map<string, number>()
    amounts.set(resourceClass, (amounts.get(resourceClass) ?? 0) + amount)
    out.set(p, amounts)
  }
  return out
}

function fitsTogether(parts: Part[]): boolean {
  return [...sums(parts)].every(([p, amounts]) =>
    [...amounts].every(([resourceClass, amount]) => {
      const { total, reserved, allocationRatio, used, maxUnit } = p.inventories.find(
        one => one.resourceClass === resourceClass,
      )!
      return used + amount <= Math.trunc((total - reserved) * allocationRatio) && amount <= maxUnit
    }),
  )
}

function usesTwoOfATree(parts: Part[]): boolean {
  const givers = [...new Set(parts.flatMap(part => part.takes.map(([p]) => p)))]
  return new Set(givers.map(p => p.rootId)).size < givers.length
}

/** A dedicated provider may be used only together with a child that is managed by the same part of Holdfast. */
function isHandedOut(parts: Part[]): boolean {
  const givers = parts.flatMap(part => part.takes.map(([p]) => p))
  return givers.every(
    p => !p.dedicatedTo || givers.some(other => other.parentId === p.id && other.managedBy === p.dedicatedTo),
  )
}

function merge(parts: Part[]): ModelCandidate {
  const allocations = [...sums(parts)].map(([p, amounts]) => [p.uuid, Object.fromEntries(amounts)])
  const mappings = parts.map(part => [part.suffix, part.providers.map(p => p.uuid)])
  return { allocations: Object.fromEntries(allocations), mappings: Object.fromEntries(mappings) }
}
