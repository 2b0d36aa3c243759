// POST /v1/events: what other services tell, such as networking of its ports. It is checked and taken; nothing here waits
// for it.
import type { TSchema } from 'typebox'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { problem } from '../../problems/problem.ts'
import { isObject } from '../../shared/is-object.ts'
import { limits } from '../../shared/limits.ts'
import type { Form, Operation } from '../operation.ts'
import { oneOf, Text, Uuid } from '../shapes.ts'
import * as c from './collection.ts'
import type { Answer, MetalRequest } from './request.ts'
import { Type } from '../../shared/type.ts'
import { unexpected, wanted } from '../wanted.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

const EVENTS = ['network.bind_port', 'network.unbind_port', 'network.delete_port']

const isText = (value: unknown) => typeof value === 'string'
const isUuid = (value: unknown) => typeof value === 'string' && canonicalUuid(value) !== null

/** The members of an event: the schema, the check, and whether it must be there. */
const MEMBERS: Readonly<Record<string, readonly [TSchema, (value: unknown) => boolean, 'required'?]>> = {
  event: [oneOf(...EVENTS), value => EVENTS.includes(value as string), 'required'],
  port_id: [Uuid, isUuid, 'required'],
  mac_address: [c.isMac.schema, c.isMac, 'required'],
  status: [Text, isText, 'required'],
  device_id: [Text, isText],
  'binding:host_id': [Text, isText],
  'binding:vnic_type': [Text, isText],
}

const Event = Type.Object(
  Object.fromEntries(
    Object.entries(MEMBERS).map(([name, [shape, , required]]) => [name, required ? shape : Type.Optional(shape)]),
  ),
  { title: 'ExternalEvent', additionalProperties: false },
)
const NEWS: Form = {
  schema: Type.Object(
    { events: Type.Array(Event, { maxItems: limits.externalEventsMax }) },
    { title: 'ExternalEvents', additionalProperties: false },
  ),
}

postEvents.operation = {
  summary: 'Take events that other services tell',
  body: [NEWS],
  answers: { 204: null },
} satisfies Operation

export function postEvents(request: MetalRequest): Answer {
  const { events, ...others } = request.object(NEWS)
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw refuse(c.unknownMember(unknown, ['events']))
  if (!Array.isArray(events)) throw refuse('Expected an object with events, a list.')
  if (events.length > limits.externalEventsMax) throw refuse(`At most ${limits.externalEventsMax} events at once.`)
  for (const event of events as unknown[]) checkEvent(event)
  return { status: 204 }
}

function checkEvent(event: unknown): void {
  if (!isObject(event)) throw refuse('An event, a member of events, is an object.')
  for (const [name, [, , required]] of Object.entries(MEMBERS)) {
    if (required && event[name] === undefined) throw refuse(`An event needs ${name}: ${wanted(MEMBERS[name]![0])}.`)
  }
  for (const [name, value] of Object.entries(event)) {
    if (!Object.hasOwn(MEMBERS, name)) throw refuse(c.unknownMember(name, Object.keys(MEMBERS)))
    if (!MEMBERS[name]![1](value)) throw refuse(unexpected(MEMBERS[name]![0], name, value))
  }
}
