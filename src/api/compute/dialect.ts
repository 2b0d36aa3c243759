// Describes compute for the frame.
import { problem } from '../../problems/problem.ts'
import { callerMay, methodIsThere, namesHaveNoNul, says, saysId, uriIsShort, versionIsKnown } from '../frame/checks.ts'
import { type Dialect, JSON_UTF8, TOKEN } from '../frame/dialect.ts'
import { PREFIXES, VERSION_PATHS } from '../frame/prefixes.ts'
import { renderError } from './errors.ts'
import { showVersion, showVersions } from './root.ts'
import { routes } from './routes.ts'
import { requireVersion, VERSION_HEADERS } from './versions.ts'

const version = { show: showVersion }

export const compute: Dialect = {
  prefix: PREFIXES.compute,
  below: VERSION_PATHS.compute,
  routes,
  spellings: path => [`${path}/`],
  documents: { '/': { show: showVersions }, '/v2.1': version, '/v2.1/': version },
  checks: {
    everywhere: [says(VERSION_HEADERS), saysId('x-compute-request-id'), uriIsShort],
    beforeBody: [TOKEN],
    beforeHandler: [versionIsKnown, methodIsThere, namesHaveNoNul(() => problem('route_not_found', {})), callerMay],
  },
  negotiate: requireVersion,
  ownProject: true,
  seesAll: 'os_compute_api:servers:list_all',
  jsonBodies: true,
  invalidParameter: 'compute_invalid',
  type: JSON_UTF8,
  render: renderError,
}
