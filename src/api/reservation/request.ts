// A request in the reservation API's words, and what only its handlers ask of it.
import type { LeaseContext } from '../../leases/context.ts'
import { problem } from '../../problems/problem.ts'
import { isObject } from '../../shared/is-object.ts'
import type { Members, Request } from '../frame/request.ts'
import type { Form } from '../operation.ts'
import { SEES_HOSTS } from './policy.ts'

export type { Answer } from '../frame/dialect.ts'
export type { Members } from '../frame/request.ts'
export type ReservationRequest = Request

/** What leases are made and changed with, telling as much as the caller may know. */
export const leasing = (request: ReservationRequest): LeaseContext => ({
  ...request.context,
  seesHosts: request.may(SEES_HOSTS, {}),
})

/** The members of the JSON body; an empty body has none. The form is what the document says that they should be. */
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
