// Why a lease doesn't fit, and when it would: the body is that of a lease to be made.
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { explainLease } from '../../leases/explain.ts'
import { problem } from '../../problem.ts'
import { parseJson, requireStorable, textOfBody } from '../json-body.ts'
import { shownDate } from '../reservation/dates.ts'
import { newLeaseOf } from '../reservation/lease-bodies.ts'
import type { Members } from '../reservation/request.ts'

export async function postExplainLease(context: Context, { body }: FastifyRequest): Promise<object> {
  const given = parseJson(textOfBody(body))
  requireStorable(given)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw problem('invalid_body', { reason: 'the body must be an object, as of a lease to be made' })
  }
  const wanted = newLeaseOf({ name: 'explained', ...given } as Members, context.clock.now())
  const { windows, ...explained } = await explainLease(context, wanted)
  const shown = windows.map(({ start_at, end_at }) => ({
    start_date: shownDate(start_at),
    end_date: shownDate(end_at),
  }))
  return { ...explained, windows: shown }
}
