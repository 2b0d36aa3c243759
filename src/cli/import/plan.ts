// What has to be done so that the server has what the file says: decided from both, without asking anybody.
import type { Fleet } from './document.ts'
import type { Mistake } from './mistake.ts'
import { type NodeStep, planNodes } from './plan-nodes.ts'
import { type HostStep, planHosts, planProviders, type ProviderStep } from './plan-providers.ts'
import type { Present } from './present.ts'

export interface Plan {
  nodes: NodeStep[]
  /** Parents before their children. */
  providers: ProviderStep[]
  hosts: HostStep[]
  /** Custom traits and resource classes of providers that there aren't yet. */
  newTraits: string[]
  newClasses: string[]
}

/** Makes sense only when there are no mistakes, and those of the file itself count too. */
export function planOf(present: Present, fleet: Fleet): { plan: Plan; mistakes: Mistake[] } {
  const mistakes: Mistake[] = []
  const plan: Plan = {
    nodes: planNodes(present, fleet.nodes, mistakes),
    providers: planProviders(present, fleet, mistakes),
    hosts: planHosts(present, fleet, mistakes),
    newTraits: missing(
      fleet.providers.flatMap(({ traits }) => traits ?? []),
      present.traits,
    ),
    newClasses: missing(
      fleet.providers.flatMap(({ inventories }) => Object.keys(inventories ?? {})),
      present.classes,
    ),
  }
  return { plan, mistakes }
}

const missing = (names: readonly string[], known: ReadonlySet<string> | null) =>
  [...new Set(names)].filter(name => known?.has(name) !== true)

export const stepsOf = ({ nodes, providers, hosts }: Plan) => [...nodes, ...providers, ...hosts]
