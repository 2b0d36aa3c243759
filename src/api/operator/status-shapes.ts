// The shapes of the status, for the OpenAPI document. The texts of machines are made in src/status.
import { PROMISE_KINDS } from '../../status/machine.ts'
import { WORDS } from '../../status/state.ts'
import { byName, Count, Document, Flag, named, oneOf, orNull, Text, TextOrNull, Uuid } from '../shapes.ts'
import { Type } from '../../shared/type.ts'

/** ISO 8601 in UTC. */
const Time = Text
const TimeOrNull = orNull(Time)
const Texts = Type.Array(Text)

export const Booking = named('StatusBooking', {
  id: TextOrNull,
  name: TextOrNull,
  who: TextOrNull,
  project: TextOrNull,
  start: Time,
  end: Time,
})

const MachineShape = named('StatusMachine', {
  uuid: Uuid,
  name: TextOrNull,
  rack: TextOrNull,
  slot: TextOrNull,
  class: TextOrNull,
  state: oneOf(...WORDS),
  verb: TextOrNull,
  provision: Text,
  power: TextOrNull,
  maintenance: Flag,
  owner: TextOrNull,
  lessee: TextOrNull,
  who: TextOrNull,
  project: TextOrNull,
  what: TextOrNull,
  kind: orNull(oneOf(...PROMISE_KINDS)),
  id: TextOrNull,
  since: TimeOrNull,
  until: TimeOrNull,
  purpose: TextOrNull,
  next: orNull(Booking),
  bookable: Flag,
  reason: TextOrNull,
  error: TextOrNull,
  note: TextOrNull,
  addresses: Texts,
  traits: Type.Array(Count),
  mine: Flag,
  may: Texts,
})

const Host = named('StatusHost', {
  uuid: Uuid,
  name: Text,
  used: byName(Type.Number()),
  capacity: byName(Type.Number()),
  lease: orNull(Booking),
})

const Waiting = named('StatusWaiting', {
  uuid: Uuid,
  name: TextOrNull,
  who: TextOrNull,
  project: TextOrNull,
  class: Text,
  traits: Texts,
  count: Count,
  for: TimeOrNull,
  since: Time,
  gives_up: TimeOrNull,
  place: orNull(Count),
  of: Count,
  start: TimeOrNull,
  because: orNull(Type.Object({ machine: Text, what: TextOrNull, end: Time })),
  suits: Type.Array(Uuid),
  state: oneOf('waiting', 'gave up'),
  reason: TextOrNull,
  relaxations: Type.Array(Document),
  mine: Flag,
  may: Texts,
})

const SpanShape = named('StatusSpan', {
  machine: Uuid,
  kind: oneOf(...PROMISE_KINDS, 'maintenance'),
  id: TextOrNull,
  name: TextOrNull,
  who: TextOrNull,
  project: TextOrNull,
  start: TimeOrNull,
  end: TimeOrNull,
  mine: Flag,
  may: Texts,
})

const Me = Type.Object({ user: TextOrNull, project: TextOrNull, roles: Texts, may: Texts })

export const StatusShape = named('Status', {
  sequence: Text,
  now: Time,
  me: Me,
  traits: Texts,
  machines: Type.Array(MachineShape),
  hosts: Type.Array(Host),
  waiting: Type.Array(Waiting),
  spans: Type.Array(SpanShape),
})

export const StatusChange = named('StatusChange', {
  since: TextOrNull,
  cursor: Text,
  sequence: Text,
  now: Time,
  me: Me,
  gone: Type.Array(Uuid),
  traits: Texts,
  machines: Type.Array(MachineShape),
  hosts: orNull(Type.Array(Host)),
  waiting: orNull(Type.Array(Waiting)),
  spans: Type.Array(SpanShape),
})

export const MachineInFull = named('StatusMachineInFull', {
  sequence: Text,
  now: Time,
  traits: Texts,
  machine: MachineShape,
  ports: Type.Array(Type.Object({ uuid: Uuid, address: Text, name: TextOrNull, physical_network: TextOrNull })),
  hardware: Document,
  verbs: Type.Array(Type.Object({ verb: Text, may: Flag, why_not: TextOrNull })),
  spans: Type.Array(SpanShape),
  history: Type.Array(
    Type.Object({
      at: Time,
      what: Text,
      to: TextOrNull,
      name: TextOrNull,
      who: TextOrNull,
      project: TextOrNull,
      request: TextOrNull,
      reason: TextOrNull,
      output: TextOrNull,
    }),
  ),
})
