// The refusal of a lease that doesn't fit: the reasons, who is in the way as far as the caller may know, and when it would fit.
import type { FreeWindow, Refusal, RefusalReason } from '../../problems/leases.ts'
import { type Problem, problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import type { Leasable } from '../calendar/calendar.ts'
import type { Request, Wish } from '../calendar/candidates.ts'
import { mostOf, type Naming, type Reason, reasonsOf, shownMinute } from '../calendar/why-not.ts'
import { latestEnd, nextWindows } from '../calendar/windows.ts'
import type { LeaseContext } from '../context.ts'
import { leasesWithIds } from '../lifecycle/rows.ts'

export async function refusalOf(context: LeaseContext, request: Request): Promise<Problem> {
  const { calendar, clock, looksMax } = context
  const { leasables } = calendar
  const reasons = [...reasonsOf(leasables, request, namingOf(context)), ...notEnrolled(context, request)]
  const details: Refusal = {
    reasons: await withLeases(context, reasons),
    windows: nextWindows(leasables, request, clock.now(), looksMax),
    until_at: latestEnd(leasables, request, looksMax),
    most: mostOf(leasables, request),
  }
  return problem('lease_does_not_fit', { reason: sentenceOf(request, details), details })
}

/** The reasons for a request that fits: what is free, and what isn't. */
export const reasonsFor = (context: LeaseContext, request: Request): Promise<RefusalReason[]> =>
  withLeases(context, reasonsOf(context.calendar.leasables, request, namingOf(context)))

export const namingOf = ({ seesHosts = false, fleet }: LeaseContext): Naming => ({
  seesHosts,
  nameOf: ({ kind, name }: Pick<Leasable, 'kind' | 'name'>) =>
    kind === 'node' ? (fleet?.withUuid(name)?.name ?? name) : name,
})

/** The nodes of the class that leases may not book, because nobody has enrolled them. */
function notEnrolled({ fleet, seesHosts = false }: LeaseContext, { wishes }: Request): Reason[] {
  return wishes.flatMap((wish, reservation) => {
    const others = wish.resourceClass === undefined || !fleet ? [] : [...fleet.ofClass(wish.resourceClass)]
    const outside = others.filter(
      node => node.leasable === 0 && node.retired === 0 && (wish.candidates?.has(node.uuid) ?? true),
    )
    if (outside.length === 0) return []
    const sample = outside.slice(0, seesHosts ? limits.refusalSampleMax : 0).map(({ uuid, name }) => ({
      host: uuid,
      name: name ?? uuid,
      from: null,
      until: null,
      lease: null,
      detail: `to let leases book it: holdfast node leasable set ${name ?? uuid}`,
    }))
    return { reservation, reason: NOT_ENROLLED, count: outside.length, sample }
  })
}

const NOT_ENROLLED = 'not enrolled for leases'

/** Names the leases that the caller may see. */
async function withLeases(context: LeaseContext, reasons: readonly Reason[]): Promise<RefusalReason[]> {
  const { store, seesHosts = false, project } = context
  const ids = new Set(reasons.flatMap(({ sample }) => sample.flatMap(({ lease }) => lease ?? [])))
  const found = ids.size === 0 ? [] : await store.read(() => leasesWithIds([...ids]))
  const seen = new Map(
    found
      .filter(lease => !lease.is_deleted && (seesHosts || lease.project_id === project))
      .map(({ id, name, project_id, user_id }) => [id, { id, name, project_id, user_id }]),
  )
  return reasons.map(reason => ({
    ...reason,
    sample: reason.sample.map(one => ({ ...one, lease: one.lease === null ? null : (seen.get(one.lease) ?? null) })),
  }))
}

function sentenceOf({ wishes }: Request, { reasons, windows, until_at }: Refusal): string {
  const parts = wishes.map((wish, index) => {
    const causes = reasons.filter(({ reservation }) => reservation === index).map(causeIn)
    const which = wishes.length > 1 ? `Reservation ${index + 1}` : 'The reservation'
    return `${which} asks for ${askedFor(wish)}: ${causes.join('; ') || 'there are none at all'}`
  })
  const when = windows.length > 0 ? ` It would fit from ${windows.map(shownWindow).join(', or from ')}.` : ''
  const until =
    until_at === null ? '' : ` From the start that was asked for it would fit until ${shownMinute(until_at)}.`
  return `Not enough hosts available. ${parts.join('. ')}.${when}${until}`
}

function causeIn({ reason, count, sample: [first] }: RefusalReason): string {
  if (!first) return `${count} ${reason}`
  const by = first.lease === null ? '' : ` by lease ${first.lease.name}`
  return `${count} ${reason} (${first.name}: ${first.detail}${by})`
}

function shownWindow({ start_at, end_at, last_start_at }: FreeWindow): string {
  const window = `${shownMinute(start_at)} to ${shownMinute(end_at)}`
  if (last_start_at === null) return `${window}, or later`
  return last_start_at === start_at ? window : `${window}, or with a later start until ${shownMinute(last_start_at)}`
}

function askedFor(wish: Wish): string {
  if (wish.kind === 'whole') return wish.min === wish.max ? `${wish.min} whole` : `${wish.min} to ${wish.max} whole`
  const { vcpus, memory_mb, disk_gb, extras = {} } = wish.size
  const more = Object.entries(extras).map(([name, amount]) => `, ${amount} ${name}`)
  const where = wish.affinity === true ? ' on one host' : wish.affinity === false ? ' each on another host' : ''
  return `${wish.amount} of ${vcpus} vcpus, ${memory_mb} MB, ${disk_gb} GB${more.join('')}${where}`
}
