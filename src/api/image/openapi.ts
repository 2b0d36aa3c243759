// The image API for its document.
import { Type } from 'typebox'
import { describedRoutes, versionRoute } from '../described.ts'
import type { ApiDescription } from '../openapi.ts'
import { named, Text } from '../shapes.ts'
import { showVersions } from './images.ts'
import { PREFIX } from './prefix.ts'
import { routes } from './routes.ts'

export const imageApi: ApiDescription = {
  title: 'Image',
  version: '2.9',
  description: 'The one image that servers are made from.',
  url: PREFIX,
  refusal: named('Refusal', { code: Type.Integer(), message: Text }),
  routes: [versionRoute('/', showVersions), ...describedRoutes(routes, '')],
}
