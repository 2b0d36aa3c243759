// All URLs of the operator API below /holdfast/v1: the handler and the permission.
import type { Route, Routes } from '../frame/dialect.ts'
import type { Action } from '../policy.ts'
import { explainAllocation, explainNewAllocation, postKeep, postRetry } from './allocations.ts'
import { listEntries } from './audit.ts'
import { getCapacity } from './capacity.ts'
import { readBootIso } from './boot-iso.ts'
import { readCalendar } from './calendar-feed.ts'
import { CREATE, deleteOneCalendar, getCalendars, postCalendar } from './calendars.ts'
import { advanceClock, showClock } from './clock.ts'
import { getConsole } from './console.ts'
import { listDocuments, showDocument } from './documents.ts'
import { getEvents, postTicket } from './events.ts'
import { explainCandidates } from './explain.ts'
import { postHypervisorState } from './hypervisor-state.ts'
import { deleteLeasableNode, getLeasableNode, getLeasableNodes, putLeasableNode } from './leasable-nodes.ts'
import { explainLeaseOf } from './leases.ts'
import { readConfigDrive } from './media.ts'
import { listNames } from './names.ts'
import type { OperatorAction } from './policy.ts'
import { getQueue, getShares, getSharesOfOne, putPriority } from './queue.ts'
import { deleteOneQuota, getQuota, getQuotas, putQuota } from './quotas.ts'
import { getMachine } from './machine.ts'
import { getEventsOfBmc, getSensors } from './sensors.ts'
import { showNova } from './nova.ts'
import { getHealth, showFsck } from './service-health.ts'
import { getStatus } from './status.ts'
import {
  explainAllocationChange,
  explainAllocationDeletion,
  explainLeaseDeletion,
  explainNewReservation,
  explainNodeDeletion,
} from './rehearsals.ts'

import {
  deleteDelivery,
  deleteOneWebhook,
  getDeliveries,
  getWebhook,
  getWebhooks,
  patchWebhook,
  postResume,
  postSecret,
  postTest,
  postWebhook,
} from './webhooks.ts'

/** Paths where bodies may be large: ten thousand candidate nodes. */
export const BULK: ReadonlySet<string> = new Set(['/explain/allocations'])

const to = (handle: Route['handle'], action: Action, more: Partial<Route> = {}): Route => ({ handle, action, ...more })

/** A route that needs no token. */
const open = (handle: Route['handle']): Route => ({ handle, action: null, isOpen: true })

/** A route whose permission depends on the resource. */
const onFound = (handle: Route['handle'], action: Action, more: Partial<Route> = {}): Route =>
  to(handle, action, { onFound: true, ...more })

/** A route about the project in the path. */
const ofProject = (handle: Route['handle'], action: OperatorAction): Route =>
  to(handle, action, { about: request => ({ project: request.param('project') }) })

export const routes: Routes = {
  '/health': { GET: to(getHealth, 'holdfast:health:get') },
  '/nova': { GET: to(showNova, 'holdfast:nova:get') },
  '/capacity': { GET: to(getCapacity, 'holdfast:capacity:get') },
  '/fsck': { GET: to(showFsck, 'holdfast:fsck') },
  '/audit': { GET: to(listEntries, 'holdfast:audit:list') },
  '/explain/allocation_candidates': { GET: to(explainCandidates, 'holdfast:explain:allocation_candidates') },
  '/explain/allocations/:ident': {
    GET: onFound(explainAllocation, 'holdfast:explain:allocation'),
    POST: onFound(explainAllocationChange, 'baremetal:allocation:update'),
  },
  // A dry run needs the permission for the real change.
  '/explain/allocations': { POST: to(explainNewAllocation, 'baremetal:allocation:create') },
  '/explain/reservations': { POST: to(explainNewReservation, 'baremetal:reservation:create') },
  '/explain/deletions/nodes/:ident': { GET: onFound(explainNodeDeletion, 'baremetal:node:delete') },
  '/explain/deletions/allocations/:ident': { GET: onFound(explainAllocationDeletion, 'baremetal:allocation:delete') },
  '/explain/deletions/leases/:ident': { GET: to(explainLeaseDeletion, 'blazar:leases:delete') },
  '/explain/leases': {
    GET: to(explainLeaseOf, 'holdfast:explain:lease'),
    POST: to(explainLeaseOf, 'holdfast:explain:lease'),
  },
  '/allocations/:ident/keep': { POST: onFound(postKeep, 'baremetal:allocation:update') },
  '/allocations/:ident/retry': { POST: onFound(postRetry, 'holdfast:allocation:retry', { isAccepted: true }) },
  '/hypervisor-state': { POST: to(postHypervisorState, 'holdfast:hypervisor_state:set') },
  '/leasable-nodes': { GET: to(getLeasableNodes, 'holdfast:leasable_nodes:get') },
  '/leasable-nodes/:ident': {
    GET: to(getLeasableNode, 'holdfast:leasable_nodes:get'),
    PUT: to(putLeasableNode, 'holdfast:leasable_nodes:set'),
    DELETE: to(deleteLeasableNode, 'holdfast:leasable_nodes:set'),
  },
  '/names': { GET: to(listNames, 'holdfast:names:list') },
  '/queue': { GET: to(getQueue, 'holdfast:queue:list') },
  '/queue/projects': { GET: to(getShares, 'holdfast:queue:shares') },
  '/queue/projects/:project': {
    GET: ofProject(getSharesOfOne, 'holdfast:queue:get'),
    PUT: ofProject(putPriority, 'holdfast:queue:set'),
  },
  '/quotas': { GET: to(getQuotas, 'holdfast:quotas:list') },
  '/quotas/:project': {
    GET: ofProject(getQuota, 'holdfast:quotas:get'),
    PUT: ofProject(putQuota, 'holdfast:quotas:set'),
    DELETE: ofProject(deleteOneQuota, 'holdfast:quotas:set'),
  },
  '/status': { GET: to(getStatus, 'holdfast:status:get') },
  '/nodes/:ident/sensors': { GET: onFound(getSensors, 'baremetal:node:get_sensors') },
  '/nodes/:ident/events': { GET: onFound(getEventsOfBmc, 'baremetal:node:get_sensors') },
  '/nodes/:ident/console': { GET: onFound(getConsole, 'baremetal:node:get_console', { lasts: true, isSocket: true }) },
  '/status/:ident': { GET: to(getMachine, 'holdfast:status:get') },
  '/events': { GET: to(getEvents, 'holdfast:events:list', { lasts: true }) },
  '/events/tickets': { POST: to(postTicket, 'holdfast:events:ticket') },
  '/calendars': {
    GET: to(getCalendars, 'holdfast:calendars:list'),
    POST: onFound(postCalendar, CREATE),
  },
  '/calendars/:id': { DELETE: to(deleteOneCalendar, 'holdfast:calendars:delete') },
  '/calendar/:token.ics': { GET: open(readCalendar) },
  '/media/:node/:signature/boot.iso': { GET: open(readBootIso) },
  '/media/:node/:signature/configdrive.iso': { GET: open(readConfigDrive) },
  '/webhooks': { GET: to(getWebhooks, 'holdfast:webhooks:get'), POST: to(postWebhook, 'holdfast:webhooks:set') },
  '/webhooks/:uuid': {
    GET: to(getWebhook, 'holdfast:webhooks:get'),
    PATCH: to(patchWebhook, 'holdfast:webhooks:set'),
    DELETE: to(deleteOneWebhook, 'holdfast:webhooks:set'),
  },
  '/webhooks/:uuid/secret': { POST: to(postSecret, 'holdfast:webhooks:set') },
  '/webhooks/:uuid/test': { POST: to(postTest, 'holdfast:webhooks:set') },
  '/webhooks/:uuid/resume': { POST: to(postResume, 'holdfast:webhooks:set') },
  '/webhooks/:uuid/deliveries': { GET: to(getDeliveries, 'holdfast:webhooks:get') },
  '/webhooks/:uuid/deliveries/:delivery': { DELETE: to(deleteDelivery, 'holdfast:webhooks:set') },
  '/openapi': { GET: open(listDocuments) },
  '/openapi/:api': { GET: open(showDocument) },
  '/clock': {
    GET: to(showClock, 'holdfast:clock:get', { isForTests: true }),
    POST: to(advanceClock, 'holdfast:clock:set', { isForTests: true }),
  },
}
