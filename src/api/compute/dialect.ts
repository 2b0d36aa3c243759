// Describes compute for the frame.
import { problem } from '../../problems/problem.ts'
import {
  callerMay,
  methodIsThere,
  namesHaveNoNul,
  says,
  saysId,
  uriIsShort,
  versionHasIt,
  versionIsKnown,
} from '../frame/checks.ts'
import { type Check, type Dialect, JSON_UTF8, TOKEN } from '../frame/dialect.ts'
import { PREFIXES, VERSION_PATHS } from '../frame/prefixes.ts'
import { renderError } from './errors.ts'
import { requireHere, showVersion, showVersions } from './root.ts'
import { routes } from './routes.ts'
import { negotiate, OLDEST, type Word } from './versions.ts'

const version = { show: showVersion }

const documents = { '/': { show: showVersions }, '/v2.1': version, '/v2.1/': version }
const documentUrls = new Set([PREFIXES.compute, ...Object.keys(documents).map(path => PREFIXES.compute + path)])

/** Where servers are not ours, only the version documents are here: they say who has them. */
const isHere: Check<Word> = ({ raw, context }) => {
  if (!documentUrls.has(raw.routeOptions.url ?? '')) requireHere(context.config)
}

/** Not a check: refusals, too, say which version was used. */
const versionIsSaid: Check<Word> = (request, reply) => void reply.headers(request.version.headers)

export const compute: Dialect<Word> = {
  prefix: PREFIXES.compute,
  below: VERSION_PATHS.compute,
  routes,
  spellings: path => [`${path}/`],
  documents,
  checks: {
    everywhere: [says(OLDEST.headers), saysId('x-compute-request-id'), uriIsShort, isHere],
    beforeBody: [TOKEN],
    beforeHandler: [
      versionIsKnown,
      versionIsSaid,
      methodIsThere,
      versionHasIt,
      namesHaveNoNul(() => problem('route_not_found', {})),
      callerMay,
    ],
  },
  negotiate,
  ownProject: true,
  seesAll: 'os_compute_api:servers:list_all',
  jsonBodies: true,
  invalidParameter: 'compute_invalid',
  type: JSON_UTF8,
  render: renderError,
}
