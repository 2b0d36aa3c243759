// Describes the Image API for its OpenAPI document.
import { describedRoutes, versionRoute } from '../described.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import type { ApiDescription } from '../openapi.ts'
import { RefusalShape } from './errors.ts'
import { showVersions } from './images.ts'
import { routes } from './routes.ts'

export const imageApi: ApiDescription = {
  title: 'Image',
  version: '2.9',
  description: 'The one image that servers are made from.',
  url: PREFIXES.image,
  refusal: RefusalShape,
  routes: [versionRoute('/', showVersions), ...describedRoutes(routes, '')],
}
