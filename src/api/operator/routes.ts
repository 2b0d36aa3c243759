// For those who run Holdfast: is it alive, is it ready, what is it doing, is the ledger whole.
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../context.ts'
import { problemOf } from '../../http/failures.ts'
import { checkLedger } from '../../ledger/fsck.ts'
import { PREFIX as PLACEMENT } from '../placement/prefix.ts'

export function operator(context: Context) {
  const { store, metrics } = context
  return (app: FastifyInstance, _: object, done: () => void): void => {
    app.setErrorHandler((error, request, reply) => {
      const { kind, message } = problemOf(error, request, context)
      const status = kind === 'unavailable' ? 503 : kind === 'internal' ? 500 : 400
      if (status === 503) void reply.header('retry-after', '1')
      return reply.code(status).send({ error: { kind, message, request_id: request.id } })
    })
    app.setNotFoundHandler((request, reply) =>
      reply.code(404).send({ error: { kind: 'route_not_found', message: 'no such path', request_id: request.id } }),
    )
    app.get('/', () => ({
      name: 'holdfast',
      apis: { placement: `${PLACEMENT}/` },
      ready: '/readyz',
      metrics: '/metrics',
    }))
    app.get('/healthz', () => ({ status: 'alive' }))
    app.get('/readyz', async () => {
      await store.ping()
      return { status: 'ready' }
    })
    app.get('/metrics', async (_request, reply) =>
      reply.header('content-type', metrics.registry.contentType).send(await metrics.registry.metrics()),
    )
    app.get('/holdfast/v1/fsck', async () => {
      const findings = await store.read(checkLedger)
      return { violations: findings.reduce((sum, { violations }) => sum + violations, 0), invariants: findings }
    })
    done()
  }
}
