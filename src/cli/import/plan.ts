// Compares the file with the server's state, and plans the steps that make the server match. Pure.
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
  /** Custom traits and resource classes of providers that the server doesn't have yet. */
  newTraits: string[]
  newClasses: string[]
}

/** The plan is valid only if there are no mistakes, neither these nor those of the file. */
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
