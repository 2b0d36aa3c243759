// The little that a conductor by itself answers: how it is, and what it is doing.
import Fastify from 'fastify'
import { addHealth } from '../api/operator/health.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { limits } from '../limits.ts'
import { problemOf } from './failures.ts'

export async function startHealth(config: Config, context: Pick<Context, 'store' | 'metrics' | 'log'>) {
  if (config.conductorPort === 0) return null
  const app = Fastify({ requestTimeout: limits.requestMsMax, forceCloseConnections: true })
  app.setErrorHandler((error, request, reply) => {
    const { kind, message } = problemOf(error, request, context)
    return reply.code(kind === 'unavailable' ? 503 : 500).send({ error: { kind, message, request_id: request.id } })
  })
  addHealth(app, context)
  const address = await app.listen({ host: config.host, port: config.conductorPort })
  return { address, stop: () => app.close() }
}
