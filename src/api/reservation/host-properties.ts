// /v1/os-hosts/properties: the capabilities that hosts have, to ask for in resource_properties
import { properties, setPropertyPrivate } from '../../leases/hosts.ts'
import { shownTime, shownTimeOrNull } from './dates.ts'
import { flagOf, refused } from './fields.ts'
import type { Answer, ReservationRequest } from './request.ts'

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

export async function patchProperty(request: ReservationRequest): Promise<Answer> {
  const { context, members, now } = request
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
