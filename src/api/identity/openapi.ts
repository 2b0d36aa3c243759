// Describes the identity API for its OpenAPI document.
import { describedRoutes, versionRoute } from '../described.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import type { ApiDescription } from '../openapi.ts'
import { RefusalShape } from './errors.ts'
import { showVersion, showVersions } from './root.ts'
import { routes } from './routes.ts'

export const identityApi: ApiDescription = {
  title: 'Identity',
  version: '3.14',
  description: 'Tokens, users, projects, roles and application credentials: as much of Keystone as clients need.',
  url: PREFIXES.identity,
  refusal: RefusalShape,
  routes: [versionRoute('/', showVersions), versionRoute('/v3', showVersion), ...describedRoutes(routes, '/v3')],
}
