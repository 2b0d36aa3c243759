// For those who run Holdfast: is it alive, is it ready, what is it doing, is the ledger whole, why does nothing fit.
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../context.ts'
import { problemOf, retryAfter } from '../../http/failures.ts'
import type { Caller } from '../../identity/caller.ts'
import type { Authenticate } from '../../identity/identity.ts'
import { checkEverything } from '../../fsck.ts'
import { problem, type ProblemKind } from '../../problem.ts'
import { PREFIX as BAREMETAL } from '../baremetal/prefix.ts'
import { PREFIX as IDENTITY } from '../identity/prefix.ts'
import { PREFIX as PLACEMENT } from '../placement/prefix.ts'
import { explainCandidates } from './explain.ts'

const STATUS: Partial<Record<ProblemKind, number>> = {
  unauthorized: 401,
  forbidden: 403,
  too_many_attempts: 429,
  route_not_found: 404,
  uri_too_long: 414,
  internal: 500,
  unavailable: 503,
}

export function operator(context: Context, authenticate: Authenticate) {
  const { store, metrics } = context
  return (app: FastifyInstance, _: object, done: () => void): void => {
    app.setErrorHandler((error, request, reply) => {
      const found = problemOf(error, request, context)
      const { kind, message } = found
      const status = STATUS[kind] ?? 400
      const retry = retryAfter(found)
      if (retry !== null) void reply.header('retry-after', retry)
      const text = message || 'there is nothing at this path'
      return reply.code(status).send({ error: { kind, message: text, request_id: request.id } })
    })
    app.setNotFoundHandler(() => {
      throw problem('route_not_found', {})
    })
    app.get('/', () => ({
      name: 'holdfast',
      apis: { placement: `${PLACEMENT}/`, baremetal: `${BAREMETAL}/`, identity: `${IDENTITY}/` },
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
    void app.register(
      (ours, _options, registered) => {
        ours.addHook('onRequest', async request => requireAdmin(await authenticate(request)))
        ours.get('/fsck', async () => {
          const findings = await store.read(checkEverything)
          return { violations: findings.reduce((sum, { violations }) => sum + violations, 0), invariants: findings }
        })
        ours.get('/explain/allocation_candidates', request => explainCandidates(context, request))
        registered()
      },
      { prefix: '/holdfast/v1' },
    )
    done()
  }
}

function requireAdmin(caller: Caller | null): void {
  if (!caller) throw problem('unauthorized', {})
  if (!caller.roles.has('admin')) throw problem('forbidden', { action: 'holdfast:operate' })
}
