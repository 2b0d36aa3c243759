// /os-services and /os-availability-zone: each hypervisor has a service, and all are in one zone.
import type { Static } from 'typebox'
import { changeHypervisor, type Hypervisor, type HypervisorChange, listHypervisors } from '../../compute/hypervisors.ts'
import { flagOf } from '../../metal/nodes/attributes.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { byName, Count, Flag, from, named, orNull, Text, TextOrNull } from '../shapes.ts'
import { closed } from './bodies.ts'
import { ShownRecordTime, shownRecordTime } from './links.ts'
import type { Answer, ComputeRequest } from './request.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'

export const ZONE = 'nova'
const BINARY = 'nova-compute'

const shown = (hypervisor: Hypervisor, { now, has }: ComputeRequest) => ({
  id: hypervisor.id,
  binary: BINARY,
  host: hypervisor.name,
  zone: ZONE,
  status: hypervisor.status,
  state: hypervisor.state,
  disabled_reason: hypervisor.disabled_reason,
  updated_at: shownRecordTime(hypervisor.updated_at ?? now),
  // A hypervisor is down only when someone says so.
  ...(has.forcedDown && { forced_down: hypervisor.state === 'down' }),
})

const Shown = named('Service', {
  id: Count,
  binary: Text,
  host: Text,
  zone: Text,
  status: Text,
  state: Text,
  disabled_reason: TextOrNull,
  updated_at: ShownRecordTime,
  forced_down: from(since('forcedDown'), Flag),
})
const PARAMETERS: Form = { schema: Type.Object({ host: Type.Optional(Text), binary: Type.Optional(Text) }) }
const InZone = Type.Object({ active: Flag, available: Flag, updated_at: ShownRecordTime })
const Zones = Type.Object({
  availabilityZoneInfo: Type.Array(
    named('AvailabilityZone', {
      zoneName: Text,
      zoneState: Type.Object({ available: Flag }),
      hosts: orNull(byName(byName(InZone))),
    }),
  ),
})

listServices.operation = {
  summary: 'List the compute services, one for each hypervisor',
  query: [PARAMETERS],
  answers: { 200: Type.Object({ services: Type.Array(Shown) }) },
} satisfies Operation

export async function listServices(request: ComputeRequest): Promise<Answer> {
  const [host, binary] = [request.parameter('host'), request.parameter('binary')]
  const all = await request.context.store.read(listHypervisors)
  const found = all.filter(({ name }) => (host === null || name === host) && (binary === null || binary === BINARY))
  return { status: 200, body: { services: found.map(hypervisor => shown(hypervisor, request)) } }
}

const ServiceBody = Type.Object(
  {
    host: Type.String({ minLength: 1, maxLength: 255 }),
    binary: Type.String({ minLength: 1, maxLength: 255 }),
    disabled_reason: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    forced_down: Type.Optional(from(since('forcedDown'), Type.Union([Type.Boolean(), Type.String()]))),
  },
  closed,
)
const serviceBody = check(ServiceBody)

putService.operation = {
  summary: 'Let a hypervisor take new servers, or no longer; or say that it is down, or is back',
  body: [serviceBody],
  answers: {
    200: Type.Object({
      service: Type.Object({
        host: Text,
        binary: Text,
        status: Type.Optional(Text),
        disabled_reason: Type.Optional(Text),
        forced_down: Type.Optional(from(since('forcedDown'), Flag)),
      }),
    }),
  },
} satisfies Operation

/** PUT /os-services/enable, /disable, /disable-log-reason and /force-down. */
export async function putService(request: ComputeRequest): Promise<Answer> {
  const action = request.param('action')
  const given = request.body(serviceBody)
  const { host, binary } = given
  const change = changeOf(action, given, request)
  if (binary !== BINARY) throw problem('hypervisor_not_found', { name: `${host} with binary ${binary}` })
  const { store } = request.context
  const after = await store.write(() => changeHypervisor(host, change, request.now))
  if (action === FORCE_DOWN)
    return { status: 200, body: { service: { host, binary, forced_down: after.state === 'down' } } }
  const reason = after.disabled_reason !== null && { disabled_reason: after.disabled_reason }
  return { status: 200, body: { service: { host, binary, status: after.status, ...reason } } }
}

const FORCE_DOWN = 'force-down'

function changeOf(action: string, given: Static<typeof ServiceBody>, { has }: ComputeRequest): HypervisorChange {
  const { disabled_reason: reason, forced_down } = given
  if (action === FORCE_DOWN && has.forcedDown) {
    const isDown = flagOf(forced_down)
    if (isDown === null) throw problem('compute_invalid', { reason: 'Missing forced_down field' })
    return { state: isDown ? 'down' : 'up' }
  }
  if (forced_down !== undefined)
    throw problem('compute_invalid', { reason: 'forced_down belongs to force-down, from 2.11 on.' })
  if (action === 'enable') return { status: 'enabled', disabled_reason: null }
  if (action === 'disable') return { status: 'disabled', disabled_reason: null }
  if (action !== 'disable-log-reason') throw problem('route_not_found', {})
  if (reason === undefined) throw problem('compute_invalid', { reason: 'Missing disabled reason field' })
  return { status: 'disabled', disabled_reason: reason }
}

export const listZones = (_: ComputeRequest): Answer => zones(null)
listZones.operation = { summary: 'List the availability zones', answers: { 200: Zones } } satisfies Operation

listZonesInDetail.operation = {
  summary: 'List the availability zones with the services in them',
  answers: { 200: Zones },
} satisfies Operation

export async function listZonesInDetail(request: ComputeRequest): Promise<Answer> {
  const all = await request.context.store.read(listHypervisors)
  const hosts = all.map(hypervisor => {
    const { status, state, updated_at } = shown(hypervisor, request)
    return [hypervisor.name, { [BINARY]: { active: status === 'enabled', available: state === 'up', updated_at } }]
  })
  return zones(Object.fromEntries(hosts) as object)
}

const zones = (hosts: object | null): Answer => ({
  status: 200,
  body: { availabilityZoneInfo: [{ zoneName: ZONE, zoneState: { available: true }, hosts }] },
})
