// The compute hosts, as callers with the same sight see them.
import { limits } from '../../shared/limits.ts'
import { hostsIn, leasesOfHosts, nextLeaseOfHosts } from '../../status/hosts.ts'
import { bookingOf, type Sight } from '../../status/shown.ts'
import type { Viewpoint } from '../../status/viewpoint.ts'
import type { OperatorRequest } from './request.ts'

export async function hostsOf({ context, now }: OperatorRequest, sight: Sight): Promise<object[]> {
  const { board, mirror, calendar, store } = context
  const hosts = hostsIn(mirror.table)
  if (hosts.length === 0) return []
  const leases = await store.read(() => leasesOfHosts(calendar.leasables, now))
  return hosts.map(({ id, ...host }) => {
    const lease = leases.get(id)
    return { ...host, lease: lease ? bookingOf(lease, sight, board.names) : null }
  })
}

interface Known {
  version: number
  at: number
  /** When a lease begins or ends next. */
  until: number
  text: Promise<string>
}
const known = new WeakMap<Viewpoint, Known>()

/** The text of them for those who follow: made once for all, and at most once a second. */
export function hostsText(request: OperatorRequest, viewpoint: Viewpoint): Promise<string> {
  const { now, context } = request
  const { board, calendar } = context
  const last = known.get(viewpoint)
  if (last) {
    const isSame = last.version === board.hostsVersion && now < last.until && now >= last.at
    if (isSame || Math.abs(now - last.at) < limits.statusWholeMs) return last.text
  }
  const { hostsVersion: version } = board
  const text = hostsOf(request, viewpoint.sight).then(hosts => JSON.stringify(hosts))
  known.set(viewpoint, { version, at: now, until: nextLeaseOfHosts(calendar.leasables, now), text })
  // Who comes next tries again.
  text.catch(() => known.delete(viewpoint))
  return text
}
