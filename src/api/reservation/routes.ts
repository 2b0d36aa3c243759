// All URLs of the reservation API below /v1: the handler and the permission.
import type { Routes } from '../frame/dialect.ts'
import { listAllocations, showAllocation } from './host-allocations.ts'
import { listProperties, patchProperty } from './host-properties.ts'
import { deleteOneHost, listAllHosts, postHost, putHost, showHost } from './hosts.ts'
import { deleteOneLease, listAllLeases, postLease, putLease, showLease } from './leases.ts'

export const routes: Routes = {
  '/leases': {
    GET: { handle: listAllLeases, action: 'blazar:leases:list' },
    POST: { handle: postLease, action: 'blazar:leases:post' },
  },
  '/leases/:id': {
    GET: { handle: showLease, action: 'blazar:leases:get' },
    PUT: { handle: putLease, action: 'blazar:leases:put' },
    DELETE: { handle: deleteOneLease, action: 'blazar:leases:delete' },
  },
  '/os-hosts': {
    GET: { handle: listAllHosts, action: 'blazar:oshosts:get' },
    POST: { handle: postHost, action: 'blazar:oshosts:post' },
  },
  '/os-hosts/allocations': {
    GET: { handle: listAllocations, action: 'blazar:oshosts:get_allocations' },
  },
  '/os-hosts/properties': {
    GET: { handle: listProperties, action: 'blazar:oshosts:get_resource_properties' },
  },
  '/os-hosts/properties/:name': {
    PATCH: { handle: patchProperty, action: 'blazar:oshosts:update_resource_properties' },
  },
  '/os-hosts/:id': {
    GET: { handle: showHost, action: 'blazar:oshosts:get' },
    PUT: { handle: putHost, action: 'blazar:oshosts:put' },
    DELETE: { handle: deleteOneHost, action: 'blazar:oshosts:delete' },
  },
  '/os-hosts/:id/allocation': {
    GET: { handle: showAllocation, action: 'blazar:oshosts:get_allocations' },
  },
}
