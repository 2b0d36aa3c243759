// Describes the Placement API for its OpenAPI document.
import { describedRoutes } from '../described.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import type { ApiDescription } from '../openapi.ts'
import { RefusalShape } from './errors.ts'
import { routes } from './routes.ts'
import { MAX_MINOR, since } from './versions.ts'

export const placementApi: ApiDescription = {
  title: 'Placement',
  version: `1.${MAX_MINOR}`,
  description: 'Who has what: resource providers with their inventories and traits, and what consumers claim of them.',
  url: PREFIXES.placement,
  versionHeader: { name: 'OpenStack-API-Version', example: `placement 1.${MAX_MINOR}` },
  refusal: RefusalShape,
  routes: describedRoutes(routes, '', ({ needs }) => ({ since: needs && since(needs) })),
}
