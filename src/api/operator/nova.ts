// GET /holdfast/v1/nova: how the Nova beside us is, and what it still has to be told of leases.
import { workNow } from '../../leases/nova/rows.ts'
import { NovaAway, NovaRefusal } from '../../nova/port.ts'
import { inFull } from '../../nova/words.ts'
import { limits } from '../../shared/limits.ts'
import type { Operation } from '../operation.ts'
import { Count, named, orNull, Text } from '../shapes.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const NovaShape = named('NovaHealth', {
  url: Text,
  // The newest that it speaks; null when it could not be asked.
  version: orNull(Text),
  // How many hosts it shows us.
  hypervisors: orNull(Count),
  // Why it could not be asked, or what it refuses.
  problem: orNull(Text),
  // Reservations of which it doesn't have what it should have yet.
  due: Count,
  failing: Count,
  // Some of those that fail.
  troubles: Type.Array(Type.Object({ lease: Text, reservation: Text, reason: Text, failures: Count })),
})

showNova.operation = {
  summary: 'Say how the Nova is whose servers these are, and what it still has to be told of leases',
  answers: { 200: Type.Object({ nova: orNull(NovaShape) }) },
} satisfies Operation

export async function showNova({ context }: OperatorRequest): Promise<Answer> {
  const { config, store } = context
  if (!context.nova) return { status: 200, body: { nova: null } }
  const [seen, work] = await Promise.all([look(context.nova), store.read(() => workNow(limits.novaTroublesShown))])
  const body = { nova: { url: config.novaUrl!, ...seen, ...work } }
  return { status: 200, body, headers: { 'cache-control': 'no-store' } }
}

/** Its hosts are shown to those with the role that we need for all else. */
async function look(nova: NonNullable<OperatorRequest['context']['nova']>) {
  const seen = { version: null as string | null, hypervisors: null as number | null, problem: null as string | null }
  try {
    seen.version = await nova.newestVersion()
    seen.hypervisors = (await nova.hypervisors()).length
  } catch (error) {
    if (!(error instanceof NovaAway) && !(error instanceof NovaRefusal)) throw error
    seen.problem = inFull(error)
  }
  return seen
}
