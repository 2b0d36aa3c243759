// The test Nova's routes, below /v2.1.
import type { Answer, NovaRequest } from './nova-answers.ts'
import {
  addSpecs,
  changeAccess,
  createFlavor,
  deleteFlavor,
  deleteSpec,
  listFlavors,
  showAccess,
  showFlavor,
  showSpecs,
} from './nova-flavors.ts'
import { actOnServer, listMigrations } from './nova-moves.ts'
import { createServer, deleteServer, listServers, showServer } from './nova-servers.ts'
import { changeService, deleteService, listHypervisors, listServices, showHypervisor } from './nova-services.ts'
import type { TestNova } from './nova.ts'

type Handler = (nova: TestNova, request: NovaRequest) => Answer | Promise<Answer>

const ROUTES: readonly [string, string, Handler][] = [
  ['GET', '/flavors', listFlavors],
  ['GET', '/flavors/(detail)', listFlavors],
  ['POST', '/flavors', createFlavor],
  ['GET', '/flavors/([^/]+)', showFlavor],
  ['DELETE', '/flavors/([^/]+)', deleteFlavor],
  ['GET', '/flavors/([^/]+)/os-extra_specs', showSpecs],
  ['POST', '/flavors/([^/]+)/os-extra_specs', addSpecs],
  ['DELETE', '/flavors/([^/]+)/os-extra_specs/([^/]+)', deleteSpec],
  ['GET', '/flavors/([^/]+)/os-flavor-access', showAccess],
  ['POST', '/flavors/([^/]+)/action', changeAccess],
  ['GET', '/servers', listServers],
  ['GET', '/servers/(detail)', listServers],
  ['POST', '/servers', createServer],
  ['GET', '/servers/([^/]+)', showServer],
  ['DELETE', '/servers/([^/]+)', deleteServer],
  ['POST', '/servers/([^/]+)/action', actOnServer],
  ['GET', '/os-migrations', listMigrations],
  ['GET', '/os-services', listServices],
  ['PUT', '/os-services/([^/]+)', changeService],
  ['DELETE', '/os-services/([^/]+)', deleteService],
  ['GET', '/os-hypervisors', listHypervisors],
  ['GET', '/os-hypervisors/(detail)', listHypervisors],
  ['GET', '/os-hypervisors/([^/]+)', showHypervisor],
]

const PATTERNS = ROUTES.map(([method, path, handler]) => ({ method, pattern: new RegExp(`^${path}$`), handler }))

/** null: there is no such path. */
export function routeOf(method: string, path: string): { parts: string[]; handler: Handler } | null {
  for (const route of PATTERNS) {
    const found = route.method === method && route.pattern.exec(path)
    if (found) return { parts: found.slice(1).map(decodeURIComponent), handler: route.handler }
  }
  return null
}
