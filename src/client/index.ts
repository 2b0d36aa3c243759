// The client library: finds a server, logs in, and has an object for each noun.
import { Allocations } from './allocations.ts'
import { Calendars } from './calendars.ts'
import { CandidateSearch } from './candidates.ts'
import { capacityAt } from './capacity.ts'
import { EveryChassis } from './chassis.ts'
import { Claims } from './claims.ts'
import { Conductors } from './conductors.ts'
import { Events, type EventsWanted, type WaitWanted } from './events.ts'
import { Flavors } from './flavors.ts'
import { healthAt } from './health.ts'
import { novaAt } from './nova.ts'
import { Hosts } from './hosts.ts'
import { LeasableNodes } from './leasable-nodes.ts'
import { Leases } from './leases.ts'
import { isRenewable, type Login, logIn, sessionOf } from './login.ts'
import { ResourceClasses, Traits } from './names.ts'
import { Nodes } from './nodes.ts'
import { auditAt, fsckAt, Usage } from './operations.ts'
import { Names, Projects, Users } from './people.ts'
import { Ports } from './ports.ts'
import { Providers } from './providers.ts'
import { Queue } from './queue.ts'
import { Quotas } from './quotas.ts'
import { Reservations } from './reservations.ts'
import { Servers } from './servers.ts'
import { machineAt, statusAt } from './status.ts'
import { followStatusAt } from './status-following.ts'
import { type ConnectOptions, whereIs } from './where.ts'
import { Webhooks } from './webhooks.ts'
import { Wire } from './wire.ts'
import { type NodeWanted, type NodeWork, withNode } from './with-node.ts'

export type {
  Allocation,
  AllocationExplained,
  AllocationWait,
  Ending,
  Forecast,
  NewAllocation,
  Reasons,
} from './allocations.ts'
export type { Calendar, CalendarOf, NewCalendar } from './calendars.ts'
export type { Candidates, CandidatesExplained } from './candidates.ts'
export type { CapacityProvider } from './capacity.ts'
export type { Chassis, NewChassis } from './chassis.ts'
export type { Claim, Owners, Resources } from './claims.ts'
export type { Conductor, Driver } from './conductors.ts'
export {
  ApiError,
  ConnectionUnclear,
  type ErrorKind,
  HoldfastError,
  isAway,
  isHoldfastError,
  LoginRefused,
  NodeLost,
  NoFit,
  type NoFitReason,
  Unreachable,
  WaitedTooLong,
  WrongUse,
} from './errors.ts'
export { type Event, EventsGone, type EventsWanted, type WaitWanted } from './events.ts'
export type { Flavor, NewFlavor } from './flavors.ts'
export type { Health } from './health.ts'
export type { NovaHealth } from './nova.ts'
export type { Host } from './hosts.ts'
export type { LeasableNode } from './leasable-nodes.ts'
export type {
  Lease,
  LeaseChange,
  LeaseExplained,
  LeaseObstacle,
  LeaseReason,
  LeaseRefusal,
  LeaseWait,
  NewLease,
} from './leases.ts'
export { bearerOf, type Login, logIn, type Who } from './login.ts'
export type {
  BmcEvent,
  Indicator,
  Node,
  NodeEvent,
  NodeFilter,
  NodeWait,
  Patch,
  Reading,
  ConsoleState,
  Verb,
  Verdict,
} from './nodes.ts'
export { type AuditEntry, type Fsck, type Touched, type Usages, versionAt } from './operations.ts'
export type { ApplicationCredential, Grant, Named, NewApplicationCredential, Project, User } from './people.ts'
export type { Port } from './ports.ts'
export type { Inventory, NewInventory, Provider, ProviderInFull } from './providers.ts'
export type { PlaceExplained, PlaceInQueue, ProjectShare, Queued } from './queue.ts'
export type { Limit, Quota, QuotaInFull } from './quotas.ts'
export type { NewReservation, Reservation } from './reservations.ts'
export type { NewServer, Server } from './servers.ts'
export type {
  Booking,
  Machine,
  MachineInFull,
  MachineState,
  Past,
  PromiseKind,
  Span,
  Status,
  StatusChange,
  StatusFilter,
  StatusFollowed,
  StatusHost,
  StatusWanted,
  VerbOf,
  Waiting,
} from './status.ts'
export { cloudNames, type ConnectOptions, DEFAULT_URL, type Where, whereIs } from './where.ts'
export type { Delivery, NewWebhook, Tried, Webhook, WebhookChange, WebhookWithSecret } from './webhooks.ts'
export type { ByteSocket, Json, Query } from './wire.ts'
export type { NodeWanted, NodeWork } from './with-node.ts'

export type Holdfast = Nouns & {
  /** The same server; `signal` ends requests to it. */
  within: (signal: AbortSignal) => Holdfast
  /** Allocates a node, does a piece of work with it, and releases it. */
  withNode: <T>(wanted: NodeWanted, work: NodeWork<T>) => Promise<T>
}

/** Logs in, and again when the token has ended. */
export async function connect(options: ConnectOptions): Promise<Holdfast> {
  const where = whereIs(options)
  const enter = () => logIn(where, options.askPassword)
  const login = await enter()
  return over(new Wire(login.url, sessionOf(login, isRenewable(where) ? enter : null)), login)
}

/** For callers that have logged in themselves. */
export const holdfastAt = (login: Login): Holdfast => over(new Wire(login.url, sessionOf(login, null)), login)

function over(wire: Wire, login: Login): Holdfast {
  const server: Holdfast = {
    ...nounsOf(wire, login),
    within: signal => over(wire.within(signal), login),
    withNode: (wanted, work) => withNode(server, login.who?.user ?? 'a program', wanted, work),
  }
  return server
}

type Nouns = ReturnType<typeof nounsOf>

function nounsOf(wire: Wire, { user, project }: Login) {
  const [metal, placement, reservation, compute, operator] = [
    wire.at('/baremetal/v1'),
    wire.at('/placement'),
    wire.at('/reservation/v1'),
    wire.at('/compute/v2.1'),
    wire.at('/holdfast/v1'),
  ]
  const identity = wire.at('/identity/v3')
  const events = new Events(operator)
  const names = new Names(operator)
  return {
    url: wire.url,
    /** The ids of our user and project; null if no identity service was asked. */
    user,
    project,
    nodes: new Nodes(metal, operator, events),
    ports: new Ports(metal),
    chassis: new EveryChassis(metal),
    conductors: new Conductors(metal),
    leasableNodes: new LeasableNodes(operator),
    allocations: new Allocations(metal, operator, events),
    reservations: new Reservations(metal, operator),
    leases: new Leases(reservation, operator, events),
    calendars: new Calendars(operator, `${wire.url}/holdfast/v1`),
    hosts: new Hosts(reservation),
    flavors: new Flavors(compute),
    servers: new Servers(compute),
    providers: new Providers(placement),
    traits: new Traits(placement),
    resourceClasses: new ResourceClasses(placement),
    candidates: new CandidateSearch(placement, operator),
    claims: new Claims(placement, { user, project }),
    usage: new Usage(placement),
    queue: new Queue(operator),
    quotas: new Quotas(operator),
    /** What users and projects are called. */
    names,
    projects: new Projects(identity, names),
    users: new Users(identity, names),
    /** All events as they happen. */
    events: (wanted?: EventsWanted) => events.follow(wanted),
    /** Waits until an object has become what is wanted. */
    wait: (wanted: WaitWanted) => events.wait(wanted),
    /** The cursor of now. Take it before you look at what is there, and no event is missed. */
    cursor: () => events.cursor(),
    webhooks: new Webhooks(operator),
    /** Who has what, until when, who waits, and what comes. */
    status: statusAt(operator),
    /** The same, and each change of it as it happens. */
    followStatus: followStatusAt(operator),
    /** All about one machine, by its name or uuid. */
    machine: machineAt(operator),
    /** What each provider has, and how much of it is used. */
    capacity: capacityAt(operator),
    /** How the service is. */
    health: healthAt(operator),
    /** How the Nova is whose servers these are; null where there is none. */
    nova: novaAt(operator),
    fsck: fsckAt(operator),
    audit: auditAt(operator),
  }
}
