// /explain/leases: why a lease doesn't fit, and when it would. The body is that of a new lease, or of a change.
import type { FastifyRequest } from 'fastify'
import { explainChange, explainLease } from '../../leases/booking/explain.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import { isObject } from '../../shared/is-object.ts'
import { parseJson, requireStorable, textOfBody } from '../json-body.ts'
import { type Operation, requireDeclared } from '../operation.ts'
import { reservation } from '../reservation/dialect.ts'
import { leaseChangeOf, newLeaseOf } from '../reservation/lease-bodies.ts'
import { CHANGE_TO_EXPLAIN, LEASE_TO_EXPLAIN } from '../reservation/lease-forms.ts'
import { REFUSAL_MEMBERS, shownRefusal } from '../reservation/refusals.ts'
import { flavored, leaseContext, type Members } from '../reservation/request.ts'
import { byName, Count, Flag, named, TextOrNull } from '../shapes.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const Explained = named('LeaseExplained', {
  fits: Flag,
  // What the refusal of the real one says.
  message: TextOrNull,
  places: Type.Array(byName(Count)),
  ...REFUSAL_MEMBERS,
})

explainLeaseOf.operation = {
  summary: 'Say whether a lease would fit, and why not and when it would',
  description:
    'The body is that of a new lease, or the change of the lease that it names as `lease`. Nothing is booked. What is ' +
    'refused for another reason than lack of room is refused here too, with the same status and words.',
  body: [LEASE_TO_EXPLAIN, CHANGE_TO_EXPLAIN],
  answers: { 200: Explained },
} satisfies Operation

export async function explainLeaseOf(request: OperatorRequest): Promise<Answer> {
  requireDeclared(explainLeaseOf.operation.body, LEASE_TO_EXPLAIN)
  const given = parseJson(textOfBody(await bodyOf(request.raw)))
  requireStorable(given)
  if (!isObject(given)) {
    throw problem('invalid_body', { reason: 'the body must be an object, as of a lease to be made' })
  }
  const { lease, ...rest } = given
  const { places, fits, message, ...refusal } =
    lease === undefined || lease === null
      ? await explainLease(
          leaseContext(request),
          request.principal,
          await flavored(request, newLeaseOf({ name: 'explained', ...rest }, request.now)),
        )
      : await explainChangeOf(request, lease, rest)
  return { status: 200, body: { fits, message, places, ...shownRefusal(refusal) } }
}

/** A change is only explained to those who may make it. */
async function explainChangeOf(asked: OperatorRequest, lease: unknown, given: Members) {
  requireDeclared(explainLeaseOf.operation.body, CHANGE_TO_EXPLAIN)
  if (typeof lease !== 'string') throw problem('invalid_body', { reason: 'lease must be the id of a lease' })
  const request = asked.as(reservation)
  request.requireAllowed('blazar:leases:put')
  const change = leaseChangeOf(given, request.now)
  return explainChange(leaseContext(request), lease, request.visible, change)
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
