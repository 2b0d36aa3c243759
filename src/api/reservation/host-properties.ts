// /v1/os-hosts/properties: the capabilities of hosts, which leases can ask for in resource_properties.
import { properties, setPropertyPrivate } from '../../leases/pool/hosts.ts'
import type { Form, Operation } from '../operation.ts'
import { Flag, named, orNull, Text } from '../shapes.ts'
import { ShownTime, shownTime, shownTimeOrNull } from './dates.ts'
import { flagOf, refused } from './fields.ts'
import { type Answer, membersIn, type ReservationRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const GivenFlag = Type.Union([Flag, Type.String({ pattern: '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$' })])
const PARAMETERS: Form = { schema: Type.Object({ detail: Type.Optional(Flag), all: Type.Optional(Flag) }) }
const PRIVACY: Form = {
  schema: Type.Object({ private: GivenFlag }, { title: 'Privacy', additionalProperties: true }),
}
const Shown = named('ChangedHostProperty', {
  id: Text,
  resource_type: Text,
  property_name: Text,
  private: Flag,
  created_at: ShownTime,
  updated_at: orNull(ShownTime),
})

listProperties.operation = {
  summary: 'List the capabilities that hosts have',
  query: [PARAMETERS],
  answers: {
    200: Type.Object({
      resource_properties: Type.Array(
        named('HostProperty', {
          property: Text,
          private: Type.Optional(Flag),
          values: Type.Optional(Type.Array(Text)),
        }),
      ),
    }),
  },
} satisfies Operation

export async function listProperties(request: ReservationRequest): Promise<Answer> {
  const isDetailed = flagOf(request.parameter('detail') ?? false, 'detail')
  const all = flagOf(request.parameter('all') ?? false, 'all')
  const found = await request.context.store.read(() => properties({ all }))
  const shown = found.map(({ name, is_private, values }) => ({
    property: name,
    ...(isDetailed && { private: is_private, values }),
  }))
  return { status: 200, body: { resource_properties: shown } }
}

patchProperty.operation = {
  summary: 'Hide a capability from the list, or show it',
  body: [PRIVACY],
  answers: { 200: Type.Object({ resource_property: Shown }) },
} satisfies Operation

export async function patchProperty(request: ReservationRequest): Promise<Answer> {
  const { context, now } = request
  const members = membersIn(request, PRIVACY)
  if (members['private'] === undefined) throw refused('private is missing.')
  const isPrivate = flagOf(members['private'], 'private')
  const property = await context.store.write(() => setPropertyPrivate(request.param('name'), isPrivate, now))
  const body = {
    id: property.id,
    resource_type: 'physical:host',
    property_name: property.name,
    private: property.is_private,
    created_at: shownTime(property.created_at),
    updated_at: shownTimeOrNull(property.updated_at),
  }
  return { status: 200, body: { resource_property: body } }
}
