// /holdfast/v1/clock: shows the test clock and moves it ahead. The answer comes when all work that became due is done.
import { limits } from '../../shared/limits.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { named, Text } from '../shapes.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const checkAdvance = check(
  Type.Object(
    {
      advance: Type.Number({ minimum: 0, maximum: limits.clockAdvanceSecondsMax }),
      /** false leaves the due work to the conductors, and doesn't wait for it. */
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

export function showClock({ now }: OperatorRequest): Answer {
  return { status: 200, body: { now: new Date(now).toISOString() } }
}

advanceClock.operation = {
  summary: 'Move the time of the server ahead (with --test-clock)',
  body: [checkAdvance],
  answers: { 200: Shown },
} satisfies Operation

export async function advanceClock(request: OperatorRequest): Promise<Answer> {
  const { clock, duties } = request.context
  const { advance, work = true } = request.body(checkAdvance)
  await clock.advance(Math.round(advance * 1_000))
  if (work) for (const duty of duties) await duty.wake()
  return showClock(request)
}
