// /v1/os-hosts
import type { TSchema } from 'typebox'
import { askForHypervisor } from '../../leases/nova/find-hypervisor.ts'
import { createHost, deleteHost, findHost, listHosts, updateHost } from '../../leases/pool/hosts.ts'
import type { Host } from '../../leases/types.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { Count, Flag, named, orNull, Text } from '../shapes.ts'
import { ShownTime, shownTime, shownTimeOrNull } from './dates.ts'
import { refused, shown, textOf } from './fields.ts'
import { type Answer, type Members, membersIn, type ReservationRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

/** The members that come from the compute node. Clients can't set them. */
const ownMembers = (host: Host) => ({
  id: host.id,
  hypervisor_hostname: host.hypervisor_hostname,
  service_name: host.service_name,
  vcpus: host.vcpus,
  memory_mb: host.memory_mb,
  local_gb: host.local_gb,
  cpu_info: host.cpu_info,
  hypervisor_type: host.hypervisor_type,
  hypervisor_version: host.hypervisor_version,
  availability_zone: host.availability_zone,
  status: null,
  reservable: host.reservable,
  trust_id: null,
  created_at: shownTime(host.created_at),
  updated_at: shownTimeOrNull(host.updated_at),
})

const ownShapes: Record<keyof ReturnType<typeof ownMembers>, TSchema> = {
  id: Text,
  hypervisor_hostname: Text,
  service_name: Text,
  vcpus: Count,
  memory_mb: Count,
  local_gb: Count,
  cpu_info: Text,
  hypervisor_type: Text,
  hypervisor_version: Count,
  availability_zone: Text,
  status: Type.Null(),
  reservable: Flag,
  trust_id: Type.Null(),
  created_at: ShownTime,
  updated_at: orNull(ShownTime),
}
const OWN: ReadonlySet<string> = new Set(Object.keys(ownShapes))

const Shown = named('Host', ownShapes, {
  description: 'Every further member is a capability.',
  additionalProperties: Text,
})
const One = Type.Object({ host: Shown })

const Ident = Type.Union([Type.String({ maxLength: limits.nameCharsMax }), Type.Number()])
const Capabilities = {
  description: 'Every further member is a capability.',
  additionalProperties: Type.Union([Type.String({ maxLength: limits.capabilityCharsMax }), Type.Number()]),
}
const NEW_HOST: Form = {
  schema: Type.Union(
    [
      Type.Object({ name: Ident, id: Type.Optional(Type.Unknown()) }, Capabilities),
      // The id is used only without a name.
      Type.Object({ name: Type.Optional(Type.Null()), id: Ident }, Capabilities),
    ],
    { title: 'NewHost' },
  ),
}
const HOST_CHANGE: Form = {
  schema: Type.Object(
    { name: Type.Optional(Type.Unknown()) },
    { title: 'HostChange', minProperties: 1, ...Capabilities },
  ),
}

const shownHost = (host: Host) => ({ ...host.capabilities, ...ownMembers(host) })

/** All further members are capabilities. */
function capabilitiesOf(given: Members): Record<string, string> {
  const entries = Object.entries(given)
  if (entries.length > limits.capabilitiesPerHostMax) {
    throw refused(`A host has at most ${limits.capabilitiesPerHostMax} capabilities.`)
  }
  return Object.fromEntries(entries.map(([name, value]) => [capabilityName(name), capabilityText(value, name)]))
}

function capabilityName(name: string): string {
  if (OWN.has(name)) throw refused(`${name} is what the compute node says and can't be a capability.`)
  if (name === '' || name.length > limits.capabilityNameCharsMax) {
    const long = name === '' ? '' : 'Extra capability key too long: '
    throw refused(
      `${long}the name of a capability has 1 to ${limits.capabilityNameCharsMax} characters, not ${shown(name)}.`,
    )
  }
  return name
}

const capabilityText = (value: unknown, name: string) =>
  textOf(typeof value === 'number' ? String(value) : value, name, limits.capabilityCharsMax)

listAllHosts.operation = {
  summary: 'List the hosts that may be booked',
  answers: { 200: Type.Object({ hosts: Type.Array(Shown) }) },
} satisfies Operation

export async function listAllHosts({ context }: ReservationRequest): Promise<Answer> {
  const hosts = await context.store.read(listHosts)
  return { status: 200, body: { hosts: hosts.map(shownHost) } }
}

postHost.operation = {
  summary: 'Let a compute host be booked',
  body: [NEW_HOST],
  answers: { 201: One },
} satisfies Operation

export async function postHost(request: ReservationRequest): Promise<Answer> {
  const { context, now } = request
  const { name: given, id, ...rest } = membersIn(request, NEW_HOST)
  const which = given ?? id
  // Upstream answers 403.
  if (which === undefined || which === null) throw problem('host_unnamed', {})
  const name = textOf(typeof which === 'number' ? String(which) : which, 'name', limits.nameCharsMax)
  const capabilities = capabilitiesOf(rest)
  const { nova } = context
  // Before the transaction: nothing foreign is waited for in there.
  const seen = nova ? { seen: await askForHypervisor({ ...context, nova }, name) } : {}
  const host = await context.store.write(() => createHost({ name, capabilities, ...seen }, now))
  return { status: 201, body: { host: shownHost(host) } }
}

showHost.operation = { summary: 'Show a host', answers: { 200: One } } satisfies Operation

export async function showHost(request: ReservationRequest): Promise<Answer> {
  const host = await request.context.store.read(() => findHost(request.param('id')))
  return { status: 200, body: { host: shownHost(host) } }
}

putHost.operation = {
  summary: 'Change the capabilities of a host',
  body: [HOST_CHANGE],
  answers: { 200: One },
} satisfies Operation

export async function putHost(request: ReservationRequest): Promise<Answer> {
  const { name: _, ...rest } = membersIn(request, HOST_CHANGE)
  const capabilities = capabilitiesOf(rest)
  if (Object.keys(capabilities).length === 0) throw refused('The body names no capability that is to change.')
  const host = await request.context.store.write(() => updateHost(request.param('id'), capabilities, request.now))
  return { status: 200, body: { host: shownHost(host) } }
}

deleteOneHost.operation = { summary: 'Withdraw a host from booking', answers: { 204: null } } satisfies Operation

export async function deleteOneHost(request: ReservationRequest): Promise<Answer> {
  const { store, config } = request.context
  // Of servers of our own no nova-compute looks after, so none misses the reservation provider.
  await store.write(() => deleteHost(request.param('id'), config.compute !== 'own', request.now))
  return { status: 204 }
}
