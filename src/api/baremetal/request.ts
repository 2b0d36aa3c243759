// The request type of bare metal's handlers, and helpers that only they need.
import type { TSchema } from 'typebox'
import { isSeen } from '../../metal/access.ts'
import { flagOf } from '../../metal/nodes/attributes.ts'
import { problem } from '../../problems/problem.ts'
import type { Request } from '../frame/request.ts'
import type { Form } from '../operation.ts'
import type { Action } from '../policy.ts'
import type { Word } from './versions.ts'
import { expected } from '../../shared/expected.ts'
import { Type } from '../../shared/type.ts'

export type { Answer } from '../frame/dialect.ts'
export type MetalRequest = Request<Word>

/** The parameters that a query may have. */
export interface Parameters extends Form {
  names: ReadonlySet<string>
}

export const parametersOf = (shapes: Readonly<Record<string, TSchema>>): Parameters => ({
  names: new Set(Object.keys(shapes)),
  schema: Type.Object(Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, Type.Optional(shape)])), {
    additionalProperties: false,
  }),
})

export const NO_PARAMETERS = parametersOf({})

/** Whether the caller may see a hold of this project. */
export const seesHold = (request: MetalRequest, owner: string | null): boolean =>
  isSeen(owner, request.access().view) && request.may('baremetal:reservation:get', { project: owner })

/** The owner of a new resource: callers with the permission `forOthers` name it, others get their own project. */
export function ownerOr(request: MetalRequest, given: string | null, forOthers: Action): string | null {
  if (request.may(forOthers)) return given
  const { project } = request.caller
  if (project === null || (given !== null && given !== project)) throw problem('forbidden', { action: forOthers })
  return project
}

/** A boolean in a query, in any spelling. */
export function flagParameter(name: string, value: string): boolean {
  const flag = flagOf(value)
  if (flag === null) throw problem('invalid_parameter', { reason: expected('true or false', name, value) })
  return flag
}
