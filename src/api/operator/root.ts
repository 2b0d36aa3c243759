// Serves the root of the server, outside of every API.
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../process/context.ts'
import { UI } from '../../http/ui.ts'
import { VERSION } from '../../shared/version.ts'
import { quality } from '../frame/accept.ts'
import { noRoute, refusing } from '../frame/mount.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import { operator } from './dialect.ts'
import { addHealth, addMetrics } from './health.ts'

const ROOT = {
  name: 'holdfast',
  version: VERSION,
  apis: {
    placement: `${PREFIXES.placement}/`,
    baremetal: `${PREFIXES.baremetal}/`,
    compute: PREFIXES.compute,
    image: PREFIXES.image,
    reservation: `${PREFIXES.reservation}/`,
    identity: `${PREFIXES.identity}/`,
  },
  ready: '/readyz',
  metrics: '/metrics',
  openapi: `${PREFIXES.operator}/openapi`,
  dashboard: `${UI}/`,
}

export const root =
  (context: Context) =>
  (app: FastifyInstance, _: object, done: () => void): void => {
    app.setErrorHandler(refusing(operator, context))
    app.setNotFoundHandler(noRoute)
    app.get('/', ({ headers: { accept = '' } }, reply) => {
      const varies = [reply.getHeader('vary') ?? [], 'Accept'].flat().join(', ')
      void reply.header('vary', varies)
      return context.config.ui === 'on' && prefersPage(accept) ? reply.redirect(`${UI}/`) : ROOT
    })
    addHealth(app, context)
    if (context.config.metricsPort === 0) addMetrics(app, context)
    done()
  }

/** Browsers name HTML first; programs name JSON, anything or nothing. */
const prefersPage = (accept: string) => quality(accept, 'text', 'html') > quality(accept, 'application', 'json')
