// /os-services and /os-availability-zone: each hypervisor has a service, and all are in one zone.
import { Type } from 'typebox'
import { changeHypervisor, type Hypervisor, type HypervisorChange, listHypervisors } from '../../compute/hypervisors.ts'
import { problem } from '../../problem.ts'
import { check } from '../schema.ts'
import { closed } from './bodies.ts'
import { shownRecordTime } from './links.ts'
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

/** PUT /os-services/enable, /disable and /disable-log-reason. */
export async function putService(request: ComputeRequest): Promise<Answer> {
  const action = request.param('action')
  const { host, binary, disabled_reason } = request.body(serviceBody)
  const change = changeOf(action, disabled_reason)
  if (binary !== BINARY) throw problem('hypervisor_not_found', { name: `${host} with binary ${binary}` })
  const { bell, store } = request.context
  const after = await store.write(() => changeHypervisor(host, change, request.now))
  bell.ring()
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
