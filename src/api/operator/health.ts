// What watches over a process asks: is it alive, is it ready, what is it doing. Nobody has to log in for it.
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../context.ts'

export function addHealth(app: FastifyInstance, { store, metrics }: Pick<Context, 'store' | 'metrics'>): void {
  app.get('/healthz', () => ({ status: 'alive' }))
  app.get('/readyz', async () => {
    await store.ping()
    return { status: 'ready' }
  })
  app.get('/metrics', async (_request, reply) =>
    reply.header('content-type', metrics.registry.contentType).send(await metrics.text()),
  )
}
