// Why an allocation found no node: counts each node of its class under the first cause that excludes it, and finds the
// smaller wishes that would be granted. Pure, over the fleet in memory.
import { limits } from '../../shared/limits.ts'
import type { Kept } from '../holds/lookup.ts'
import type { FleetNode } from '../nodes/fleet.ts'
import { mayHaveUntil } from '../nodes/lease-promise.ts'
import { fits, hasRoom, isOf, missingTraits, type Supply, type Wish } from './matching.ts'

type Cause =
  | 'retired'
  | 'broken'
  | 'allocated'
  | 'reserved'
  | 'claimed'
  | 'maintenance'
  | 'not available'
  | 'no power state'
  | 'missing traits'
  | 'busy'
  | 'not a candidate'
  | 'leasable'

interface CauseCount {
  cause: Cause
  count: number
  /** With `missing traits`: which. */
  traits?: string[]
  sample: { uuid: string; name: string | null }[]
}

interface Relaxation {
  /** What to leave out of the wish. */
  without: { traits?: string[]; candidate_nodes?: true }
  /** How many nodes would fit then. */
  nodes: number
}

export interface Reasons {
  at: string
  resource_class: string
  /** How many nodes of the class the owner may use. */
  considered: number
  /** How many of them fit now. */
  available: number
  causes: CauseCount[]
  relaxations: Relaxation[]
}

export function whyNot(supply: Supply, wish: Wish, kept: Kept, now: number): Reasons {
  const groups = new Map<string, CauseCount>()
  let [considered, available] = [0, 0]
  for (const node of supply.fleet.ofClass(wish.resourceClass)) {
    // Nodes of other projects are not counted: their number is private.
    if (!isOf(wish.owner, node)) continue
    considered++
    const found = causeOf(supply, node, wish, kept)
    if (found === null) {
      available++
      continue
    }
    const key = `${found.cause} ${found.traits?.join() ?? ''}`
    const group = groups.getOrInsertComputed(key, () => ({ ...found, count: 0, sample: [] }))
    group.count++
    if (group.sample.length < limits.explainSampleMax) group.sample.push({ uuid: node.uuid, name: node.name })
  }
  const causes = [...groups.values()].sort((a, b) => b.count - a.count)
  const relaxations = relaxationsOf(supply, wish)
  return {
    at: new Date(now).toISOString(),
    resource_class: wish.resourceClass,
    considered,
    available,
    causes,
    relaxations,
  }
}

type Found = Pick<CauseCount, 'cause' | 'traits'>

function causeOf(supply: Supply, node: FleetNode, wish: Wish, kept: Kept): Found | null {
  if (wish.candidates !== null && !wish.candidates.has(node.uuid)) return { cause: 'not a candidate' }
  // In the order of a machine's one state, so that the counts agree with it.
  if (node.retired) return { cause: 'retired' }
  if (isFailed(node.provision_state)) return { cause: 'broken' }
  if (node.instance_uuid !== null) return { cause: 'allocated' }
  if (node.maintenance) return { cause: 'maintenance' }
  if (kept.get(node.id) === 'reserved') return { cause: 'reserved' }
  if (node.provision_state !== 'available') return { cause: 'not available' }
  if (!hasRoom(supply, node)) return { cause: 'claimed' }
  if (node.power_state === null) return { cause: 'no power state' }
  if (kept.get(node.id) === 'busy') return { cause: 'busy' }
  if (!mayHaveUntil(node, wish.until)) return { cause: 'leasable' }
  const traits = missingTraits(supply, node, wish.traits)
  return traits.length > 0 ? { cause: 'missing traits', traits } : null
}

const isFailed = (state: FleetNode['provision_state']) => state === 'error' || state.endsWith(' failed')

/** The smallest changes that help: without one trait or the candidates, else without all traits, else without both. */
function relaxationsOf(supply: Supply, wish: Wish): Relaxation[] {
  const { traits, candidates } = wish
  const open = supply.fleet.openOf(wish.resourceClass)
  const tried = (without: Relaxation['without'], smaller: Wish): Relaxation => ({
    without,
    nodes: open.filter(node => fits(supply, node, smaller)).length,
  })
  const single = traits.map(trait =>
    tried({ traits: [trait] }, { ...wish, traits: traits.filter(other => other !== trait) }),
  )
  if (candidates !== null) single.push(tried({ candidate_nodes: true }, { ...wish, candidates: null }))
  const helpful = single.filter(({ nodes }) => nodes > 0)
  if (helpful.length > 0) return helpful
  const more: Relaxation[] = []
  if (traits.length > 1) more.push(tried({ traits: [...traits] }, { ...wish, traits: [] }))
  if (traits.length > 0 && candidates !== null) {
    more.push(tried({ traits: [...traits], candidate_nodes: true }, { ...wish, traits: [], candidates: null }))
  }
  return more.filter(({ nodes }) => nodes > 0).slice(0, 1)
}

/** Upstream's message, then the causes with their counts. */
export function sentenceOf(uuid: string, wish: Wish, reasons: Reasons): string {
  return `Failed to process allocation ${uuid}: ${verdictOf(wish, reasons)}. ${countsOf(reasons)}`
}

function verdictOf({ resourceClass, candidates, traits }: Wish, { causes, available }: Reasons): string {
  if (available > 0) return `could not reserve any of ${available} suitable nodes`
  if (causes.some(({ cause }) => cause === 'missing traits'))
    return `no suitable nodes have the requested traits ${traits.join(', ')}`
  if (candidates !== null)
    return `none of the requested nodes are available and match the resource class ${resourceClass}`
  return `no available nodes match the resource class ${resourceClass}`
}

const WORDS: Record<Cause, string> = {
  retired: 'retired',
  broken: 'broken',
  allocated: 'allocated',
  reserved: 'reserved',
  claimed: 'claimed through Placement',
  maintenance: 'in maintenance',
  'not available': 'not available',
  'no power state': 'without a power state',
  busy: 'locked by a power change or the like, for a moment: try again',
  'missing traits': 'without',
  leasable: 'kept for leases',
  'not a candidate': 'not among the candidates',
}

export function countsOf({ resource_class, considered, causes }: Reasons): string {
  if (considered === 0) return `There is no node of class ${resource_class}.`
  const counted = causes.map(
    ({ cause, count, traits }) => `${count} ${WORDS[cause]}${traits ? ` ${traits.join(' and ')}` : ''}`,
  )
  return `${considered} of class ${resource_class}: ${counted.join(', ') || 'all were taken a moment ago'}.`
}
