// All URLs of bare metal below /v1: the handler, the permission, and the version that brought it.
import type { Methods, Route, Routes } from '../frame/dialect.ts'
import { postHeartbeat, showLookup } from './agent.ts'
import { deleteAllocationOfNode, deleteOneAllocation, patchOneAllocation } from './allocation-changes.ts'
import { listAllAllocations, postAllocation, showAllocation, showAllocationOfNode } from './allocations.ts'
import { putBootMode, putSecureBoot } from './boot-mode.ts'
import {
  deleteOneChassis,
  listAllChassis,
  listChassisInDetail,
  patchChassis,
  postChassis,
  showChassis,
} from './chassis.ts'
import { listAllConductors, showConductor } from './conductors.ts'
import { listBios, showBiosSetting } from './bios.ts'
import { deleteDeployTemplate, listDeployTemplates } from './deploy-templates.ts'
import { patchDeployTemplate, postDeployTemplate, showDeployTemplate } from './deploy-templates.ts'
import { listDrivers, showDriver, showDriverProperties } from './drivers.ts'
import { postEvents } from './external-events.ts'
import { showInventory } from './inventory.ts'
import { listComponents, listIndicators, putIndicator, showIndicator } from './indicators.ts'
import { putBootDevice, putNmi, showBootDevice, showSupportedBootDevices } from './management.ts'
import { listNodeHistory, listNodeHistoryInDetail, showNodeHistory } from './history.ts'
import { putConsole, showConsole } from './console.ts'
import { deleteMaintenance, putMaintenance, putPowerState, putProvisionState } from './node-states.ts'
import { showStates } from './node-states.ts'
import { deleteNodeTrait, deleteNodeTraits, listNodeTraits, putNodeTrait, putNodeTraits } from './node-traits.ts'
import { deleteOneNode, listAllNodes, listChildren, listNodesInDetail, listNodesOfChassis } from './nodes.ts'
import { patchOneNode, postNode, showNode } from './nodes.ts'
import type { BaremetalAction } from './policy.ts'
import { deleteOnePortgroup, listAllPortgroups, listPortgroupsInDetail, listPortgroupsOfNode } from './portgroups.ts'
import { patchPortgroup, postPortgroup, showPortgroup } from './portgroups.ts'
import { deleteOnePort, listAllPorts, listPortsInDetail, listPortsOfGroup, listPortsOfNode } from './ports.ts'
import { patchPort, postPort, showPort } from './ports.ts'
import { putRaidConfig, showLogicalDiskProperties } from './raid.ts'
import {
  deleteOneReservation,
  listAllReservations,
  patchReservation,
  postReservation,
  putReservation,
  showReservation,
} from './reservations.ts'
import { showV1 } from './root.ts'
import { listShards } from './shards.ts'
import { showValidation, showValidationOf } from './validation.ts'
import {
  callDriver,
  listDriverVendorMethods,
  listVendorMethods,
  readVendorByPath,
  readVendorByQuery,
  vendorByPath,
  vendorByQuery,
} from './vendor.ts'
import type { Word } from './versions.ts'
import { deleteVif, postVif, showVifs } from './vifs.ts'
import { deleteOneConnector, listConnectors, listConnectorsOfNode } from './volume-connectors.ts'
import { patchConnector, postConnector, showConnector } from './volume-connectors.ts'
import { deleteOneTarget, listTargets, listTargetsOfNode } from './volume-targets.ts'
import { patchTarget, postTarget, showTarget } from './volume-targets.ts'
import { showVolume, showVolumeOfNode } from './volume.ts'

/** Paths where bodies may be large: a node with its documents, its config drive, ten thousand candidate nodes. */
export const BULK: ReadonlySet<string> = new Set([
  '/nodes',
  '/nodes/:ident',
  '/nodes/:ident/states/provision',
  '/allocations',
])

type Handle = Route<Word>['handle']
/** The third: how a version without it refuses, if not as a path that isn't there. */
type Handles = Partial<Record<keyof Methods, readonly [Handle, BaremetalAction | null, Route['absent']?]>>

const LATER: ReadonlySet<Handle> = new Set([
  putProvisionState,
  putPowerState,
  putBootMode,
  putSecureBoot,
  postAllocation,
])

const routesOf = (handles: Handles, onFound: boolean, needs?: Word): Methods<Word> =>
  Object.fromEntries(
    Object.entries(handles).map(([method, [handle, action, absent]]) => [
      method,
      { handle, action, onFound, isAccepted: LATER.has(handle), ...(needs && { needs }), ...(absent && { absent }) },
    ]),
  )
const to = (handles: Handles, needs?: Word) => routesOf(handles, false, needs)
const onFound = (handles: Handles, needs?: Word) => routesOf(handles, true, needs)

/** For machines that have no login. */
const open = (handle: Handle, needs: Word): Route<Word> => ({ handle, action: null, isOpen: true, needs })

const VENDOR = 'baremetal:node:vendor_passthru'
const vendor = (read: Handle, change: Handle): Handles => ({
  GET: [read, VENDOR],
  POST: [change, VENDOR],
  PUT: [change, VENDOR],
  PATCH: [change, VENDOR],
  DELETE: [read, VENDOR],
})

export const routes: Routes<Word> = {
  '': to({ GET: [showV1, null] }),
  '/nodes': {
    ...to({ GET: [listAllNodes, 'baremetal:node:list'] }),
    ...onFound({ POST: [postNode, 'baremetal:node:create'] }),
  },
  '/nodes/detail': to({ GET: [listNodesInDetail, 'baremetal:node:list'] }),
  '/nodes/validate': onFound({ GET: [showValidationOf, 'baremetal:node:validate'] }),
  '/nodes/:ident': onFound({
    GET: [showNode, 'baremetal:node:get'],
    PATCH: [patchOneNode, 'baremetal:node:update'],
    DELETE: [deleteOneNode, 'baremetal:node:delete'],
  }),
  '/nodes/:ident/states': onFound({ GET: [showStates, 'baremetal:node:get_states'] }),
  '/nodes/:ident/states/provision': onFound({ PUT: [putProvisionState, 'baremetal:node:set_provision_state'] }),
  '/nodes/:ident/states/power': onFound({ PUT: [putPowerState, 'baremetal:node:set_power_state'] }),
  '/nodes/:ident/states/boot_mode': onFound({ PUT: [putBootMode, 'baremetal:node:set_boot_mode'] }, 'bootModeChange'),
  '/nodes/:ident/states/secure_boot': onFound(
    { PUT: [putSecureBoot, 'baremetal:node:set_secure_boot'] },
    'bootModeChange',
  ),
  '/nodes/:ident/states/console': onFound({
    GET: [showConsole, 'baremetal:node:get_console'],
    PUT: [putConsole, 'baremetal:node:set_console_state'],
  }),
  '/nodes/:ident/states/raid': onFound({ PUT: [putRaidConfig, 'baremetal:node:set_raid_state'] }, 'raidConfig'),
  '/nodes/:ident/maintenance': onFound({
    PUT: [putMaintenance, 'baremetal:node:set_maintenance'],
    DELETE: [deleteMaintenance, 'baremetal:node:clear_maintenance'],
  }),
  '/nodes/:ident/validate': onFound({ GET: [showValidation, 'baremetal:node:validate'] }),
  '/nodes/:ident/traits': onFound(
    {
      // Older versions refuse each method in another way, as upstream's clients expect.
      GET: [listNodeTraits, 'baremetal:node:traits:list', 'not_acceptable'],
      PUT: [putNodeTraits, 'baremetal:node:traits:set', 'method_not_allowed'],
      DELETE: [deleteNodeTraits, 'baremetal:node:traits:delete'],
    },
    'traits',
  ),
  '/nodes/:ident/traits/:trait': onFound(
    {
      PUT: [putNodeTrait, 'baremetal:node:traits:set', 'method_not_allowed'],
      DELETE: [deleteNodeTrait, 'baremetal:node:traits:delete'],
    },
    'traits',
  ),
  '/nodes/:ident/management/boot_device': onFound({
    GET: [showBootDevice, 'baremetal:node:get_boot_device'],
    PUT: [putBootDevice, 'baremetal:node:set_boot_device'],
  }),
  '/nodes/:ident/management/boot_device/supported': onFound({
    GET: [showSupportedBootDevices, 'baremetal:node:get_boot_device'],
  }),
  '/nodes/:ident/management/inject_nmi': onFound({ PUT: [putNmi, 'baremetal:node:inject_nmi'] }, 'injectNmi'),
  '/nodes/:ident/management/indicators': onFound(
    { GET: [listComponents, 'baremetal:node:get_indicator_state'] },
    'indicators',
  ),
  '/nodes/:ident/management/indicators/:component': onFound(
    { GET: [listIndicators, 'baremetal:node:get_indicator_state'] },
    'indicators',
  ),
  '/nodes/:ident/management/indicators/:component/:name': onFound(
    {
      GET: [showIndicator, 'baremetal:node:get_indicator_state'],
      PUT: [putIndicator, 'baremetal:node:set_indicator_state'],
    },
    'indicators',
  ),
  '/nodes/:ident/vendor_passthru': onFound(vendor(readVendorByQuery, vendorByQuery)),
  '/nodes/:ident/vendor_passthru/methods': onFound({ GET: [listVendorMethods, VENDOR] }),
  '/nodes/:ident/vendor_passthru/:method': onFound(vendor(readVendorByPath, vendorByPath)),
  '/nodes/:ident/vifs': onFound(
    { GET: [showVifs, 'baremetal:node:vif:list'], POST: [postVif, 'baremetal:node:vif:attach'] },
    'vifs',
  ),
  '/nodes/:ident/vifs/:vif': onFound({ DELETE: [deleteVif, 'baremetal:node:vif:detach'] }, 'vifs'),
  '/nodes/:ident/ports': onFound({ GET: [listPortsOfNode, 'baremetal:port:list'] }),
  '/nodes/:ident/portgroups': onFound({ GET: [listPortgroupsOfNode, 'baremetal:portgroup:list'] }, 'nodePortgroups'),
  '/nodes/:ident/allocation': onFound(
    {
      GET: [showAllocationOfNode, 'baremetal:allocation:get'],
      DELETE: [deleteAllocationOfNode, 'baremetal:allocation:delete'],
    },
    'allocations',
  ),
  '/nodes/:ident/bios': onFound({ GET: [listBios, 'baremetal:node:bios:get'] }, 'bios'),
  '/nodes/:ident/history': onFound({ GET: [listNodeHistory, 'baremetal:node:history:get'] }, 'history'),
  '/nodes/:ident/history/detail': onFound({ GET: [listNodeHistoryInDetail, 'baremetal:node:history:get'] }, 'history'),
  '/nodes/:ident/history/:event': onFound({ GET: [showNodeHistory, 'baremetal:node:history:get'] }, 'history'),
  '/nodes/:ident/bios/:setting': onFound({ GET: [showBiosSetting, 'baremetal:node:bios:get'] }, 'bios'),
  '/nodes/:ident/inventory': onFound({ GET: [showInventory, 'baremetal:node:inventory:get'] }, 'inventory'),
  '/nodes/:ident/children': onFound({ GET: [listChildren, 'baremetal:node:get'] }, 'childNodes'),
  '/nodes/:ident/volume': onFound({ GET: [showVolumeOfNode, 'baremetal:volume:list'] }, 'volume'),
  '/nodes/:ident/volume/connectors': onFound({ GET: [listConnectorsOfNode, 'baremetal:volume:list'] }, 'volume'),
  '/nodes/:ident/volume/targets': onFound({ GET: [listTargetsOfNode, 'baremetal:volume:list'] }, 'volume'),
  '/ports': {
    ...to({ GET: [listAllPorts, 'baremetal:port:list'] }),
    ...onFound({ POST: [postPort, 'baremetal:port:create'] }),
  },
  '/ports/detail': to({ GET: [listPortsInDetail, 'baremetal:port:list'] }),
  '/ports/:uuid': onFound({
    GET: [showPort, 'baremetal:port:get'],
    PATCH: [patchPort, 'baremetal:port:update'],
    DELETE: [deleteOnePort, 'baremetal:port:delete'],
  }),
  '/portgroups': {
    ...to({ GET: [listAllPortgroups, 'baremetal:portgroup:list'] }, 'portgroups'),
    ...onFound({ POST: [postPortgroup, 'baremetal:portgroup:create'] }, 'portgroups'),
  },
  '/portgroups/detail': to({ GET: [listPortgroupsInDetail, 'baremetal:portgroup:list'] }, 'portgroups'),
  '/portgroups/:ident': onFound(
    {
      GET: [showPortgroup, 'baremetal:portgroup:get'],
      PATCH: [patchPortgroup, 'baremetal:portgroup:update'],
      DELETE: [deleteOnePortgroup, 'baremetal:portgroup:delete'],
    },
    'portgroups',
  ),
  '/portgroups/:ident/ports': onFound({ GET: [listPortsOfGroup, 'baremetal:port:list'] }, 'nodePortgroups'),
  '/chassis': to({ GET: [listAllChassis, 'baremetal:chassis:get'], POST: [postChassis, 'baremetal:chassis:create'] }),
  '/chassis/detail': to({ GET: [listChassisInDetail, 'baremetal:chassis:get'] }),
  '/chassis/:uuid': to({
    GET: [showChassis, 'baremetal:chassis:get'],
    PATCH: [patchChassis, 'baremetal:chassis:update'],
    DELETE: [deleteOneChassis, 'baremetal:chassis:delete'],
  }),
  '/chassis/:uuid/nodes': to({ GET: [listNodesOfChassis, 'baremetal:chassis:get'] }),
  '/drivers': to({ GET: [listDrivers, 'baremetal:driver:get'] }),
  '/drivers/:name': to({ GET: [showDriver, 'baremetal:driver:get'] }),
  '/drivers/:name/properties': to({ GET: [showDriverProperties, 'baremetal:driver:get'] }),
  '/drivers/:name/vendor_passthru': to({
    GET: [callDriver, 'baremetal:driver:vendor_passthru'],
    POST: [callDriver, 'baremetal:driver:vendor_passthru'],
    PUT: [callDriver, 'baremetal:driver:vendor_passthru'],
    PATCH: [callDriver, 'baremetal:driver:vendor_passthru'],
    DELETE: [callDriver, 'baremetal:driver:vendor_passthru'],
  }),
  '/drivers/:name/vendor_passthru/methods': to({
    GET: [listDriverVendorMethods, 'baremetal:driver:vendor_passthru'],
  }),
  '/drivers/:name/raid/logical_disk_properties': to(
    { GET: [showLogicalDiskProperties, 'baremetal:driver:get'] },
    'raidConfig',
  ),
  '/conductors': to({ GET: [listAllConductors, 'baremetal:conductor:get'] }, 'conductors'),
  '/conductors/:hostname': to({ GET: [showConductor, 'baremetal:conductor:get'] }, 'conductors'),
  '/allocations': to(
    {
      GET: [listAllAllocations, 'baremetal:allocation:list'],
      POST: [postAllocation, 'baremetal:allocation:create'],
    },
    'allocations',
  ),
  '/allocations/:ident': onFound(
    {
      GET: [showAllocation, 'baremetal:allocation:get'],
      PATCH: [patchOneAllocation, 'baremetal:allocation:update'],
      DELETE: [deleteOneAllocation, 'baremetal:allocation:delete'],
    },
    'allocations',
  ),
  '/reservations': to(
    {
      GET: [listAllReservations, 'baremetal:reservation:list'],
      POST: [postReservation, 'baremetal:reservation:create'],
    },
    'reservations',
  ),
  '/reservations/:uuid': onFound(
    {
      GET: [showReservation, 'baremetal:reservation:get'],
      PUT: [putReservation, 'baremetal:reservation:update'],
      PATCH: [patchReservation, 'baremetal:reservation:update'],
      DELETE: [deleteOneReservation, 'baremetal:reservation:delete'],
    },
    'reservations',
  ),
  '/volume': to({ GET: [showVolume, 'baremetal:volume:list'] }, 'volume'),
  '/volume/connectors': {
    ...to({ GET: [listConnectors, 'baremetal:volume:list'] }, 'volume'),
    ...onFound({ POST: [postConnector, 'baremetal:volume:create'] }, 'volume'),
  },
  '/volume/connectors/:uuid': onFound(
    {
      GET: [showConnector, 'baremetal:volume:get'],
      PATCH: [patchConnector, 'baremetal:volume:update'],
      DELETE: [deleteOneConnector, 'baremetal:volume:delete'],
    },
    'volume',
  ),
  '/volume/targets': {
    ...to({ GET: [listTargets, 'baremetal:volume:list'] }, 'volume'),
    ...onFound({ POST: [postTarget, 'baremetal:volume:create'] }, 'volume'),
  },
  '/volume/targets/:uuid': onFound(
    {
      GET: [showTarget, 'baremetal:volume:get'],
      PATCH: [patchTarget, 'baremetal:volume:update'],
      DELETE: [deleteOneTarget, 'baremetal:volume:delete'],
    },
    'volume',
  ),
  '/deploy_templates': to(
    {
      GET: [listDeployTemplates, 'baremetal:deploy_template:get'],
      POST: [postDeployTemplate, 'baremetal:deploy_template:create'],
    },
    'deployTemplates',
  ),
  '/deploy_templates/:ident': to(
    {
      GET: [showDeployTemplate, 'baremetal:deploy_template:get'],
      PATCH: [patchDeployTemplate, 'baremetal:deploy_template:update'],
      DELETE: [deleteDeployTemplate, 'baremetal:deploy_template:delete'],
    },
    'deployTemplates',
  ),
  '/events': to({ POST: [postEvents, 'baremetal:events:post'] }, 'events'),
  '/lookup': { GET: open(showLookup, 'agent') },
  '/heartbeat/:ident': { POST: open(postHeartbeat, 'agent') },
  '/shards': to({ GET: [listShards, 'baremetal:shard:get'] }, 'shards'),
}
