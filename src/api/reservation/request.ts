// The request type of the reservation API's handlers, and helpers that only they need.
import { withFlavors } from '../../leases/booking/source-flavors.ts'
import type { LeaseContext } from '../../leases/context.ts'
import type { AskedLease, NewLease } from '../../leases/types.ts'
import { problem } from '../../problems/problem.ts'
import { isObject } from '../../shared/is-object.ts'
import type { Members, Request } from '../frame/request.ts'
import type { Form } from '../operation.ts'
import { SEES_HOSTS } from './policy.ts'

export type { Answer } from '../frame/dialect.ts'
export type { Members } from '../frame/request.ts'
export type ReservationRequest = Request

/** The context for making and changing leases. Refusals name hosts only if the caller may see hosts. */
export const leaseContext = (request: ReservationRequest): LeaseContext => ({
  ...request.context,
  seesHosts: request.may(SEES_HOSTS, {}),
  project: request.project,
})

/** The lease with the flavors that it names, as far as the caller may see them. */
export const flavored = (request: ReservationRequest, asked: AskedLease): Promise<NewLease> =>
  withFlavors(request.context, asked, request.may('os_compute_api:flavors:list_all', {}) ? null : request.project)

/** The members of the JSON body; an empty body has none. The form is only what the document shows. */
export function membersIn(request: ReservationRequest, form: Form): Members {
  requireJson(request)
  if (!request.hasBody) return {}
  return request.read(form, value => {
    if (isObject(value)) return value
    throw problem('malformed_request', { reason: 'The body must be a JSON object.' })
  })
}

function requireJson({ raw }: ReservationRequest): void {
  const given = raw.headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase()
  if (given !== undefined && given !== '' && given !== 'application/json') {
    throw problem('malformed_request', { reason: `Content type '${given}' isn't supported, use application/json.` })
  }
}
