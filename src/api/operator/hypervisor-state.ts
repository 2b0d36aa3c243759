// /hypervisor-state: a monitor reports here that a hypervisor went down or is back.
import { changeHypervisor } from '../../compute/hypervisors.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Count, named, oneOf, Text } from '../shapes.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const stateBody = check(
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 255 }),
      state: Type.Union([Type.Literal('up'), Type.Literal('down')]),
    },
    { additionalProperties: false },
  ),
)

postHypervisorState.operation = {
  summary: 'Say that a hypervisor went down, or is back',
  body: [stateBody],
  answers: { 200: named('HypervisorState', { id: Count, name: Text, state: oneOf('up', 'down') }) },
} satisfies Operation

export async function postHypervisorState(request: OperatorRequest): Promise<Answer> {
  const { context } = request
  const { name, state } = request.body(stateBody)
  const { id } = await context.store.write(() => changeHypervisor(name, { state }, context.clock.now()))
  return { status: 200, body: { id, name, state } }
}
