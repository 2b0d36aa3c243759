// All URLs of Placement: the handler, the version that brought it, and the permission.
import type { Routes } from '../frame/dialect.ts'
import { putAggregates, showAggregates } from './aggregates.ts'
import { listCandidates } from './allocation-candidates.ts'
import {
  deleteAllocations,
  postAllocations,
  putAllocations,
  showAllocations,
  showProviderAllocations,
} from './allocations.ts'
import {
  createInventory,
  deleteInventories,
  deleteOneInventory,
  listInventories,
  putInventories,
  putInventory,
  showInventory,
} from './inventories.ts'
import { postReshape } from './reshaper.ts'
import {
  createResourceClass,
  deleteResourceClass,
  listResourceClasses,
  putResourceClass,
  showResourceClass,
} from './resource-classes.ts'
import {
  createResourceProvider,
  deleteResourceProvider,
  listResourceProviders,
  putResourceProvider,
  showResourceProvider,
} from './resource-providers.ts'
import { showVersions } from './root.ts'
import {
  deleteProviderTraits,
  listAllTraits,
  putProviderTraits,
  putTrait,
  removeTrait,
  showProviderTraits,
  showTrait,
} from './traits.ts'
import { showProviderUsages, showTotalUsages } from './usages.ts'
import type { Word } from './versions.ts'

/** Paths where bodies may be large: many consumers, or whole trees. */
export const BULK: ReadonlySet<string> = new Set(['/allocations', '/reshaper'])

export const routes: Routes<Word> = {
  '/': {
    GET: { handle: showVersions, action: null, isOpen: true },
  },
  '/resource_classes': {
    GET: {
      handle: listResourceClasses,
      action: 'placement:resource_classes:list',
      needs: 'resourceClasses',
      json: 'answer',
    },
    POST: {
      handle: createResourceClass,
      action: 'placement:resource_classes:create',
      needs: 'resourceClasses',
      json: 'body',
    },
  },
  '/resource_classes/:name': {
    GET: {
      handle: showResourceClass,
      action: 'placement:resource_classes:show',
      needs: 'resourceClasses',
      json: 'answer',
    },
    PUT: { handle: putResourceClass, action: 'placement:resource_classes:update', needs: 'resourceClasses' },
    DELETE: { handle: deleteResourceClass, action: 'placement:resource_classes:delete', needs: 'resourceClasses' },
  },
  '/resource_providers': {
    GET: { handle: listResourceProviders, action: 'placement:resource_providers:list', json: 'answer' },
    POST: { handle: createResourceProvider, action: 'placement:resource_providers:create', json: 'body' },
  },
  '/resource_providers/:uuid': {
    GET: { handle: showResourceProvider, action: 'placement:resource_providers:show', json: 'answer' },
    DELETE: { handle: deleteResourceProvider, action: 'placement:resource_providers:delete' },
    PUT: { handle: putResourceProvider, action: 'placement:resource_providers:update', json: 'body' },
  },
  '/resource_providers/:uuid/inventories': {
    GET: { handle: listInventories, action: 'placement:resource_providers:inventories:list', json: 'answer' },
    POST: { handle: createInventory, action: 'placement:resource_providers:inventories:create', json: 'body' },
    PUT: { handle: putInventories, action: 'placement:resource_providers:inventories:update', json: 'body' },
    DELETE: {
      handle: deleteInventories,
      action: 'placement:resource_providers:inventories:delete',
      needs: 'deleteInventories',
      absent: 'method_not_allowed',
    },
  },
  '/resource_providers/:uuid/inventories/:resource_class': {
    GET: { handle: showInventory, action: 'placement:resource_providers:inventories:show', json: 'answer' },
    PUT: { handle: putInventory, action: 'placement:resource_providers:inventories:update', json: 'body' },
    DELETE: { handle: deleteOneInventory, action: 'placement:resource_providers:inventories:delete' },
  },
  '/resource_providers/:uuid/usages': {
    GET: { handle: showProviderUsages, action: 'placement:resource_providers:usages', json: 'answer' },
  },
  '/resource_providers/:uuid/aggregates': {
    GET: {
      handle: showAggregates,
      action: 'placement:resource_providers:aggregates:list',
      needs: 'aggregates',
      json: 'answer',
      mediaTypeFirst: true,
    },
    PUT: {
      handle: putAggregates,
      action: 'placement:resource_providers:aggregates:update',
      needs: 'aggregates',
      json: 'body',
      mediaTypeFirst: true,
    },
  },
  '/resource_providers/:uuid/allocations': {
    GET: { handle: showProviderAllocations, action: 'placement:resource_providers:allocations:list', json: 'answer' },
  },
  '/resource_providers/:uuid/traits': {
    GET: {
      handle: showProviderTraits,
      action: 'placement:resource_providers:traits:list',
      needs: 'traits',
      json: 'answer',
    },
    PUT: {
      handle: putProviderTraits,
      action: 'placement:resource_providers:traits:update',
      needs: 'traits',
      json: 'body',
    },
    DELETE: { handle: deleteProviderTraits, action: 'placement:resource_providers:traits:delete', needs: 'traits' },
  },
  '/allocations': {
    POST: { handle: postAllocations, action: 'placement:allocations:manage', needs: 'manyConsumers', json: 'body' },
  },
  '/allocations/:consumer_uuid': {
    GET: { handle: showAllocations, action: 'placement:allocations:list', json: 'answer' },
    PUT: { handle: putAllocations, action: 'placement:allocations:update', json: 'body' },
    DELETE: { handle: deleteAllocations, action: 'placement:allocations:delete' },
  },
  '/allocation_candidates': {
    GET: {
      handle: listCandidates,
      action: 'placement:allocation_candidates:list',
      needs: 'candidates',
      json: 'answer',
    },
  },
  '/traits': {
    GET: { handle: listAllTraits, action: 'placement:traits:list', needs: 'traits', json: 'answer' },
  },
  '/traits/:name': {
    GET: { handle: showTrait, action: 'placement:traits:show', needs: 'traits' },
    PUT: { handle: putTrait, action: 'placement:traits:update', needs: 'traits' },
    DELETE: { handle: removeTrait, action: 'placement:traits:delete', needs: 'traits' },
  },
  '/usages': {
    GET: {
      handle: showTotalUsages,
      action: 'placement:usages',
      needs: 'totalUsages',
      json: 'answer',
      about: request => ({ project: request.query.get('project_id') }),
    },
  },
  '/reshaper': {
    POST: { handle: postReshape, action: 'placement:reshaper:reshape', needs: 'reshaper', json: 'body' },
  },
}
