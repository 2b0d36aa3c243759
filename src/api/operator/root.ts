// Serves the root of the server, outside of every API.
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../process/context.ts'
import { VERSION } from '../../shared/version.ts'
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
}

export const root =
  (context: Context) =>
  (app: FastifyInstance, _: object, done: () => void): void => {
    app.setErrorHandler(refusing(operator, context))
    app.setNotFoundHandler(noRoute)
    app.get('/', () => ROOT)
    addHealth(app, context)
    if (context.config.metricsPort === 0) addMetrics(app, context)
    done()
  }
