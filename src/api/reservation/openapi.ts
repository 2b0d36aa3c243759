// Describes the reservation API for its OpenAPI document.
import { describedRoutes, versionRoute } from '../described.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import type { ApiDescription } from '../openapi.ts'
import { RefusalShape } from './errors.ts'
import { routes } from './routes.ts'
import { VERSION, versionDocument } from './versions.ts'

export const reservationApi: ApiDescription = {
  title: 'Reservation',
  version: VERSION,
  description: 'Leases that book instances, hosts or nodes for a time. Every path may end in .json.',
  url: PREFIXES.reservation,
  refusal: RefusalShape,
  routes: [
    // Upstream asks for a token even here.
    versionRoute('/', versionDocument, false),
    versionRoute('/versions', versionDocument, false),
    ...describedRoutes(routes, '/v1'),
  ],
}
