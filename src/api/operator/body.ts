// The body of a request to the operators' API.
import type { FastifyRequest } from 'fastify'
import { problem } from '../../problems/problem.ts'
import { parseJson, requireStorable, textOfBody } from '../json-body.ts'
import { type Operation, requireDeclared } from '../operation.ts'
import type { Check } from '../schema.ts'

/** The JSON body, known to have the schema's shape. */
export function checkedBody<T>(operation: Operation, check: Check<T>, { body }: FastifyRequest): T {
  requireDeclared(operation.body, check)
  const given = parseJson(textOfBody(body))
  requireStorable(given)
  const checked = check(given)
  if (!checked.ok) throw problem('invalid_body', { reason: checked.reason })
  return checked.value
}
