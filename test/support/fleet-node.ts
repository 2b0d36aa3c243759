// A free node as the fleet keeps it, for tests without a database.
import type { FleetNode } from '../../src/metal/nodes/fleet.ts'
import { asId } from './ids.ts'

export const fleetNode = (id: number, parts: Partial<FleetNode> = {}): FleetNode => ({
  id: asId(id),
  uuid: `uuid-${id}`,
  provider_id: asId(id + 100),
  name: `n${id}`,
  resource_class: 'gpu',
  placement_class: 'CUSTOM_GPU',
  provision_state: 'available',
  power_state: 'power off',
  maintenance: 0,
  retired: 0,
  instance_uuid: null,
  owner: null,
  lessee: null,
  leasable: 0,
  pledged_at: null,
  parent_node: null,
  revision: 1,
  ...parts,
})
