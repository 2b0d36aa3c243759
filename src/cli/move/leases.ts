// Moves hosts and leases from one reservation service to another: from a Blazar into Holdfast, and back. Only leases
// that have not started move. One that runs has servers, a flavor and an inventory, and whoever made them ends them.
import { ApiError, type Json } from '../../client/index.ts'
import { type Api, segment } from '../../client/wire.ts'
import {
  bodyOf,
  capabilitiesOf,
  fateOf,
  hasSameReservations,
  isSameLease,
  minuteOf,
  type SeenHost,
  type SeenLease,
  timeOf,
} from './lease-terms.ts'
import type { Side } from './sides.ts'

interface MovedRow extends Json {
  kind: 'host' | 'lease'
  id: string
  name: string
  /** `absent` and `different` only if nothing is changed. */
  is: 'created' | 'changed' | 'same' | 'over' | 'refused' | 'absent' | 'different'
  reason: string | null
}

interface LeaseMoveOptions {
  /** Changes nothing. */
  compares: boolean
  /** Deletes each lease at the source, once the target has it. */
  takes: boolean
  now: number
  show: (kind: string, count: number) => void
}

interface Pool {
  leases: SeenLease[]
  hosts: SeenHost[]
}

/** What a reservation service has. */
export async function poolOf(api: Api): Promise<Pool> {
  const { leases } = await api.get<Pick<Pool, 'leases'>>('/leases')
  const { hosts } = await api.get<Pick<Pool, 'hosts'>>('/os-hosts')
  return { leases: leases.toSorted((a, b) => timeOf(a.start_date) - timeOf(b.start_date)), hosts }
}

export class LeaseMove {
  readonly #from: Api
  readonly #to: Side
  readonly #target: Api
  readonly #options: LeaseMoveOptions
  readonly rows: MovedRow[] = []
  /** When the last lease that runs at the source ends; null if none runs. */
  lastEnd: string | null = null

  constructor({ from, to }: { from: Side; to: Side }, options: LeaseMoveOptions) {
    this.#from = from.api()
    this.#to = to
    this.#target = to.api()
    this.#options = options
  }

  async run(): Promise<void> {
    const [source, target] = [await poolOf(this.#from), await poolOf(this.#target)]
    const running = source.leases.filter(lease => fateOf(lease, this.#options.now).kind === 'refuse')
    this.lastEnd = running.reduce<string | null>((last, { end_date }) => later(last, minuteOf(end_date)), null)
    const busy = await this.#busyHosts(running)
    for (const host of source.hosts) await this.#host(host, target, busy.get(host.id))
    for (const lease of source.leases) await this.#lease(lease, target)
  }

  /** The hosts of leases that run. The target may not book them before those have ended. */
  async #busyHosts(running: readonly SeenLease[]): Promise<Map<string, SeenLease>> {
    if (running.length === 0) return new Map()
    const byId = new Map(running.map(lease => [lease.id, lease]))
    const { allocations } = await this.#from.get<{ allocations: Booked[] }>('/os-hosts/allocations')
    return new Map(
      allocations.flatMap(({ resource_id, reservations }) => {
        const lease = reservations.map(one => byId.get(one.lease_id)).find(found => found !== undefined)
        return lease ? [[resource_id, lease] as const] : []
      }),
    )
  }

  async #host(host: SeenHost, target: Pool, runs: SeenLease | undefined): Promise<void> {
    const name = host.hypervisor_hostname
    const present = target.hosts.find(one => one.hypervisor_hostname === name)
    const capabilities = capabilitiesOf(host)
    await this.#row({ kind: 'host', id: host.id, name }, async () => {
      if (present) {
        const there = capabilitiesOf(present)
        const changed = Object.entries(capabilities).filter(([key, value]) => there[key] !== value)
        if (changed.length === 0) return { is: 'same' }
        if (this.#options.compares) return { is: 'different', reason: `in ${changed.map(([key]) => key).join(', ')}` }
        await this.#target.put(`/os-hosts/${segment(present.id)}`, Object.fromEntries(changed))
        return { is: 'changed' }
      }
      if (runs) return { is: 'refused', reason: `lease ${runs.name} has it until ${minuteOf(runs.end_date)} UTC` }
      if (this.#options.compares) return { is: 'absent' }
      await this.#target.post('/os-hosts', { ...capabilities, name })
      return { is: 'created' }
    })
  }

  async #lease(lease: SeenLease, target: Pool): Promise<void> {
    const { compares, takes, now } = this.#options
    const fate = fateOf(lease, now)
    const withOwner = this.#to.holdfast !== null
    await this.#row({ kind: 'lease', id: lease.id, name: lease.name }, async () => {
      const present = target.leases.find(one => (withOwner ? one.id === lease.id : isSameLease(one, lease)))
      if (fate.kind === 'over') return { is: 'over' }
      if (fate.kind === 'refuse') return { is: 'refused', reason: fate.reason }
      if (present && !isSameLease(present, lease)) {
        const reason = 'the target has it with other dates, reservations, name or project'
        return { is: compares ? 'different' : 'refused', reason }
      }
      if (!present && !withOwner && this.#to.project !== lease.project_id) {
        const reason = `only its project can make it there: log in to project ${lease.project_id}`
        return { is: 'refused', reason }
      }
      if (compares) return { is: present ? 'same' : 'absent' }
      // A service under two names would lose its leases; and a Blazar removes the flavors of what it deletes.
      if (takes && present && hasSameReservations(present, lease)) {
        const reason = 'the target has its reservations with the same ids: it was moved without --take, or both are one'
        return { is: 'refused', reason }
      }
      if (!present)
        await this.#target.post('/leases', bodyOf(lease, { withOwner, withReservationIds: !takes && withOwner }))
      if (takes) await this.#from.delete(`/leases/${segment(lease.id)}`)
      return { is: present ? 'same' : 'created' }
    })
  }

  /** What a service refuses is a row with its words; what would stop everything else too is an error. */
  async #row(
    thing: Pick<MovedRow, 'kind' | 'id' | 'name'>,
    work: () => Promise<{ is: MovedRow['is']; reason?: string }>,
  ): Promise<void> {
    try {
      this.rows.push({ ...thing, reason: null, ...(await work()) })
    } catch (error) {
      if (!(error instanceof ApiError) || [401, 403, 502, 503, 504].includes(error.status)) throw error
      this.rows.push({ ...thing, is: 'refused', reason: error.message })
    }
    this.#options.show(thing.kind, this.rows.filter(({ kind }) => kind === thing.kind).length)
  }
}

interface Booked {
  resource_id: string
  reservations: { lease_id: string }[]
}

/** Dates of this form compare as texts. */
const later = (a: string | null, b: string) => (a === null || b > a ? b : a)
