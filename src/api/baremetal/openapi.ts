// Describes the bare metal API for its OpenAPI document.
import { describedRoutes, versionRoute } from '../described.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import type { ApiDescription } from '../openapi.ts'
import { RefusalShape } from './errors.ts'
import { showRoot } from './root.ts'
import { routes } from './routes.ts'
import { NEWEST, since } from './versions.ts'

export const baremetalApi: ApiDescription = {
  title: 'Bare Metal',
  version: NEWEST.text,
  description: 'Nodes with their states and traits, allocations of them, and reservations that hold them for a while.',
  url: PREFIXES.baremetal,
  versionHeader: { name: 'X-OpenStack-Ironic-API-Version', example: NEWEST.text },
  refusal: RefusalShape,
  routes: [
    versionRoute('/', showRoot),
    ...describedRoutes(routes, '/v1', ({ needs }) => ({ since: needs && since(needs) })),
  ],
}
