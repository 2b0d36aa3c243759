// Writes failures in Placement's format: a status, its stock sentence, our message, and from 1.23 on a code.
import type { LedgerProblem, Problem, ProblemKind, RequestProblem } from '../../problems/problem.ts'
import { quality } from '../frame/accept.ts'
import type { Refusal } from '../frame/dialect.ts'
import { from, named, Text } from '../shapes.ts'
import type { PlacementRequest } from './request.ts'
import { MAX_MINOR, since, VERSION_HEADER } from './versions.ts'
import { Type } from '../../shared/type.ts'

// Never change a code: clients compare them.
type Code =
  | 'placement.undefined_code'
  | 'placement.inventory.inuse'
  | 'placement.concurrent_update'
  | 'placement.duplicate_name'
  | 'placement.resource_provider.inuse'
  | 'placement.resource_provider.cannot_delete_parent'
  | 'placement.resource_provider.not_found'
  | 'placement.query.duplicate_key'
  | 'placement.query.bad_value'
  | 'placement.query.missing_value'

interface Shape {
  status: keyof typeof STATUS
  code?: Code
  /** Raised outside a handler, where upstream sends no Vary header. */
  early?: true
}

/** Problems of other rooms can't occur in this API. */
const ERRORS: Record<RequestProblem | LedgerProblem, Shape> & Partial<Record<ProblemKind, Shape>> = {
  malformed_request: { status: 400, early: true },
  malformed_json: { status: 400 },
  invalid_body: { status: 400 },
  invalid_query: { status: 400 },
  query_duplicate_key: { status: 400, code: 'placement.query.duplicate_key' },
  query_bad_value: { status: 400, code: 'placement.query.bad_value' },
  query_missing_value: { status: 400, code: 'placement.query.missing_value' },
  unsupported_media_type: { status: 415 },
  version_not_acceptable: { status: 406, early: true },
  not_acceptable: { status: 406 },
  too_large: { status: 413, early: true },
  uri_too_long: { status: 414, early: true },
  timed_out: { status: 408, early: true },
  route_not_found: { status: 404, early: true },
  method_not_allowed: { status: 405 },
  unauthorized: { status: 401, early: true },
  too_many_attempts: { status: 429, early: true },
  too_many_requests: { status: 429, early: true },
  forbidden: { status: 403, early: true },
  foreign_page: { status: 403, early: true },
  unavailable: { status: 503 },
  unreadable: { status: 409 },
  internal: { status: 500 },

  provider_not_found: { status: 404, early: true },
  provider_exists: { status: 409, code: 'placement.duplicate_name' },
  provider_parent_refused: { status: 400 },
  provider_name_missing: { status: 400 },
  provider_in_use: { status: 409, code: 'placement.resource_provider.inuse' },
  provider_has_children: { status: 409, code: 'placement.resource_provider.cannot_delete_parent' },
  provider_managed: { status: 409 },
  generation_conflict: { status: 409, code: 'placement.concurrent_update' },

  inventory_exists: { status: 409, code: 'placement.concurrent_update' },
  inventory_not_found: { status: 404 },
  inventory_absent: { status: 400 },
  inventory_in_use: { status: 409, code: 'placement.inventory.inuse' },
  inventory_delete_refused: { status: 409, code: 'placement.concurrent_update' },
  inventory_over_reserved: { status: 400 },

  class_not_found: { status: 404, early: true },
  class_unknown: { status: 400 },
  class_exists: { status: 409 },
  class_name_taken: { status: 409 },
  class_standard: { status: 400 },
  class_in_use: { status: 409 },
  trait_not_found: { status: 404 },
  trait_unknown: { status: 400 },
  traits_unknown: { status: 400 },
  trait_invalid: { status: 400 },
  trait_standard: { status: 400 },
  trait_in_use: { status: 409 },

  consumer_malformed: { status: 400 },
  consumer_without_claims: { status: 404 },
  consumer_generation_conflict: { status: 409, code: 'placement.concurrent_update' },
  consumer_managed: { status: 409 },
  claim_on_unknown_provider: { status: 400 },
  claim_on_unknown_class: { status: 400 },
  claim_without_inventory: { status: 409 },
  claim_violates_units: { status: 409 },
  claim_exceeds_capacity: { status: 409 },
  claim_on_dedicated_provider: { status: 409 },
  class_managed: { status: 409 },

  reshape_unknown_provider: { status: 400, code: 'placement.resource_provider.not_found' },
}

const STATUS = {
  400: [
    'Bad Request',
    'The server could not comply with the request since it is either malformed or otherwise incorrect.',
  ],
  401: ['Unauthorized', 'This server could not verify that you are authorized to access the document.'],
  403: ['Forbidden', 'Access was denied to this resource.'],
  404: ['Not Found', 'The resource could not be found.'],
  405: ['Method Not Allowed', 'The method METHOD is not allowed for this resource. '],
  406: [
    'Not Acceptable',
    'The resource could not be generated that was acceptable to your browser (content of type ACCEPT. ',
  ],
  408: ['Request Timeout', 'The server has waited too long for the request to be sent by the client.'],
  409: ['Conflict', 'There was a conflict when trying to complete your request.'],
  413: ['Request Entity Too Large', 'The body of your request was too large for this server.'],
  414: ['Request-URI Too Long', 'The request URI was too long for this server.'],
  415: ['Unsupported Media Type', 'The request media type is not supported by this server.'],
  429: ['Too Many Requests', 'The client has sent too many requests in a given amount of time.'],
  500: ['Internal Server Error', 'The server has either erred or is incapable of performing the requested operation.'],
  503: ['Service Unavailable', 'The server is currently unavailable. Please try again at a later time.'],
} as const

export const RefusalShape = Type.Union(
  [
    Type.Object({
      errors: Type.Array(
        named('Error', {
          status: Type.Integer(),
          title: Text,
          detail: Text,
          code: Type.Optional(from(since('errorCodes'), Text)),
          request_id: Type.Optional(Text),
          max_version: Type.Optional(Text),
          min_version: Type.Optional(Text),
        }),
      ),
    }),
    // The format of 401, which upstream's middleware sends.
    Type.Object({ message: Text, code: Text, title: Text }),
  ],
  { title: 'Refusal' },
)

export function renderError(problem: Problem, { raw, negotiated }: PlacementRequest): Refusal {
  // In another format than the rest: upstream the middleware in front of Placement sends it.
  if (problem.kind === 'unauthorized') {
    return { status: 401, body: { message: problem.message, code: '401 Unauthorized', title: 'Unauthorized' } }
  }
  const { status, code = 'placement.undefined_code', early = false } = ERRORS[problem.kind] ?? { status: 500 }
  const { accept } = raw.headers
  const [title, stock] = STATUS[status]
  const explanation = stock.replace('METHOD', raw.method).replace('ACCEPT', accept ?? 'application/json')
  const detail = `${explanation}\n\n ${problem.message}  `
  const headers = !negotiated
    ? {}
    : early
      ? { [VERSION_HEADER]: negotiated.headers[VERSION_HEADER]! }
      : negotiated.headers
  const form = formOf(accept)
  if (form === 'html') {
    const html = `<html>\n <head>\n  <title>${status} ${title}</title>\n </head>\n <body>\n  <h1>${status} ${title}</h1>\n  ${escapeHtml(explanation)}<br /><br />\n${escapeHtml(problem.message)}\n </body>\n</html>`
    return { status, type: 'text/html; charset=UTF-8', body: html, headers }
  }
  if (form === 'plain') {
    return { status, type: 'text/plain; charset=UTF-8', body: `${status} ${title}\n\n${detail}`, headers }
  }
  const error: Record<string, unknown> = { status, title, detail }
  if (negotiated?.has.errorCodes) error['code'] = code
  error['request_id'] = raw.id
  if (status === 406 && !negotiated) {
    error['max_version'] = `1.${MAX_MINOR}`
    error['min_version'] = '1.0'
  }
  return { status, body: { errors: [error] }, headers }
}

/** Clients that don't accept JSON get errors as HTML or plain text. */
function formOf(accept: string | undefined): 'json' | 'html' | 'plain' {
  if (accept === undefined || accept === '' || accept === '*/*') return 'json'
  const html = quality(accept, 'text', 'html')
  const json = quality(accept, 'application', 'json')
  if (html === 0 && json === 0) return 'plain'
  return html > json ? 'html' : 'json'
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
