// The external service that may refuse leases: asked before a lease is created or changed, told when one ends.
import { problem } from '../problems/problem.ts'
import { limits } from '../shared/limits.ts'
import type { Request } from './calendar/candidates.ts'
import { fit } from './calendar/fit.ts'
import type { LeaseContext } from './context.ts'
import type { Lease } from './types.ts'

const GENERIC = 'The service that decides about leases did not allow this one.'

/** Throws when the service refuses, and also when it can't be reached. */
export async function askService(
  context: LeaseContext,
  question: 'check-create' | 'check-update',
  lease: Lease,
  request: Request,
  before: Lease | null,
): Promise<void> {
  if (context.config.leaseServiceUrl === null) return
  const { places } = fit(context.calendar.leasables, request)
  const names = new Map(context.calendar.leasables.map(({ id, name }) => [id, name]))
  const allocations = lease.reservations.map((_, index) =>
    [...(places?.[index] ?? [])].map(([id, slots]) => ({ id: String(id), hypervisor_hostname: names.get(id), slots })),
  )
  const body = {
    context: contextOf(lease),
    lease: shownLease(lease, allocations),
    ...(before && { current_lease: shownLease(before, []) }),
  }
  let answer: Response
  try {
    answer = await post(context, question, body)
  } catch (error) {
    context.log.warn({ err: error }, 'the service that decides about leases could not be reached')
    throw problem('lease_not_allowed', { reason: GENERIC })
  }
  if (answer.status === 204) return
  const reason = answer.status === 403 ? await messageOf(answer) : null
  throw problem('lease_not_allowed', { reason: reason ?? GENERIC })
}

/** Best effort: the lease has ended even if the service is down. */
export async function tellService(context: Pick<LeaseContext, 'config' | 'log'>, lease: Lease): Promise<void> {
  if (context.config.leaseServiceUrl === null) return
  try {
    await post(context, 'on-end', { context: contextOf(lease), lease: shownLease(lease, []) })
  } catch (error) {
    context.log.warn({ err: error, lease: lease.id }, 'the service that decides about leases was not told of an end')
  }
}

const contextOf = ({ user_id, project_id }: Lease) => ({ user_id, project_id, auth_url: null, region_name: null })

const shownLease = (lease: Lease, allocations: readonly object[][]) => ({
  id: lease.id,
  name: lease.name,
  start_date: shownDate(lease.start_at),
  end_date: shownDate(lease.end_at),
  reservations: lease.reservations.map(({ id, terms }, index) => ({
    id,
    ...terms,
    allocations: allocations[index] ?? [],
  })),
})

const shownDate = (time: number) => new Date(time).toISOString().replace('Z', '000')

function post({ config }: Pick<LeaseContext, 'config'>, question: string, body: object): Promise<Response> {
  const url = config.leaseServiceUrl!
  return fetch(`${url}${url.endsWith('/') ? '' : '/'}${question}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(config.leaseServiceToken !== null && { 'x-auth-token': config.leaseServiceToken }),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(limits.leaseServiceMsMax),
    redirect: 'error',
  })
}

async function messageOf(answer: Response): Promise<string | null> {
  try {
    const { message } = (await answer.json()) as { message?: unknown }
    return typeof message === 'string' ? message.slice(0, limits.leaseServiceMessageMax) : null
  } catch {
    return null
  }
}
