// Describes the compute API for its OpenAPI document.
import { describedRoutes, versionRoute } from '../described.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import type { ApiDescription } from '../openapi.ts'
import { RefusalShape } from './errors.ts'
import { showVersion, showVersions } from './root.ts'
import { routes } from './routes.ts'
import { NEWEST, since } from './versions.ts'

export const computeApi: ApiDescription = {
  title: 'Compute',
  version: NEWEST.text,
  description: 'Hypervisors, flavors, and servers that are claims in the ledger.',
  url: PREFIXES.compute,
  versionHeader: { name: 'X-OpenStack-Nova-API-Version', example: NEWEST.text },
  refusal: RefusalShape,
  routes: [
    versionRoute('/', showVersions),
    versionRoute('/v2.1', showVersion),
    ...describedRoutes(routes, '/v2.1', ({ needs }) => ({ since: needs && since(needs) })),
  ],
}
