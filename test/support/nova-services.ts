// os-services and os-hypervisors of the test Nova.
import { type Answer, noPolicy, type NovaRequest, pageOf, Refusal } from './nova-answers.ts'
import type { Body } from './nova-answers.ts'
import type { NovaHost } from './nova-host.ts'
import { releaseTree } from './nova-scheduler.ts'
import type { TestNova } from './nova.ts'

const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i

/** The other services, of which there is one each. */
const OTHERS = ['nova-scheduler', 'nova-conductor']

export function listServices(nova: TestNova, request: NovaRequest): Answer {
  needAdmin(request, 'os_compute_api:os-services:list')
  const { query, version } = request
  const [host, binary] = [query.get('host') ?? '', query.get('binary') ?? '']
  const rest = {
    zone: 'internal',
    status: 'enabled',
    state: 'up',
    updated_at: now(),
    disabled_reason: null,
    forced_down: false,
  }
  const others = OTHERS.map((binary, at) => ({
    id: version >= 53 ? `00000000-0000-4000-8000-00000000000${at}` : at + 1,
    binary,
    host: 'controller',
    ...rest,
  }))
  const computes = hostsOf(nova).map(each => serviceOf(nova, each, request))
  const services = [...others, ...computes].filter(
    each => (host === '' || each.host === host) && (binary === '' || each.binary === binary),
  )
  return { status: 200, body: { services } }
}

const now = () => new Date().toISOString().replace('Z', '')

export const hostsOf = ({ hosts }: TestNova): NovaHost[] => [...hosts.values()].filter(({ isService }) => isService)

function serviceOf(nova: TestNova, host: NovaHost, { version }: NovaRequest) {
  return {
    id: version >= 53 ? host.serviceId : [...nova.hosts.values()].indexOf(host) + 1 + OTHERS.length,
    binary: 'nova-compute',
    host: host.name,
    zone: 'nova',
    status: host.isEnabled ? 'enabled' : 'disabled',
    state: host.isUp ? 'up' : 'down',
    updated_at: now(),
    disabled_reason: host.disabledReason,
    ...(version >= 11 && { forced_down: host.isForcedDown }),
  }
}

function needAdmin({ caller }: NovaRequest, rule: string): void {
  if (!caller.isAdmin) throw noPolicy(rule)
}

function hostIn(nova: TestNova, { parts, version }: NovaRequest): NovaHost {
  const [id] = parts as [string]
  if (version < 53) throw new Refusal(404, 'Unknown action')
  if (!UUID.test(id)) throw new Refusal(400, `Invalid uuid ${id}`)
  const host = hostsOf(nova).find(({ serviceId }) => serviceId === id)
  if (!host) throw new Refusal(404, `Service ${id} not found.`)
  return host
}

export function changeService(nova: TestNova, request: NovaRequest): Answer {
  needAdmin(request, 'os_compute_api:os-services:update')
  const host = hostIn(nova, request)
  const given: Body = request.body ?? {}
  const { status, disabled_reason, forced_down } = given
  if (status === undefined && forced_down === undefined) {
    throw new Refusal(400, "No updates were requested. Fields 'status' or 'forced_down' should be specified.")
  }
  if (disabled_reason !== undefined && status !== 'disabled') {
    throw new Refusal(400, "Specifying 'disabled_reason' when status is 'enabled' is invalid.")
  }
  if (forced_down === false && nova.migrations.some(move => move.source === host.name && isEvacuated(move))) {
    throw new Refusal(
      400,
      `Unable to force up host ${host.name} as \`done\` evacuation migration records remain associated with the host. ` +
        'Ensure the compute service has been restarted, allowing these records to move to `completed` before retrying this request.',
    )
  }
  if (forced_down !== undefined) host.isForcedDown = forced_down
  if (status !== undefined) {
    host.isEnabled = status === 'enabled'
    host.disabledReason = status === 'enabled' ? null : (disabled_reason ?? null)
    // The compute changes its traits; one that is dead does so when it is back.
    nova.run(() => host.send(async () => void (await host.report())))
  }
  return { status: 200, body: { service: serviceOf(nova, host, request) } }
}

const isEvacuated = ({ type, status }: { type: string; status: string }) => type === 'evacuation' && status === 'done'

export async function deleteService(nova: TestNova, request: NovaRequest): Promise<Answer> {
  needAdmin(request, 'os_compute_api:os-services:delete')
  const host = hostIn(nova, request)
  if ([...nova.servers.values()].some(server => server.host === host.name)) {
    throw new Refusal(
      409,
      'Unable to delete compute service that is hosting instances. Migrate or delete the instances first.',
    )
  }
  const isUnderWay = nova.migrations.some(
    ({ source, target, status, server }) =>
      [source, target].includes(host.name) &&
      nova.servers.has(server.id) &&
      !['confirmed', 'reverted', 'error', 'failed', 'completed', 'cancelled', 'done'].includes(status),
  )
  if (isUnderWay) {
    throw new Refusal(
      409,
      'Unable to delete compute service that has in-progress migrations. Complete the migrations or delete the instances first.',
    )
  }
  for (const move of nova.migrations.filter(each => each.source === host.name && isEvacuated(each))) {
    if (nova.servers.has(move.server.id)) await releaseTree(nova.holdfast, move.server.id, host.uuid)
  }
  const { body } = await nova.holdfast.placement('GET', `/resource_providers?in_tree=${host.uuid}`, '1.14')
  const tree: Body[] = body.resource_providers
  const childrenFirst = tree.toSorted((a, b) => Number(a.uuid === host.uuid) - Number(b.uuid === host.uuid))
  // Refusals don't matter to Nova.
  for (const { uuid } of childrenFirst) await nova.holdfast.placement('DELETE', `/resource_providers/${uuid}`, '1.0')
  host.isService = false
  return { status: 204 }
}

export function listHypervisors(nova: TestNova, request: NovaRequest): Answer {
  const isDetailed = request.parts[0] === 'detail'
  needAdmin(request, `os_compute_api:os-hypervisors:list${isDetailed ? '-detail' : ''}`)
  const pattern = request.query.get('hypervisor_hostname_pattern')
  if (pattern !== null && request.version >= 53) {
    if (request.query.has('limit') || request.query.has('marker')) {
      throw new Refusal(
        400,
        'Paging over hypervisors with the hypervisor_hostname_pattern query parameter is not supported.',
      )
    }
    const found = hostsOf(nova).filter(({ name }) => name.includes(pattern))
    if (found.length === 0) throw new Refusal(404, `No hypervisor matching '${pattern}' could be found.`)
    return { status: 200, body: { hypervisors: found.map(host => hypervisorOf(nova, host, request, isDetailed)) } }
  }
  const { rows, links } = pageOf(hostsOf(nova), request, {
    idOf: host => host.uuid,
    pageMax: nova.pageMax,
    url: nova.origin,
  })
  const hypervisors = rows.map(host => hypervisorOf(nova, host, request, isDetailed))
  return { status: 200, body: { hypervisors, ...(links.length > 0 && { hypervisors_links: links }) } }
}

export function showHypervisor(nova: TestNova, request: NovaRequest): Answer {
  needAdmin(request, 'os_compute_api:os-hypervisors:show')
  const [id] = request.parts as [string]
  if (!UUID.test(id)) throw new Refusal(400, `Invalid uuid ${id}`)
  const host = hostsOf(nova).find(({ uuid }) => uuid === id)
  if (!host) throw new Refusal(404, `Hypervisor with ID '${id}' could not be found.`)
  return { status: 200, body: { hypervisor: hypervisorOf(nova, host, request, true) } }
}

function hypervisorOf(nova: TestNova, host: NovaHost, { version }: NovaRequest, isDetailed: boolean): object {
  const { vcpus, memory_mb, disk_gb } = host.size
  const at = [...nova.hosts.values()].indexOf(host) + 1
  const on = [...nova.servers.values()].filter(server => server.host === host.name)
  const used = on.reduce((sum, { flavor }) => sum + flavor.vcpus, 0)
  return {
    id: version >= 53 ? host.uuid : at,
    hypervisor_hostname: host.name,
    state: host.isUp ? 'up' : 'down',
    status: host.isEnabled ? 'enabled' : 'disabled',
    ...(isDetailed && {
      hypervisor_type: 'fake',
      hypervisor_version: 1000,
      host_ip: '127.0.0.1',
      service: { id: version >= 53 ? host.serviceId : at + 2, host: host.name, disabled_reason: host.disabledReason },
      ...(version < 88 && {
        vcpus,
        memory_mb,
        local_gb: disk_gb,
        vcpus_used: used,
        memory_mb_used: on.reduce((sum, { flavor }) => sum + flavor.ram, 0),
        local_gb_used: on.reduce((sum, { flavor }) => sum + flavor.disk, 0),
        running_vms: on.length,
        current_workload: 0,
        disk_available_least: 0,
        cpu_info: {},
      }),
    }),
  }
}
