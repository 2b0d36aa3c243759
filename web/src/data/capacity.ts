// What the providers have and use, and what a question to Placement would find.
import type { Candidates, CandidatesExplained } from '../../../src/client/candidates.ts'
import type { Query } from '../../../src/client/wire.ts'
import type { CapacityProvider, Use } from './capacity-tree.ts'
import { fleet } from './fleet.ts'
import { server } from './session.ts'

export type { Candidates, CandidatesExplained }

/** What was read of a provider. What is used changes more often than its generation. */
const known = new Map<string, { generation: number; inventories: Inventories; traits: string[] }>()

/** Every provider with what it has and uses. */
export async function readCapacity(): Promise<CapacityProvider[]> {
  const holdfast = server()
  const leases = new Map(fleet.hosts().map(({ uuid, lease }) => [uuid, lease]))
  const all = await holdfast.providers.list()
  return Promise.all(
    all.map(async ({ uuid, name, generation, parent_provider_uuid: parent }): Promise<CapacityProvider> => {
      const own = { uuid, name, parent, lease: leases.get(uuid) ?? null }
      const machine = fleet.machine(uuid)
      if (machine) return { ...own, name: machine.name ?? name, traits: fleet.traitsOf(machine), inventories: {} }
      const { inventories, traits } = await oneOf(uuid, generation)
      return { ...own, traits, inventories }
    }),
  )
}

async function oneOf(uuid: string, generation: number) {
  const { providers } = server()
  const before = known.get(uuid)
  const usages = before?.generation === generation ? await providers.usages(uuid) : null
  if (before && usages) return { traits: before.traits, inventories: usesOf(before.inventories, usages) }
  const { inventories, traits, usages: used } = await providers.show(uuid)
  known.set(uuid, { generation, inventories, traits })
  return { traits, inventories: usesOf(inventories, used) }
}

type Inventories = Readonly<Record<string, { total: number; reserved: number; allocation_ratio: number }>>

const usesOf = (inventories: Inventories, usages: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    Object.entries(inventories).map(([name, { total, reserved, allocation_ratio }]): [string, Use] => [
      name,
      [usages[name] ?? 0, Math.floor((total - reserved) * allocation_ratio)],
    ]),
  )

export const explainedQuestion = (query: Query): Promise<CandidatesExplained> => server().candidates.explain(query)

export const candidatesOf = (query: Query): Promise<Candidates> => server().candidates.list(query)
