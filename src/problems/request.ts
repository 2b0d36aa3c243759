// The problems that all APIs share: with the request itself, or with the service.

export const REQUEST_PROBLEMS = {
  // the request itself
  malformed_request: (f: { reason: string }) => f.reason,
  malformed_json: (f: { reason: string }) => `Malformed JSON: ${f.reason}`,
  invalid_body: (f: { reason: string }) => `JSON does not validate: ${f.reason}`,
  invalid_query: (f: { reason: string }) => f.reason,
  query_duplicate_key: (f: { reason: string }) => f.reason,
  query_bad_value: (f: { reason: string }) => f.reason,
  query_missing_value: (f: { reason: string }) => f.reason,
  unsupported_media_type: (f: { given: string }) => `The media type ${f.given} is not supported, use application/json`,
  version_not_acceptable: (f: { wanted: string }) => `Invalid microversion: Unacceptable version header: ${f.wanted}`,
  not_acceptable: (_: object) => 'Only application/json is provided',
  too_large: (f: { reason: string }) => f.reason,
  uri_too_long: (f: { reason: string }) => f.reason,
  timed_out: (f: { reason: string }) => f.reason,
  route_not_found: (_: object) => '',
  method_not_allowed: (_: object) => 'The method specified is not allowed for this resource.',
  unauthorized: (_: object) =>
    'This server could not verify that you are authorized to access the document you requested. ' +
    'Either you supplied the wrong credentials (e.g., bad password), or your browser does not understand ' +
    'how to supply the credentials required.',
  too_many_attempts: (f: { retrySeconds: number }) =>
    `There were too many attempts to get in; try again in ${f.retrySeconds} s.`,
  too_many_requests: (_: { retrySeconds: number }) =>
    'Your project, or those at your address, have more than their share of what is being done; try again.',
  foreign_page: (f: { reason: string }) => f.reason,
  forbidden: (f: { action: string }) => `Policy does not allow ${f.action} to be performed.`,

  // the service
  unavailable: (f: { reason: string }) => f.reason,
  unreadable: (f: { reason: string }) =>
    `Something that this needs is damaged in the database: ${f.reason}. Nothing was changed. An operator has to mend it; ` +
    'holdfast fsck says where it is.',
  internal: (_: object) => 'The server failed in a way that it should not have; the request id names the log line.',
} as const
