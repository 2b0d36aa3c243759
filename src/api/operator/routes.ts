// For those who run Holdfast: is it alive, is it ready, what is it doing, is the ledger whole, why does nothing fit.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { problemOf } from '../../http/failures.ts'
import type { Caller } from '../../identity/caller.ts'
import { checkEverything } from '../../fsck.ts'
import { problem, type ProblemKind } from '../../problem.ts'
import { PREFIX as BAREMETAL } from '../baremetal/prefix.ts'
import { MetalRequest } from '../baremetal/request.ts'
import { NEWEST } from '../baremetal/versions.ts'
import { PREFIX as COMPUTE } from '../compute/prefix.ts'
import { PREFIX as IMAGE } from '../image/prefix.ts'
import { PREFIX as PLACEMENT } from '../placement/prefix.ts'
import { PREFIX as RESERVATION } from '../reservation/prefix.ts'
import { explainAllocation, postRetry } from './allocations.ts'
import { advanceClock, showClock } from './clock.ts'
import { explainCandidates } from './explain.ts'
import { deleteLeasableNode, getLeasableNode, getLeasableNodes, putLeasableNode } from './leasable-nodes.ts'
import { postExplainLease } from './leases.ts'
import { postHypervisorState } from './hypervisor-state.ts'

const STATUS: Partial<Record<ProblemKind, number>> = {
  unauthorized: 401,
  forbidden: 403,
  route_not_found: 404,
  metal_not_found: 404,
  hypervisor_not_found: 404,
  node_refuses: 409,
  too_large: 413,
  uri_too_long: 414,
  internal: 500,
  unavailable: 503,
}

export function operator(context: Context, authenticate: (request: FastifyRequest) => Caller | null) {
  const { store, metrics } = context
  return (app: FastifyInstance, _: object, done: () => void): void => {
    app.setErrorHandler((error, request, reply) => {
      const { kind, message } = problemOf(error, request, context)
      const status = STATUS[kind] ?? 400
      if (status === 503) void reply.header('retry-after', '1')
      const text = message || 'there is nothing at this path'
      return reply.code(status).send({ error: { kind, message: text, request_id: request.id } })
    })
    app.setNotFoundHandler(() => {
      throw problem('route_not_found', {})
    })
    app.get('/', () => ({
      name: 'holdfast',
      apis: {
        placement: `${PLACEMENT}/`,
        baremetal: `${BAREMETAL}/`,
        compute: COMPUTE,
        image: IMAGE,
        reservation: `${RESERVATION}/`,
      },
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
        ours.removeAllContentTypeParsers()
        ours.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))
        ours.addHook('onRequest', (request, _reply, next) => {
          requireAdmin(authenticate(request))
          if (request.url.includes('%00')) throw problem('route_not_found', {})
          next()
        })
        ours.get('/fsck', async () => {
          const findings = await store.read(checkEverything)
          return { violations: findings.reduce((sum, { violations }) => sum + violations, 0), invariants: findings }
        })
        ours.get('/explain/allocation_candidates', request => explainCandidates(context, request))
        const asMetal = (request: FastifyRequest) => new MetalRequest(context, authenticate(request)!, NEWEST, request)
        ours.get('/explain/allocations/:ident', request => explainAllocation(asMetal(request)))
        ours.post('/allocations/:ident/retry', async (request, reply) =>
          reply.code(202).send(await postRetry(asMetal(request))),
        )
        ours.post('/hypervisor-state', request => postHypervisorState(context, request))
        ours.post('/explain/leases', request => postExplainLease(context, request))
        const identIn = ({ params }: FastifyRequest) => (params as { ident: string }).ident
        ours.get('/leasable-nodes', () => getLeasableNodes(context))
        ours.get('/leasable-nodes/:ident', request => getLeasableNode(context, identIn(request)))
        ours.put('/leasable-nodes/:ident', request => putLeasableNode(context, identIn(request)))
        ours.delete('/leasable-nodes/:ident', async (request, reply) => {
          await deleteLeasableNode(context, identIn(request))
          return reply.code(204).send()
        })
        if (context.config.testClock) {
          ours.get('/clock', () => showClock(context))
          ours.post('/clock', request => advanceClock(context, request))
        }
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
