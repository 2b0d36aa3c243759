// A node that a lease has already, kept for one piece of work.
import type { Allocation } from './allocations.ts'
import { ApiError } from './errors.ts'
import type { Holdfast } from './index.ts'
import type { Lease } from './leases.ts'
import { lookAtHandOver } from './node-look.ts'
import { type Held, lasting, type Left, type NodeSource, Renewal, renewed, type Term } from './renewal.ts'
import { waitFor } from './waiting.ts'

interface Kept {
  held: Held
  got: Allocation
  /** How long it is ours. */
  left: Left
}

interface LeaseWanted {
  lease: string
  keeper: string
  term: Term
  /** Logs in again. */
  connect: () => Promise<Holdfast>
}

export class LeasedNode implements NodeSource {
  readonly #server: Holdfast
  readonly #wanted: LeaseWanted
  #held: Held | null = null
  #renewal: Renewal | null = null

  constructor(server: Holdfast, wanted: LeaseWanted) {
    this.#server = server
    this.#wanted = wanted
  }

  get held(): Held | null {
    return this.#held
  }

  get renewal(): Renewal | null {
    return this.#renewal
  }

  left = (): string =>
    `a node of lease ${this.#wanted.lease} may be kept for another ${lasting(this.#wanted.term.lastsMs)}`

  async node(signal?: AbortSignal): Promise<Allocation> {
    const { lease, keeper, term, connect } = this.#wanted
    const { held, got, left } = await keptOfLease(this.#server, lease, keeper, term)
    this.#held = held
    this.#renewal = new Renewal(held, term, this.#server, connect, left)
    const look = (each: AbortSignal) => lookAtHandOver(this.#server.within(each).allocations, got)
    return waitFor(look, { timeoutMs: null, ...(signal && { signal }) })
  }
}

const endOf = ({ end_date }: Lease) => Date.parse(`${end_date}Z`)

/** Keeps one of the lease's nodes on which no other command runs. */
async function keptOfLease(server: Holdfast, ident: string, keeper: string, term: Term): Promise<Kept> {
  const lease = await server.leases.show(ident)
  const leaseEndsAt = endOf(lease)
  const askLeaseEnd = async (now: Holdfast) => endOf(await now.leases.show(lease.id))
  const ms = Math.min(term.lastsMs, leaseEndsAt - term.now() - 1_000)
  const nodes = lease.reservations.flatMap(({ nodes }) => (nodes ?? []) as { allocation: string | null }[])
  const given = nodes.flatMap(({ allocation }) => allocation ?? [])
  let why = given.length === 0 ? `it is ${lease.status} and has no nodes` : 'it ends now'
  for (const uuid of ms > 0 ? given : []) {
    const held = { uuid, keeper, leaseEndsAt, askLeaseEnd }
    const left = term.countdown(ms)
    try {
      return { held, got: await renewed(server, held, lasting(ms)), left }
    } catch (error) {
      // Another command runs there.
      if (!(error instanceof ApiError) || error.status !== 409) throw error
      why = error.message
    }
  }
  throw new ApiError(409, `no node of lease ${lease.name} can be had for a command: ${why}`)
}
