// All URLs of compute below /v2.1: the handler and the permission.
import type { Methods, Route, Routes } from '../frame/dialect.ts'
import { listAggregates, listExtensions, listKeypairs, listServerGroups } from './crumbs.ts'
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
import { listHosts, putHost, showHost } from './hosts.ts'
import { listMigrations, listMovesOfServer, showMoveOfServer } from './migrations.ts'
import type { ComputeAction } from './policy.ts'
import { deleteQuotas, putQuotaClass, putQuotas } from './quota-changes.ts'
import { showDefaultQuotas, showLimits, showQuotaClass, showQuotas, showQuotasInDetail } from './quotas.ts'
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
import { deleteAllTags, deleteTag, listTags, putAllTags, putTag, showTag } from './server-tags.ts'
import { deleteOneServer, listAllServers, listServersInDetail, putServer, showServer } from './servers.ts'
import { listServices, listZones, listZonesInDetail, putService } from './services.ts'
import { listUsages, showUsage } from './usage.ts'
import type { Word } from './versions.ts'

type Short = ComputeAction extends `os_compute_api:${infer Rest}` ? Rest : never

/** Each method with its handler and the action that the caller needs. */
const to = (methods: Partial<Record<keyof Methods, [Route<Word>['handle'], Short]>>, needs?: Word): Methods<Word> =>
  Object.fromEntries(
    Object.entries(methods).map(([method, [handle, action]]) => [
      method,
      { handle, action: `os_compute_api:${action}`, ...(needs && { needs }) },
    ]),
  )

export const routes: Routes<Word> = {
  '/servers': to({ GET: [listAllServers, 'servers:index'], POST: [postServer, 'servers:create'] }),
  '/servers/detail': to({ GET: [listServersInDetail, 'servers:index'] }),
  '/servers/:id': to({
    GET: [showServer, 'servers:show'],
    PUT: [putServer, 'servers:update'],
    DELETE: [deleteOneServer, 'servers:delete'],
  }),
  '/servers/:id/action': to({ POST: [postServerAction, 'servers:action'] }),
  '/servers/:id/metadata': to({
    GET: [listMetadata, 'servers:show'],
    POST: [postMetadata, 'servers:update'],
    PUT: [putAllMetadata, 'servers:update'],
  }),
  '/servers/:id/metadata/:key': to({
    GET: [showMetadata, 'servers:show'],
    PUT: [putMetadata, 'servers:update'],
    DELETE: [deleteMetadata, 'servers:update'],
  }),
  '/servers/:id/tags': to(
    {
      GET: [listTags, 'servers:show'],
      PUT: [putAllTags, 'servers:update'],
      DELETE: [deleteAllTags, 'servers:update'],
    },
    'tags',
  ),
  '/servers/:id/tags/:tag': to(
    {
      GET: [showTag, 'servers:show'],
      PUT: [putTag, 'servers:update'],
      DELETE: [deleteTag, 'servers:update'],
    },
    'tags',
  ),
  '/servers/:id/migrations': to({ GET: [listMovesOfServer, 'os-migrations:index'] }, 'moveTypes'),
  '/servers/:id/migrations/:move': to({ GET: [showMoveOfServer, 'os-migrations:index'] }, 'moveTypes'),
  '/flavors': to({ GET: [listAllFlavors, 'flavors:list'], POST: [postFlavor, 'os-flavor-manage:create'] }),
  '/flavors/detail': to({ GET: [listFlavorsInDetail, 'flavors:list'] }),
  '/flavors/:id': to({ GET: [showFlavor, 'flavors:show'], DELETE: [deleteOneFlavor, 'os-flavor-manage:delete'] }),
  '/flavors/:id/os-extra_specs': to({
    GET: [listExtraSpecs, 'os-flavor-extra-specs:index'],
    POST: [postExtraSpecs, 'os-flavor-extra-specs:create'],
  }),
  '/flavors/:id/os-extra_specs/:key': to({
    GET: [showExtraSpec, 'os-flavor-extra-specs:show'],
    PUT: [putExtraSpec, 'os-flavor-extra-specs:update'],
    DELETE: [deleteExtraSpec, 'os-flavor-extra-specs:delete'],
  }),
  '/flavors/:id/os-flavor-access': to({ GET: [listFlavorAccess, 'os-flavor-access'] }),
  '/flavors/:id/action': to({ POST: [postFlavorAction, 'os-flavor-access'] }),
  '/os-hypervisors': to({ GET: [listAllHypervisors, 'os-hypervisors:list'] }),
  '/os-hypervisors/detail': to({ GET: [listHypervisorsInDetail, 'os-hypervisors:list'] }),
  '/os-hypervisors/statistics': to({ GET: [showStatistics, 'os-hypervisors:list'] }),
  '/os-hypervisors/:id': to({ GET: [showHypervisor, 'os-hypervisors:show'] }),
  '/os-hypervisors/:id/uptime': to({ GET: [showUptime, 'os-hypervisors:show'] }),
  '/os-hypervisors/:id/search': to({ GET: [searchHypervisors, 'os-hypervisors:list'] }),
  '/os-hypervisors/:id/servers': to({ GET: [listServersOf, 'os-hypervisors:list'] }),
  '/os-hosts': to({ GET: [listHosts, 'os-hosts:list'] }),
  '/os-hosts/:host': to({ GET: [showHost, 'os-hosts:show'], PUT: [putHost, 'os-hosts:update'] }),
  '/os-services': to({ GET: [listServices, 'os-services:list'] }),
  '/os-services/:action': to({ PUT: [putService, 'os-services:update'] }),
  '/os-migrations': to({ GET: [listMigrations, 'os-migrations:index'] }),
  '/os-aggregates': to({ GET: [listAggregates, 'os-aggregates:list'] }),
  '/os-availability-zone': to({ GET: [listZones, 'os-availability-zone:list'] }),
  '/os-availability-zone/detail': to({ GET: [listZonesInDetail, 'os-availability-zone:detail'] }),
  '/os-server-groups': to({ GET: [listServerGroups, 'os-server-groups:index'] }),
  '/os-keypairs': to({ GET: [listKeypairs, 'os-keypairs:index'] }),
  '/os-quota-sets/:project': to({
    GET: [showQuotas, 'os-quota-sets:show'],
    PUT: [putQuotas, 'os-quota-sets:update'],
    DELETE: [deleteQuotas, 'os-quota-sets:delete'],
  }),
  '/os-quota-sets/:project/defaults': to({ GET: [showDefaultQuotas, 'os-quota-sets:show'] }),
  '/os-quota-sets/:project/detail': to({ GET: [showQuotasInDetail, 'os-quota-sets:show'] }),
  '/os-quota-class-sets/:class': to({
    GET: [showQuotaClass, 'os-quota-class-sets:show'],
    PUT: [putQuotaClass, 'os-quota-class-sets:update'],
  }),
  '/os-simple-tenant-usage': to({ GET: [listUsages, 'os-simple-tenant-usage:list'] }),
  '/os-simple-tenant-usage/:project': to({ GET: [showUsage, 'os-simple-tenant-usage:show'] }),
  '/limits': to({ GET: [showLimits, 'limits'] }),
  '/extensions': to({ GET: [listExtensions, 'extensions'] }),
}
