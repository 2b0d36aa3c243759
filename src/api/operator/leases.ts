// /explain/leases: why a lease doesn't fit, and when it would. The body is that of a new lease.
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { explainLease } from '../../leases/booking/explain.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import { isObject } from '../../shared/is-object.ts'
import { parseJson, requireStorable, textOfBody } from '../json-body.ts'
import { type Operation, requireDeclared } from '../operation.ts'
import { shownDate } from '../reservation/dates.ts'
import { newLeaseOf } from '../reservation/lease-bodies.ts'
import { LEASE_TO_EXPLAIN } from '../reservation/lease-forms.ts'
import { leaseContext } from '../reservation/request.ts'
import { byName, Count, Flag, named, Text } from '../shapes.ts'
import type { Answer, OperatorRequest } from './request.ts'

const Explained = named('LeaseExplained', {
  fits: Flag,
  places: Type.Array(byName(Count)),
  reasons: Type.Array(
    named('LeaseReason', {
      reservation: Count,
      reason: Text,
      count: Count,
      sample: Type.Array(Type.Object({ host: Text, detail: Text })),
    }),
  ),
  windows: Type.Array(Type.Object({ start_date: Text, end_date: Text })),
})

explainLeaseOf.operation = {
  summary: 'Say whether a lease would fit, and why not and when it would',
  body: [LEASE_TO_EXPLAIN],
  answers: { 200: Explained },
} satisfies Operation

export async function explainLeaseOf(request: OperatorRequest): Promise<Answer> {
  requireDeclared(explainLeaseOf.operation.body, LEASE_TO_EXPLAIN)
  const given = parseJson(textOfBody(await bodyOf(request.raw)))
  requireStorable(given)
  if (!isObject(given)) {
    throw problem('invalid_body', { reason: 'the body must be an object, as of a lease to be made' })
  }
  const wanted = newLeaseOf({ name: 'explained', ...given }, request.now)
  const { windows, ...explained } = await explainLease(leaseContext(request), request.project, wanted)
  const shown = windows.map(({ start_at, end_at }) => ({
    start_date: shownDate(start_at),
    end_date: shownDate(end_at),
  }))
  return { status: 200, body: { ...explained, windows: shown } }
}

/** Fastify doesn't read the body of a GET, so it is read here. */
async function bodyOf({ method, body, raw }: FastifyRequest): Promise<unknown> {
  if (method !== 'GET') return body
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of raw as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > limits.bodyBytesMax) throw problem('too_large', { reason: 'the body is too large' })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
