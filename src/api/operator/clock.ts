// The clock of tests: where it is, and moving it ahead. When that is answered, all that is due by then has been done.
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { limits } from '../../limits.ts'
import { problem } from '../../problem.ts'
import { parseJson, textOfBody } from '../json-body.ts'
import { check } from '../schema.ts'

const checkAdvance = check(
  Type.Object(
    {
      advance: Type.Number({ minimum: 0, maximum: limits.clockAdvanceSecondsMax }),
      /** false leaves what is due to the conductors, and doesn't wait for it. */
      work: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
)

export function showClock({ clock }: Context): object {
  return { now: new Date(clock.now()).toISOString() }
}

export async function advanceClock(context: Context, { body }: FastifyRequest): Promise<object> {
  const checked = checkAdvance(parseJson(textOfBody(body)))
  if (!checked.ok) throw problem('invalid_body', { reason: checked.reason })
  const { clock, bell, duties } = context
  const { advance, work = true } = checked.value
  await clock.advance(Math.round(advance * 1_000))
  bell.ring()
  if (work) for (const duty of duties) await duty.wake()
  return showClock(context)
}
