// Whoever watches the hypervisors says here which of them went down, and which is back.
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { changeHypervisor } from '../../compute/hypervisors.ts'
import type { Context } from '../../process/context.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Count, named, oneOf, Text } from '../shapes.ts'
import { checkedBody } from './body.ts'

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

export async function postHypervisorState(context: Context, request: FastifyRequest): Promise<object> {
  const { name, state } = checkedBody(postHypervisorState.operation, stateBody, request)
  const { id } = await context.store.write(() => changeHypervisor(name, { state }, context.clock.now()))
  // Servers may move away, or what they left behind may be free now.
  context.bell.ring()
  return { id, name, state }
}
