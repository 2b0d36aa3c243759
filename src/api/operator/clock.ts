// The clock of tests: where it is, and moving it ahead. When that is answered, all that is due by then has been done.
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Context } from '../../process/context.ts'
import { limits } from '../../shared/limits.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { named, Text } from '../shapes.ts'
import { checkedBody } from './body.ts'

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

const Shown = named('Clock', { now: Text })

showClock.operation = {
  summary: 'Show the time of the server (with --test-clock)',
  answers: { 200: Shown },
} satisfies Operation

export function showClock({ clock }: Context): object {
  return { now: new Date(clock.now()).toISOString() }
}

advanceClock.operation = {
  summary: 'Move the time of the server ahead (with --test-clock)',
  body: [checkAdvance],
  answers: { 200: Shown },
} satisfies Operation

export async function advanceClock(context: Context, request: FastifyRequest): Promise<object> {
  const { clock, bell, duties } = context
  const { advance, work = true } = checkedBody(advanceClock.operation, checkAdvance, request)
  await clock.advance(Math.round(advance * 1_000))
  bell.ring()
  if (work) for (const duty of duties) await duty.wake()
  return showClock(context)
}
