// Describes identity for the frame. No answer may be cached.
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import { callerMay, methodIsThere, namesHaveNoNul, says, uriIsShort } from '../frame/checks.ts'
import { type Check, type Dialect, JSON_UTF8, TOKEN } from '../frame/dialect.ts'
import { PREFIXES, VERSION_PATHS } from '../frame/prefixes.ts'
import { renderError } from './errors.ts'
import { showVersion, showVersions } from './root.ts'
import { routes } from './routes.ts'

const tokensAreOurs: Check = ({ context: { identity, config } }) => {
  if (identity.issuer) return
  const reason =
    config.auth === 'keystone'
      ? `Users are Keystone's here, and so are their tokens: ask ${config.keystoneUrl}.`
      : `With auth '${config.auth}' no tokens are handed out.`
  throw problem('identity_elsewhere', { reason })
}

const version = { show: showVersion }

export const identity: Dialect = {
  prefix: PREFIXES.identity,
  below: VERSION_PATHS.identity,
  routes,
  headIsGet: true,
  documents: { '/': { show: showVersions, location: '/v3/' }, '/v3': version, '/v3/': version },
  checks: {
    everywhere: [says({ 'cache-control': 'no-store', vary: 'X-Auth-Token' }), uriIsShort, tokensAreOurs],
    beforeBody: [methodIsThere, namesHaveNoNul(() => problem('route_not_found', {})), TOKEN],
    beforeHandler: [callerMay],
  },
  isOpen: ({ route }) => route?.isOpen ?? false,
  nobody: 'not_authenticated',
  forbidden: 'identity_forbidden',
  bodyBytesMax: limits.strangersBodyBytesMax,
  jsonBodies: true,
  type: JSON_UTF8,
  render: renderError,
}
