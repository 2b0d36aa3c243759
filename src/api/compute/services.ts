// /os-services and /os-availability-zone: each hypervisor has a service, and all are in one zone.
import { Type } from 'typebox'
import { changeHypervisor, type Hypervisor, type HypervisorChange, listHypervisors } from '../../compute/hypervisors.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { byName, Count, Flag, named, orNull, Text, TextOrNull } from '../shapes.ts'
import { closed } from './bodies.ts'
import { ShownRecordTime, shownRecordTime } from './links.ts'
import type { Answer, ComputeRequest } from './request.ts'

export const ZONE = 'nova'
const BINARY = 'nova-compute'

const shown = (hypervisor: Hypervisor, now: number) => ({
  id: hypervisor.id,
  binary: BINARY,
  host: hypervisor.name,
  zone: ZONE,
  status: hypervisor.status,
  state: hypervisor.state,
  disabled_reason: hypervisor.disabled_reason,
  updated_at: shownRecordTime(hypervisor.updated_at ?? now),
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
  return { status: 200, body: { services: found.map(hypervisor => shown(hypervisor, request.now)) } }
}

const serviceBody = check(
  Type.Object(
    {
      host: Type.String({ minLength: 1, maxLength: 255 }),
      binary: Type.String({ minLength: 1, maxLength: 255 }),
      disabled_reason: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    },
    closed,
  ),
)

putService.operation = {
  summary: 'Let a hypervisor take new servers, or no longer',
  body: [serviceBody],
  answers: {
    200: Type.Object({
      service: Type.Object({ host: Text, binary: Text, status: Text, disabled_reason: Type.Optional(Text) }),
    }),
  },
} satisfies Operation

/** PUT /os-services/enable, /disable and /disable-log-reason. */
export async function putService(request: ComputeRequest): Promise<Answer> {
  const action = request.param('action')
  const { host, binary, disabled_reason } = request.body(serviceBody)
  const change = changeOf(action, disabled_reason)
  if (binary !== BINARY) throw problem('hypervisor_not_found', { name: `${host} with binary ${binary}` })
  const { store } = request.context
  const after = await store.write(() => changeHypervisor(host, change, request.now))
  const reason = after.disabled_reason !== null && { disabled_reason: after.disabled_reason }
  return { status: 200, body: { service: { host, binary, status: after.status, ...reason } } }
}

function changeOf(action: string, reason: string | undefined): HypervisorChange {
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
    const { status, state, updated_at } = shown(hypervisor, request.now)
    return [hypervisor.name, { [BINARY]: { active: status === 'enabled', available: state === 'up', updated_at } }]
  })
  return zones(Object.fromEntries(hosts) as object)
}

const zones = (hosts: object | null): Answer => ({
  status: 200,
  body: { availabilityZoneInfo: [{ zoneName: ZONE, zoneState: { available: true }, hosts }] },
})
