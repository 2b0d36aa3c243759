// Whoever watches the hypervisors says here which of them went down, and which is back.
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { changeHypervisor } from '../../compute/hypervisors.ts'
import type { Context } from '../../context.ts'
import { problem } from '../../problem.ts'
import { parseJson, requireStorable, textOfBody } from '../json-body.ts'
import { check } from '../schema.ts'

const stateBody = check(
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 255 }),
      state: Type.Union([Type.Literal('up'), Type.Literal('down')]),
    },
    { additionalProperties: false },
  ),
)

export async function postHypervisorState(context: Context, { body }: FastifyRequest): Promise<object> {
  const given = parseJson(textOfBody(body))
  requireStorable(given)
  const checked = stateBody(given)
  if (!checked.ok) throw problem('invalid_body', { reason: checked.reason })
  const { name, state } = checked.value
  const { id } = await context.store.write(() => changeHypervisor(name, { state }, context.clock.now()))
  // Servers may move away, or what they left behind may be free now.
  context.bell.ring()
  return { id, name, state }
}
