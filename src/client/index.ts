// The client library: finds a server, logs in, and has an object for each noun.
import { Allocations } from './allocations.ts'
import { CandidateSearch } from './candidates.ts'
import { Claims } from './claims.ts'
import { Hosts } from './hosts.ts'
import { Leases } from './leases.ts'
import { type Login, logIn } from './login.ts'
import { Nodes } from './nodes.ts'
import { auditAt, fsckAt, Usage } from './operations.ts'
import { Providers } from './providers.ts'
import { Reservations } from './reservations.ts'
import { type ConnectOptions, whereIs } from './where.ts'
import { Wire } from './wire.ts'

export type { Allocation, AllocationExplained, NewAllocation, Reasons } from './allocations.ts'
export type { Candidates, CandidatesExplained } from './candidates.ts'
export type { Claim, Owners, Resources } from './claims.ts'
export { ApiError, ConnectionUnclear, Unreachable } from './errors.ts'
export type { Host } from './hosts.ts'
export type { Lease, LeaseChange, NewLease } from './leases.ts'
export type { Node, NodeFilter, Patch, Verb } from './nodes.ts'
export { type AuditEntry, type Fsck, type Usages, versionAt } from './operations.ts'
export type { Inventory, Provider, ProviderInFull } from './providers.ts'
export type { NewReservation, Reservation } from './reservations.ts'
export { type ConnectOptions, DEFAULT_URL, type Where, whereIs } from './where.ts'
export type { Json, Query } from './wire.ts'

export type Holdfast = ReturnType<typeof holdfastAt>

export async function connect(options: ConnectOptions): Promise<Holdfast> {
  return holdfastAt(await logIn(whereIs(options), options.askPassword))
}

function holdfastAt({ url, headers, user, project }: Login) {
  const wire = new Wire(url, headers)
  const [metal, placement, reservation, operator] = [
    wire.at('/baremetal/v1'),
    wire.at('/placement'),
    wire.at('/reservation/v1'),
    wire.at('/holdfast/v1'),
  ]
  return {
    url,
    /** Who we are, as far as the identity service said it. */
    user,
    project,
    nodes: new Nodes(metal),
    allocations: new Allocations(metal, operator),
    reservations: new Reservations(metal),
    leases: new Leases(reservation),
    hosts: new Hosts(reservation),
    providers: new Providers(placement),
    candidates: new CandidateSearch(placement, operator),
    claims: new Claims(placement, { user, project }),
    usage: new Usage(placement),
    fsck: fsckAt(operator),
    audit: auditAt(operator),
  }
}
