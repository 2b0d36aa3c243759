// /os-hosts: hypervisors under the name that clients knew before, with what each project takes of them.
import { changeHypervisor, findHypervisorNamed, listHypervisors } from '../../compute/hypervisors.ts'
import { type Size, useOfHost } from '../../compute/usage.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Count, named, oneOf, Text } from '../shapes.ts'
import { closed } from './bodies.ts'
import type { Answer, ComputeRequest } from './request.ts'
import { ZONE } from './services.ts'
import { Type } from '../../shared/type.ts'

const PARAMETERS: Form = { schema: Type.Object({ zone: Type.Optional(Text) }) }

listHosts.operation = {
  summary: 'List the hosts: the hypervisors that are enabled',
  query: [PARAMETERS],
  answers: {
    200: Type.Object({ hosts: Type.Array(named('Host', { host_name: Text, service: Text, zone: Text })) }),
  },
} satisfies Operation

export async function listHosts(request: ComputeRequest): Promise<Answer> {
  const zone = request.parameter('zone')
  const all = await request.context.store.read(listHypervisors)
  const found = all.filter(({ status }) => status === 'enabled' && (zone === null || zone === '' || zone === ZONE))
  return {
    status: 200,
    body: { hosts: found.map(({ name }) => ({ host_name: name, service: 'compute', zone: ZONE })) },
  }
}

const Share = Type.Object({
  resource: named('HostShare', { host: Text, project: Text, cpu: Count, memory_mb: Count, disk_gb: Count }),
})

showHost.operation = {
  summary: 'Show what a host has, what of it is used, and by which project',
  answers: { 200: Type.Object({ host: Type.Array(Share) }) },
} satisfies Operation

export async function showHost(request: ComputeRequest): Promise<Answer> {
  const host = request.param('host')
  const { hypervisor, uses } = await request.context.store.read(function* () {
    const hypervisor = yield* findHypervisorNamed(host)
    return { hypervisor, uses: yield* useOfHost(hypervisor.id) }
  })
  const share = (project: string, { vcpus, memory_mb, local_gb }: Size) => ({
    resource: { host, project, cpu: vcpus, memory_mb, disk_gb: local_gb },
  })
  const used = {
    vcpus: hypervisor.vcpus_used,
    memory_mb: hypervisor.memory_mb_used,
    local_gb: hypervisor.local_gb_used,
  }
  // Servers never use less than they were given.
  const rows = [share('(total)', hypervisor), share('(used_now)', used), share('(used_max)', used)]
  return { status: 200, body: { host: [...rows, ...[...uses].map(([project, size]) => share(project, size))] } }
}

const Switch = Type.Unsafe<string>({ type: 'string', pattern: '^\\s*([Ee][Nn]|[Dd][Ii][Ss])[Aa][Bb][Ll][Ee]\\s*$' })
const hostBody = check(
  Type.Object(
    { status: Type.Optional(Switch), maintenance_mode: Type.Optional(Switch) },
    { ...closed, minProperties: 1 },
  ),
)

putHost.operation = {
  summary: 'Let a host take new servers, or no longer',
  body: [hostBody],
  answers: { 200: Type.Object({ host: Text, status: oneOf('enabled', 'disabled') }) },
} satisfies Operation

export async function putHost(request: ComputeRequest): Promise<Answer> {
  const host = request.param('host')
  const { status, maintenance_mode } = request.body(hostBody)
  if (status === undefined || maintenance_mode !== undefined) {
    throw problem('compute_invalid', { reason: 'Hosts have no maintenance mode here: disable them, and move servers.' })
  }
  const wanted = status.trim().toLowerCase() === 'enable' ? 'enabled' : 'disabled'
  const change = { status: wanted, disabled_reason: null } as const
  const after = await request.context.store.write(() => changeHypervisor(host, change, request.now))
  return { status: 200, body: { host, status: after.status } }
}
