// My bookings, as people read them.
import type { Lease } from '../../../../src/client/leases.ts'
import { words } from '../../words.ts'

/** The reservation API says UTC without saying so. */
const instantOf = (date: string) => Date.parse(`${date.slice(0, 19).replace(' ', 'T')}Z`)

interface Timed {
  start: number
  end: number
}

/** Those of this user that are not over, by their start. */
export const ahead = (leases: readonly Lease[], user: string | null, now: number): (Lease & Timed)[] =>
  leases
    .filter(({ user_id }) => user === null || user_id === user)
    .map(lease => ({ ...lease, start: instantOf(lease.start_date), end: instantOf(lease.end_date) }))
    .filter(({ end, status }) => end > now && status !== 'TERMINATED' && status !== 'ERROR')
    .toSorted((a, b) => a.start - b.start || (a.name < b.name ? -1 : 1))

export const runs = ({ start, end }: Timed, now: number): boolean => start <= now && now < end

interface Part {
  resource_type?: string
  resource_class?: string
  amount?: number | string
  vcpus?: number | string
  min?: number | string
  max?: number | string
  nodes?: unknown[]
}

/** `4 servers of 4 VCPU`, `1 gpu-a100, 1 cpu-large`. */
export const whatIn = ({ reservations }: Pick<Lease, 'reservations'>): string =>
  reservations.map(one => partIn(one as Part)).join(', ')

function partIn({ resource_type, resource_class, amount, vcpus, min, max, nodes }: Part): string {
  if (amount !== undefined) return words.mine.servers(Number(amount), Number(vcpus))
  if (nodes && nodes.length > 0) return words.mine.machines(nodes.length, resource_class ?? null)
  const wanted = words.mine.range(String(min ?? max), String(max ?? min))
  if (resource_type === 'physical:host') return words.mine.hosts(Number(max ?? min))
  return resource_class === undefined ? words.mine.machines(Number(max ?? min), null) : `${wanted} ${resource_class}`
}
