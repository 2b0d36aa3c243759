// What watches over a process asks on a port of its own: how it is, and what it is doing.
import Fastify from 'fastify'
import { addHealth, addMetrics } from '../api/operator/health.ts'
import type { Context } from '../process/context.ts'
import { limits } from '../shared/limits.ts'
import { problemOf } from './failures.ts'

/** Listens on the port, if it is one; 0 is for none. */
export async function startHealth(port: number, context: Pick<Context, 'store' | 'metrics' | 'log' | 'config'>) {
  if (port === 0) return null
  const app = Fastify({ requestTimeout: limits.requestMsMax, forceCloseConnections: true })
  app.setErrorHandler((error, request, reply) => {
    const { kind, message } = problemOf(error, request, context)
    return reply.code(kind === 'unavailable' ? 503 : 500).send({ error: { kind, message, request_id: request.id } })
  })
  addHealth(app, context)
  addMetrics(app, context)
  const address = await app.listen({ host: context.config.host, port })
  return { address, stop: () => app.close() }
}
