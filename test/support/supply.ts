// A fleet and its ledger in memory, for tests without a database.
import { CandidateTable } from '../../src/ledger/candidates/table.ts'
import type { Supply } from '../../src/metal/allocations/matching.ts'
import { Fleet, type FleetNode } from '../../src/metal/nodes/fleet.ts'
import type { Store } from '../../src/store/store.ts'
import { fleetNode } from './fleet-node.ts'

export interface Sketch extends Partial<FleetNode> {
  traits?: string[]
  claimed?: boolean
}

/** A fleet of nodes of class `gpu`, each available unless its sketch says otherwise. */
export function supplyOf(sketches: readonly Sketch[]): Supply & { nodes: FleetNode[] } {
  const fleet = new Fleet(null as unknown as Store)
  const table = new CandidateTable()
  const nodes = sketches.map(({ traits: _, claimed: __, ...parts }, i) => fleetNode(i + 1, parts))
  void fleet.absorb(nodes.map(node => ({ provider: node.provider_id, room: 'metal', attached: node })))
  table.load(nodes.map((node, i) => snapshotOf(node, sketches[i]!)))
  return { fleet, table, nodes }
}

function snapshotOf(node: FleetNode, { traits = [], claimed = false }: Sketch) {
  const blocked = node.provision_state !== 'available' || node.maintenance === 1
  const units = { total: 1, reserved: 0, minUnit: 1, maxUnit: 1, stepSize: 1, allocationRatio: 1 }
  const used = claimed || node.instance_uuid !== null ? 1 : 0
  return {
    id: node.provider_id,
    uuid: node.uuid,
    name: node.uuid,
    generation: 1,
    parentId: null,
    rootId: node.provider_id,
    traits,
    aggregates: [],
    inventories: [{ resourceClass: node.placement_class, ...units, used, blocked }],
  }
}
