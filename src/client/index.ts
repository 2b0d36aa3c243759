// The client library: finds a server, logs in, and has an object for each noun.
import { Allocations } from './allocations.ts'
import { CandidateSearch } from './candidates.ts'
import { EveryChassis } from './chassis.ts'
import { Claims } from './claims.ts'
import { Conductors } from './conductors.ts'
import { Flavors } from './flavors.ts'
import { Hosts } from './hosts.ts'
import { LeasableNodes } from './leasable-nodes.ts'
import { Leases } from './leases.ts'
import { type Login, logIn } from './login.ts'
import { ResourceClasses, Traits } from './names.ts'
import { Nodes } from './nodes.ts'
import { auditAt, fsckAt, Usage } from './operations.ts'
import { Ports } from './ports.ts'
import { Providers } from './providers.ts'
import { Quotas } from './quotas.ts'
import { Reservations } from './reservations.ts'
import { Servers } from './servers.ts'
import { type ConnectOptions, whereIs } from './where.ts'
import { Webhooks } from './webhooks.ts'
import { Wire } from './wire.ts'

export type { Allocation, AllocationExplained, Forecast, NewAllocation, Reasons } from './allocations.ts'
export type { Candidates, CandidatesExplained } from './candidates.ts'
export type { Chassis, NewChassis } from './chassis.ts'
export type { Claim, Owners, Resources } from './claims.ts'
export type { Conductor, Driver } from './conductors.ts'
export { ApiError, ConnectionUnclear, Unreachable } from './errors.ts'
export type { Flavor, NewFlavor } from './flavors.ts'
export type { Host } from './hosts.ts'
export type { LeasableNode } from './leasable-nodes.ts'
export type { Lease, LeaseChange, LeaseExplained, NewLease } from './leases.ts'
export { bearerOf, type Login, logIn, type Who } from './login.ts'
export type { Node, NodeFilter, Patch, Verb } from './nodes.ts'
export { type AuditEntry, type Fsck, type Touched, type Usages, versionAt } from './operations.ts'
export type { Port } from './ports.ts'
export type { Inventory, NewInventory, Provider, ProviderInFull } from './providers.ts'
export type { Limit, Quota, QuotaInFull } from './quotas.ts'
export type { NewReservation, Reservation } from './reservations.ts'
export type { NewServer, Server } from './servers.ts'
export { cloudNames, type ConnectOptions, DEFAULT_URL, type Where, whereIs } from './where.ts'
export type { Delivery, NewWebhook, Tried, Webhook, WebhookChange, WebhookWithSecret } from './webhooks.ts'
export type { Json, Query } from './wire.ts'

export type Holdfast = ReturnType<typeof holdfastAt>

export async function connect(options: ConnectOptions): Promise<Holdfast> {
  return holdfastAt(await logIn(whereIs(options), options.askPassword))
}

/** For callers that have logged in themselves. */
export function holdfastAt({ url, headers, user, project }: Login) {
  const wire = new Wire(url, headers)
  const [metal, placement, reservation, compute, operator] = [
    wire.at('/baremetal/v1'),
    wire.at('/placement'),
    wire.at('/reservation/v1'),
    wire.at('/compute/v2.1'),
    wire.at('/holdfast/v1'),
  ]
  return {
    url,
    /** The ids of our user and project; null if no identity service was asked. */
    user,
    project,
    nodes: new Nodes(metal, operator),
    ports: new Ports(metal),
    chassis: new EveryChassis(metal),
    conductors: new Conductors(metal),
    leasableNodes: new LeasableNodes(operator),
    allocations: new Allocations(metal, operator),
    reservations: new Reservations(metal, operator),
    leases: new Leases(reservation, operator),
    hosts: new Hosts(reservation),
    flavors: new Flavors(compute),
    servers: new Servers(compute),
    providers: new Providers(placement),
    traits: new Traits(placement),
    resourceClasses: new ResourceClasses(placement),
    candidates: new CandidateSearch(placement, operator),
    claims: new Claims(placement, { user, project }),
    usage: new Usage(placement),
    quotas: new Quotas(operator),
    webhooks: new Webhooks(operator),
    fsck: fsckAt(operator),
    audit: auditAt(operator),
  }
}
