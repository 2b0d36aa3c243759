// Describes the reservation API for the frame.
import {
  callerMay,
  methodIsThere,
  namesAreNotEmpty,
  says,
  uriHasNoNul,
  uriIsShort,
  versionIsKnown,
} from '../frame/checks.ts'
import { type Dialect, JSON_TYPE, TOKEN } from '../frame/dialect.ts'
import { PREFIXES, VERSION_PATHS } from '../frame/prefixes.ts'
import { renderError } from './errors.ts'
import { routes } from './routes.ts'
import { requireVersion, VERSION, versionDocument } from './versions.ts'

const versions = { show: versionDocument }

export const reservation: Dialect = {
  prefix: PREFIXES.reservation,
  below: VERSION_PATHS.reservation,
  routes,
  // If the path ends in a name, the suffix is part of the name, and `suffix` removes it.
  spellings: path => (/:\w+$/.test(path) ? [] : [`${path}.json`]),
  suffix: '.json',
  headIsGet: true,
  documents: { '/': versions, '/versions': versions, '/versions.json': versions },
  checks: {
    everywhere: [
      says({ 'openstack-api-version': `reservation ${VERSION}`, vary: 'OpenStack-API-Version' }),
      uriIsShort,
      uriHasNoNul('The URL holds NUL.'),
      TOKEN,
      versionIsKnown,
    ],
    beforeHandler: [namesAreNotEmpty, methodIsThere, callerMay],
  },
  negotiate: headers => requireVersion(headers['openstack-api-version']),
  ownProject: true,
  seesAll: 'blazar:leases:list_all',
  shapeFirst: true,
  invalidParameter: 'invalid_query',
  type: JSON_TYPE,
  render: renderError,
}
