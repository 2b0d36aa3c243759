// All of bare metal's URLs below /v1: who answers, and from which version on.
import {
  deleteAllocationOfNode,
  deleteOneAllocation,
  listAllAllocations,
  patchOneAllocation,
  postAllocation,
  showAllocation,
  showAllocationOfNode,
} from './allocations.ts'
import {
  deleteOneChassis,
  listAllChassis,
  listChassisInDetail,
  patchChassis,
  postChassis,
  showChassis,
} from './chassis.ts'
import { listAllConductors, showConductor } from './conductors.ts'
import { listDrivers, showDriver, showDriverProperties } from './drivers.ts'
import { deleteVif, postVif, putBootDevice, showBootDevice, showSupportedBootDevices, showVifs } from './management.ts'
import { deleteMaintenance, putMaintenance, putPowerState, putProvisionState } from './node-states.ts'
import { showStates, showValidation, showValidationOf } from './node-states.ts'
import { deleteNodeTrait, deleteNodeTraits, listNodeTraits, putNodeTrait, putNodeTraits } from './node-traits.ts'
import { deleteOneNode, listAllNodes, listNodesInDetail, listNodesOfChassis } from './nodes.ts'
import { patchOneNode, postNode, showNode } from './nodes.ts'
import { deleteOnePortgroup, listAllPortgroups, listPortgroupsInDetail, listPortgroupsOfNode } from './portgroups.ts'
import { patchPortgroup, postPortgroup, showPortgroup } from './portgroups.ts'
import { deleteOnePort, listAllPorts, listPortsInDetail, listPortsOfGroup, listPortsOfNode } from './ports.ts'
import { patchPort, postPort, showPort } from './ports.ts'
import type { Answer, MetalRequest } from './request.ts'
import {
  deleteOneReservation,
  listAllReservations,
  patchReservation,
  postReservation,
  putReservation,
  showReservation,
} from './reservations.ts'
import { showV1 } from './root.ts'
import { emptyList, emptyListOfNode, listShards, showInventory, showVolume, showVolumeOfNode } from './shards.ts'
import type { Word } from './versions.ts'

type Handle = (request: MetalRequest) => Answer | Promise<Answer>

export interface Route {
  handle: Handle
  /** What the client's version must have; without it the path is not there. */
  needs?: Word
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Methods = Partial<Record<Method, Route>>

const to = (handles: Partial<Record<Method, Handle>>, needs?: Word): Methods =>
  Object.fromEntries(Object.entries(handles).map(([method, handle]) => [method, { handle, ...(needs && { needs }) }]))

export const routes: Record<string, Methods> = {
  '': to({ GET: showV1 }),
  '/nodes': to({ GET: listAllNodes, POST: postNode }),
  '/nodes/detail': to({ GET: listNodesInDetail }),
  '/nodes/validate': to({ GET: showValidationOf }),
  '/nodes/:ident': to({ GET: showNode, PATCH: patchOneNode, DELETE: deleteOneNode }),
  '/nodes/:ident/states': to({ GET: showStates }),
  '/nodes/:ident/states/provision': to({ PUT: putProvisionState }),
  '/nodes/:ident/states/power': to({ PUT: putPowerState }),
  '/nodes/:ident/maintenance': to({ PUT: putMaintenance, DELETE: deleteMaintenance }),
  '/nodes/:ident/validate': to({ GET: showValidation }),
  '/nodes/:ident/traits': to({ GET: listNodeTraits, PUT: putNodeTraits, DELETE: deleteNodeTraits }, 'traits'),
  '/nodes/:ident/traits/:trait': to({ PUT: putNodeTrait, DELETE: deleteNodeTrait }, 'traits'),
  '/nodes/:ident/management/boot_device': to({ GET: showBootDevice, PUT: putBootDevice }),
  '/nodes/:ident/management/boot_device/supported': to({ GET: showSupportedBootDevices }),
  '/nodes/:ident/vifs': to({ GET: showVifs, POST: postVif }, 'vifs'),
  '/nodes/:ident/vifs/:vif': to({ DELETE: deleteVif }, 'vifs'),
  '/nodes/:ident/ports': to({ GET: listPortsOfNode }),
  '/nodes/:ident/portgroups': to({ GET: listPortgroupsOfNode }, 'nodePortgroups'),
  '/nodes/:ident/allocation': to({ GET: showAllocationOfNode, DELETE: deleteAllocationOfNode }, 'allocations'),
  '/nodes/:ident/bios': to({ GET: emptyListOfNode('bios') }, 'bios'),
  '/nodes/:ident/history': to({ GET: emptyListOfNode('history') }, 'history'),
  '/nodes/:ident/inventory': to({ GET: showInventory }, 'inventory'),
  '/nodes/:ident/volume': to({ GET: showVolumeOfNode }, 'volume'),
  '/nodes/:ident/volume/connectors': to({ GET: emptyListOfNode('connectors') }, 'volume'),
  '/nodes/:ident/volume/targets': to({ GET: emptyListOfNode('targets') }, 'volume'),
  '/ports': to({ GET: listAllPorts, POST: postPort }),
  '/ports/detail': to({ GET: listPortsInDetail }),
  '/ports/:uuid': to({ GET: showPort, PATCH: patchPort, DELETE: deleteOnePort }),
  '/portgroups': to({ GET: listAllPortgroups, POST: postPortgroup }, 'portgroups'),
  '/portgroups/detail': to({ GET: listPortgroupsInDetail }, 'portgroups'),
  '/portgroups/:ident': to({ GET: showPortgroup, PATCH: patchPortgroup, DELETE: deleteOnePortgroup }, 'portgroups'),
  '/portgroups/:ident/ports': to({ GET: listPortsOfGroup }, 'nodePortgroups'),
  '/chassis': to({ GET: listAllChassis, POST: postChassis }),
  '/chassis/detail': to({ GET: listChassisInDetail }),
  '/chassis/:uuid': to({ GET: showChassis, PATCH: patchChassis, DELETE: deleteOneChassis }),
  '/chassis/:uuid/nodes': to({ GET: listNodesOfChassis }),
  '/drivers': to({ GET: listDrivers }),
  '/drivers/:name': to({ GET: showDriver }),
  '/drivers/:name/properties': to({ GET: showDriverProperties }),
  '/conductors': to({ GET: listAllConductors }, 'conductors'),
  '/conductors/:hostname': to({ GET: showConductor }, 'conductors'),
  '/allocations': to({ GET: listAllAllocations, POST: postAllocation }, 'allocations'),
  '/allocations/:ident': to(
    { GET: showAllocation, PATCH: patchOneAllocation, DELETE: deleteOneAllocation },
    'allocations',
  ),
  '/reservations': to({ GET: listAllReservations, POST: postReservation }, 'reservations'),
  '/reservations/:uuid': to(
    { GET: showReservation, PUT: putReservation, PATCH: patchReservation, DELETE: deleteOneReservation },
    'reservations',
  ),
  '/volume': to({ GET: showVolume }, 'volume'),
  '/volume/connectors': to({ GET: emptyList('connectors') }, 'volume'),
  '/volume/targets': to({ GET: emptyList('targets') }, 'volume'),
  '/deploy_templates': to({ GET: emptyList('deploy_templates') }, 'deployTemplates'),
  '/shards': to({ GET: listShards }, 'shards'),
}
