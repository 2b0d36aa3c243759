// Converts route tables for the OpenAPI generator.
import type { RouteDescription } from './openapi.ts'
import type { Operation } from './operation.ts'
import { type Action, tableOf } from './policy.ts'

interface Route {
  handle: { name: string; operation: Operation }
  action: Action | null
  isOpen?: true
}

const RULES = tableOf('secure')
const policyOf = (action: Action | null) => (action === null ? null : { action, rule: RULES[action] })

/** All routes of a table, below a path. */
export const describedRoutes = <R extends Route>(
  table: Readonly<Record<string, Readonly<Partial<Record<string, R>>>>>,
  below: string,
  more: (route: R) => Partial<RouteDescription> = () => ({}),
): RouteDescription[] =>
  Object.entries(table).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, route]) => ({
      method,
      path: below + path,
      id: route!.handle.name,
      operation: route!.handle.operation,
      policy: policyOf(route!.action),
      isOpen: route!.isOpen ?? false,
      ...more(route!),
    })),
  )

/** A route that is in no table: a version document, which everyone may read. */
export const versionRoute = (path: string, handle: Route['handle'], isOpen = true): RouteDescription => ({
  method: 'GET',
  path,
  id: handle.name,
  operation: handle.operation,
  policy: null,
  isOpen,
})
