// All of compute's URLs below /v2.1: who answers, and who may ask.
import { listAggregates, listExtensions, listKeypairs, listServerGroups, showLimits, showQuotas } from './crumbs.ts'
import { deleteExtraSpec, listExtraSpecs, postExtraSpecs, putExtraSpec, showExtraSpec } from './extra-specs.ts'
import { listFlavorAccess, postFlavorAction } from './flavor-access.ts'
import { deleteOneFlavor, listAllFlavors, listFlavorsInDetail, postFlavor, showFlavor } from './flavors.ts'
import {
  listAllHypervisors,
  listHypervisorsInDetail,
  listServersOf,
  searchHypervisors,
  showHypervisor,
  showStatistics,
  showUptime,
} from './hypervisors.ts'
import { listMigrations } from './migrations.ts'
import type { Rule } from './policy.ts'
import type { Answer, ComputeRequest } from './request.ts'
import { postServerAction } from './server-actions.ts'
import { postServer } from './server-create.ts'
import {
  deleteMetadata,
  listMetadata,
  postMetadata,
  putAllMetadata,
  putMetadata,
  showMetadata,
} from './server-metadata.ts'
import { deleteOneServer, listAllServers, listServersInDetail, putServer, showServer } from './servers.ts'
import { listServices, listZones, listZonesInDetail, putService } from './services.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
type Handle = (request: ComputeRequest) => Answer | Promise<Answer>

export interface Route {
  handle: Handle
  rule: Rule
}
type Handles = Partial<Record<Method, Handle>>

/** Reading by one rule, changing by another. */
const to = (handles: Handles, reading: Rule, changing: Rule): Partial<Record<Method, Route>> =>
  Object.fromEntries(
    Object.entries(handles).map(([method, handle]) => [
      method,
      { handle, rule: method === 'GET' ? reading : changing },
    ]),
  )
const forProjects = (handles: Handles) => to(handles, 'read', 'write')
const keptByAdmins = (handles: Handles) => to(handles, 'read', 'admin')
const forAdmins = (handles: Handles) => to(handles, 'admin', 'admin')

export const routes: Record<string, Partial<Record<Method, Route>>> = {
  '/servers': forProjects({ GET: listAllServers, POST: postServer }),
  '/servers/detail': forProjects({ GET: listServersInDetail }),
  '/servers/:id': forProjects({ GET: showServer, PUT: putServer, DELETE: deleteOneServer }),
  '/servers/:id/action': forProjects({ POST: postServerAction }),
  '/servers/:id/metadata': forProjects({ GET: listMetadata, POST: postMetadata, PUT: putAllMetadata }),
  '/servers/:id/metadata/:key': forProjects({ GET: showMetadata, PUT: putMetadata, DELETE: deleteMetadata }),
  '/flavors': keptByAdmins({ GET: listAllFlavors, POST: postFlavor }),
  '/flavors/detail': keptByAdmins({ GET: listFlavorsInDetail }),
  '/flavors/:id': keptByAdmins({ GET: showFlavor, DELETE: deleteOneFlavor }),
  '/flavors/:id/os-extra_specs': keptByAdmins({ GET: listExtraSpecs, POST: postExtraSpecs }),
  '/flavors/:id/os-extra_specs/:key': keptByAdmins({
    GET: showExtraSpec,
    PUT: putExtraSpec,
    DELETE: deleteExtraSpec,
  }),
  '/flavors/:id/os-flavor-access': forAdmins({ GET: listFlavorAccess }),
  '/flavors/:id/action': forAdmins({ POST: postFlavorAction }),
  '/os-hypervisors': forAdmins({ GET: listAllHypervisors }),
  '/os-hypervisors/detail': forAdmins({ GET: listHypervisorsInDetail }),
  '/os-hypervisors/statistics': forAdmins({ GET: showStatistics }),
  '/os-hypervisors/:id': forAdmins({ GET: showHypervisor }),
  '/os-hypervisors/:id/uptime': forAdmins({ GET: showUptime }),
  '/os-hypervisors/:id/search': forAdmins({ GET: searchHypervisors }),
  '/os-hypervisors/:id/servers': forAdmins({ GET: listServersOf }),
  '/os-services': forAdmins({ GET: listServices }),
  '/os-services/:action': forAdmins({ PUT: putService }),
  '/os-migrations': forAdmins({ GET: listMigrations }),
  '/os-aggregates': forAdmins({ GET: listAggregates }),
  '/os-availability-zone': forProjects({ GET: listZones }),
  '/os-availability-zone/detail': forAdmins({ GET: listZonesInDetail }),
  '/os-server-groups': forProjects({ GET: listServerGroups }),
  '/os-keypairs': forProjects({ GET: listKeypairs }),
  '/os-quota-sets/:project': forProjects({ GET: showQuotas }),
  '/os-quota-sets/:project/defaults': forProjects({ GET: showQuotas }),
  '/limits': forProjects({ GET: showLimits }),
  '/extensions': forProjects({ GET: listExtensions }),
}
