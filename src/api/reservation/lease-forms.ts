// The schemas of leases for the document: the bodies that lease-bodies.ts reads, and the answers of leases.ts.
import type { TSchema } from 'typebox'
import { limits } from '../../shared/limits.ts'
import type { Form } from '../operation.ts'
import { Flag, named, oneOf, orNull, Text, TextOrNull, Uuid } from '../shapes.ts'
import { GivenDate, ShownDate, ShownTime } from './dates.ts'
import { Type } from '../../shared/type.ts'

const optional = (schema: TSchema) => Type.Optional(orNull(schema))
/** A text that isn't blank. */
const Name = (maxLength: number) => Type.String({ pattern: '\\S', maxLength })
/** A whole number, which command lines send as text too. */
const Whole = (minimum: number, maximum: number) =>
  Type.Union([Type.Integer({ minimum, maximum }), Type.String({ pattern: '^\\s*\\d{1,16}\\s*$' })])
const Amount = Whole(1, limits.reservationAmountMax)
const Size = Whole(1, limits.reservationSizeMax)
const Affinity = Type.Union([
  Flag,
  Type.String({ pattern: '^([Nn][Oo][Nn][Ee]|[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$' }),
])
const Query = Type.String({ maxLength: limits.propertiesCharsMax, description: 'JSON: ["=", "$vcpus", "4"]' })

const INSTANCE = { vcpus: Size, memory_mb: Size, disk_gb: Whole(0, limits.reservationSizeMax), amount: Amount }
const INSTANCE_MORE = { affinity: optional(Affinity), resource_properties: optional(Query) }
const HOST_MORE = {
  hypervisor_properties: optional(Query),
  resource_properties: optional(Query),
  before_end: optional(oneOf('', 'snapshot', 'default')),
}
const RANGE = { min: Amount, max: Amount }
const ResourceClass = Name(limits.nameCharsMax)
const Traits = optional(Type.Array(Name(limits.nameCharsMax), { maxItems: limits.nodeTraitsMax }))

const FlavorId = Type.Union([Name(limits.nameCharsMax), Type.Number()])
const Candidates = optional(
  Type.Array(Uuid, { maxItems: limits.reservationNodesNamedMax, description: 'The only nodes that will do.' }),
)

const equality = (key: string) => `\\["={1,2}", ?"\\$${key}", ?"[A-Za-z0-9_.-]{1,${limits.nameCharsMax}}"\\]`
const NodeProperties = Type.String({
  pattern: `^(${equality('resource_class')}|\\["and", ?${equality('resource_class')}(, ?${equality('trait')}){0,${limits.nodeTraitsMax}}\\])$`,
  maxLength: limits.propertiesCharsMax,
  description: 'JSON, instead of resource_class and traits: ["=", "$resource_class", "gpu"]',
})

const FlavorProperties = Type.String({
  pattern: `^${equality('flavor_id')}$`,
  maxLength: limits.propertiesCharsMax,
  description: 'JSON, instead of flavor_id: ["=", "$flavor_id", "m1.small"]',
})

/** Unknown members are ignored, as upstream does, unless they look like a mistyped one. */
const open = { additionalProperties: true }
const of = (type: string, title: string, members: Record<string, TSchema>) =>
  Type.Object({ resource_type: Type.Literal(type), ...members }, { title, ...open })

const NewReservation = Type.Union([
  of('virtual:instance', 'NewInstanceReservation', { ...INSTANCE, ...INSTANCE_MORE }),
  of('flavor:instance', 'NewFlavorReservation', {
    flavor_id: FlavorId,
    amount: Amount,
    affinity: optional(Affinity),
  }),
  of('flavor:instance', 'NewFlavorReservationByProperties', {
    resource_properties: FlavorProperties,
    amount: Amount,
    affinity: optional(Affinity),
  }),
  of('physical:host', 'NewHostReservation', { ...RANGE, ...HOST_MORE }),
  of('physical:node', 'NewNodeReservation', {
    ...RANGE,
    resource_class: ResourceClass,
    traits: Traits,
    candidate_nodes: Candidates,
  }),
  of('physical:node', 'NewNodeReservationByProperties', {
    ...RANGE,
    resource_properties: NodeProperties,
    candidate_nodes: Candidates,
  }),
])

const LeaseName = Name(limits.leaseNameCharsMax)
const Reservations = (item: TSchema, minItems: 0 | 1) =>
  Type.Array(item, { minItems, maxItems: limits.leaseReservationsMax })

const newLease = {
  start_date: GivenDate,
  end_date: GivenDate,
  before_end_date: optional(Type.Union([Type.Literal(''), GivenDate])),
  reservations: Reservations(NewReservation, 1),
}
/** Ours: chosen by the client, so that a lost answer can be asked for. */
const GivenId = optional(Uuid)
export const NEW_LEASE: Form = {
  schema: Type.Object(
    {
      id: GivenId,
      // Ours, for operators who bring leases from another service; each reservation may have an id then.
      project_id: optional(Name(limits.nameCharsMax)),
      user_id: optional(Name(limits.nameCharsMax)),
      name: LeaseName,
      ...newLease,
    },
    { title: 'NewLease', ...open },
  ),
}
/** A lease that is only explained, not booked, so it needs no name. */
export const LEASE_TO_EXPLAIN: Form = {
  schema: Type.Object({ name: Type.Optional(LeaseName), ...newLease }, { title: 'LeaseToExplain', ...open }),
}

const Unchanged = Object.fromEntries(
  Object.entries({ ...INSTANCE, ...RANGE, resource_class: ResourceClass }).map(([name, schema]) => [
    name,
    Type.Optional(schema),
  ]),
)
const ReservationChange = Type.Object(
  {
    id: Type.String({ maxLength: limits.nameCharsMax }),
    resource_type: Type.Optional(Type.String({ maxLength: limits.nameCharsMax })),
    ...Unchanged,
    ...INSTANCE_MORE,
    ...HOST_MORE,
    traits: Traits,
    candidate_nodes: Candidates,
    flavor_id: Type.Optional(FlavorId),
  },
  { title: 'ReservationChange', ...open },
)
const leaseChange = {
  name: optional(LeaseName),
  start_date: optional(GivenDate),
  end_date: optional(GivenDate),
  before_end_date: optional(GivenDate),
  reservations: optional(Reservations(ReservationChange, 0)),
}
export const LEASE_CHANGE: Form = { schema: Type.Object(leaseChange, { title: 'LeaseChange', ...open }) }
/** The change of a lease that is only explained. */
export const CHANGE_TO_EXPLAIN: Form = {
  schema: Type.Object({ lease: Text, ...leaseChange }, { title: 'LeaseChangeToExplain', ...open }),
}

const row = { created_at: ShownTime, updated_at: orNull(ShownTime) }
const Count = Type.Integer({ minimum: 0 })

const shown = (type: string, title: string, members: Record<string, TSchema>) =>
  named(title, {
    id: Text,
    lease_id: Text,
    resource_id: Text,
    status: oneOf('pending', 'active', 'deleted'),
    missing_resources: Flag,
    resources_changed: Flag,
    resource_type: Type.Literal(type),
    ...members,
    ...row,
  })

const SHOWN_INSTANCES = {
  vcpus: Count,
  memory_mb: Count,
  disk_gb: Count,
  amount: Count,
  affinity: orNull(Flag),
  resource_properties: Text,
  flavor_id: Text,
  aggregate_id: Type.Null(),
  server_group_id: Type.Null(),
}

const ShownReservation = Type.Union([
  shown('virtual:instance', 'InstanceReservation', SHOWN_INSTANCES),
  // resource_properties is JSON: the flavor that was named, as it was then.
  shown('flavor:instance', 'FlavorReservation', SHOWN_INSTANCES),
  shown('physical:host', 'HostReservation', {
    min: Count,
    max: Count,
    hypervisor_properties: Text,
    resource_properties: Text,
    before_end: oneOf('', 'snapshot', 'default'),
  }),
  shown('physical:node', 'NodeReservation', {
    min: Count,
    max: Count,
    resource_class: Text,
    traits: Type.Array(Text),
    candidate_nodes: Type.Optional(Type.Array(Text)),
    nodes: Type.Array(Type.Object({ node: Text, name: TextOrNull, allocation: TextOrNull })),
  }),
])

/** The members that a reservation of any type is shown with. */
export const RESERVATION_MEMBERS = [...new Set(ShownReservation.anyOf.flatMap(one => Object.keys(one.properties)))]

const ShownEvent = named('LeaseEvent', {
  id: Text,
  lease_id: Text,
  event_type: oneOf('start_lease', 'before_end_lease', 'end_lease'),
  time: ShownDate,
  status: oneOf('UNDONE', 'IN_PROGRESS', 'DONE'),
  ...row,
})

export const LeaseShape = named('Lease', {
  id: Text,
  name: Text,
  start_date: ShownDate,
  end_date: ShownDate,
  status: oneOf('PENDING', 'STARTING', 'ACTIVE', 'TERMINATING', 'TERMINATED'),
  // Ours: why it is still STARTING or TERMINATING.
  status_reason: Type.Optional(Text),
  degraded: Flag,
  user_id: Text,
  project_id: Text,
  user_name: Text,
  project_name: Text,
  trust_id: Type.Null(),
  ...row,
  reservations: Type.Array(ShownReservation),
  events: Type.Array(ShownEvent),
})
