// Describes the operator API for its OpenAPI document, with the routes at the root of the server.
import { describedRoutes, versionRoute } from '../described.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import type { ApiDescription } from '../openapi.ts'
import { byName, named, Text } from '../shapes.ts'
import { RefusalShape } from './errors.ts'
import { routes } from './routes.ts'
import { Type } from '../../shared/type.ts'

const Alive = named('Health', { status: Text })
// With --damaged-schema: what is wrong with the database that is served all the same.
const Ready = named('Readiness', { status: Text, damage: Type.Optional(Text) })

const root = (path: string, name: string, summary: string, answer: Parameters<typeof Type.Array>[0]) =>
  versionRoute(path, { name, operation: { summary, answers: { 200: answer } } })

export const operatorApi: ApiDescription = {
  title: 'Operator',
  version: '1',
  description: 'For those who run Holdfast: is it well, what happened, and why not.',
  url: '/',
  refusal: RefusalShape,
  routes: [
    root(
      '/',
      'showRoot',
      'Say where everything is',
      named('Root', { name: Text, version: Text, apis: byName(Text), ready: Text, metrics: Text, openapi: Text }),
    ),
    root('/healthz', 'showHealth', 'Say that the process is alive', Alive),
    root('/readyz', 'showReadiness', 'Say that the database is there, and whole', Ready),
    root(
      '/metrics',
      'showMetrics',
      'Show what is counted and measured, for Prometheus',
      Type.String({ contentMediaType: 'text/plain' }),
    ),
    ...describedRoutes(routes, PREFIXES.operator),
  ],
}
