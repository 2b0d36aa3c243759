// /healthz, /readyz and /metrics, for the monitoring of a process. They need no login.
import { timingSafeEqual } from 'node:crypto'
import Fastify, { type FastifyInstance } from 'fastify'
import { problemOf } from '../../http/failures.ts'
import type { Context } from '../../process/context.ts'
import { limits } from '../../shared/limits.ts'

export function addHealth(app: FastifyInstance, { store, schema }: Pick<Context, 'store' | 'schema'>): void {
  app.get('/healthz', () => ({ status: 'alive' }))
  app.get('/readyz', async () => {
    await store.ping()
    await schema.requireWhole()
    return { status: 'ready', ...(schema.words !== null && { damage: schema.words }) }
  })
}

/** If a metrics token is configured, clients must send it. */
export function addMetrics(app: FastifyInstance, { metrics, config }: Pick<Context, 'metrics' | 'config'>): void {
  const { metricsToken: token } = config
  app.get('/metrics', async ({ headers: { authorization } }, reply) => {
    if (token !== null && !isSame(authorization ?? '', `Bearer ${token}`)) {
      return reply.code(401).header('www-authenticate', 'Bearer').send({ error: 'the metrics need the metrics token' })
    }
    return reply.header('content-type', metrics.registry.contentType).send(await metrics.text())
  })
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Serves health and metrics on a separate port; 0 means none. */
export async function startHealth(
  port: number,
  context: Pick<Context, 'store' | 'schema' | 'metrics' | 'log' | 'config'>,
) {
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
