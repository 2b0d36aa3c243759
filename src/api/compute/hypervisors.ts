// /os-hypervisors
import type { TSchema } from 'typebox'
import { findHypervisor, type Hypervisor, listHypervisors } from '../../compute/hypervisors.ts'
import { idIn } from '../../ledger/providers.ts'
import { listServers } from '../../compute/server-list.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import type { Form, Operation } from '../operation.ts'
import { Count, Document, from, Links, named as shape, oneOf, Text, TextOrNull } from '../shapes.ts'
import { limitOf, nextLinks, PAGE } from './links.ts'
import type { Answer, ComputeRequest } from './request.ts'
import { NO_FILTER } from './server-query.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'

const short = ({ id, name, state, status }: Hypervisor) => ({ id, hypervisor_hostname: name, state, status })

const detail = (hypervisor: Hypervisor, { has }: ComputeRequest) => ({
  ...short(hypervisor),
  hypervisor_type: 'fake',
  hypervisor_version: 1000,
  host_ip: '127.0.0.1',
  service: { id: hypervisor.id, host: hypervisor.name, disabled_reason: hypervisor.disabled_reason },
  vcpus: hypervisor.vcpus,
  vcpus_used: hypervisor.vcpus_used,
  memory_mb: hypervisor.memory_mb,
  memory_mb_used: hypervisor.memory_mb_used,
  local_gb: hypervisor.local_gb,
  local_gb_used: hypervisor.local_gb_used,
  free_ram_mb: hypervisor.memory_mb - hypervisor.memory_mb_used,
  free_disk_gb: hypervisor.local_gb - hypervisor.local_gb_used,
  disk_available_least: hypervisor.local_gb - hypervisor.local_gb_used,
  running_vms: hypervisor.running_vms,
  current_workload: 0,
  cpu_info: has.cpuInfoObject ? {} : '{}',
})

const Short = {
  id: Count,
  hypervisor_hostname: Text,
  state: oneOf('up', 'down'),
  status: oneOf('enabled', 'disabled'),
}
const ShownShort = shape('HypervisorSummary', Short)
// May be negative: after an inventory shrank, more may be used than there is.
const Difference = Type.Integer()
const Shown = shape('Hypervisor', {
  ...Short,
  hypervisor_type: Text,
  hypervisor_version: Count,
  host_ip: Text,
  service: Type.Object({ id: Count, host: Text, disabled_reason: TextOrNull }),
  vcpus: Count,
  vcpus_used: Count,
  memory_mb: Count,
  memory_mb_used: Count,
  local_gb: Count,
  local_gb_used: Count,
  free_ram_mb: Difference,
  free_disk_gb: Difference,
  disk_available_least: Difference,
  running_vms: Count,
  current_workload: Count,
  // Text that holds JSON, up to 2.27.
  cpu_info: Type.Union([Document, Text]),
})
const listOf = (item: TSchema) =>
  Type.Object({
    hypervisors: Type.Array(item),
    hypervisors_links: Type.Optional(from(since('hypervisorPages'), Links)),
  })
const PAGES: Form = { schema: Type.Object(PAGE) }

const everyone = ({ context }: ComputeRequest) => context.store.read(listHypervisors)

listAllHypervisors.operation = {
  summary: 'List the hypervisors',
  query: [PAGES],
  answers: { 200: listOf(ShownShort) },
} satisfies Operation

export function listAllHypervisors(request: ComputeRequest): Promise<Answer> {
  return list(request, 'os-hypervisors', short)
}

listHypervisorsInDetail.operation = {
  summary: 'List the hypervisors with all their fields',
  query: [PAGES],
  answers: { 200: listOf(Shown) },
} satisfies Operation

export function listHypervisorsInDetail(request: ComputeRequest): Promise<Answer> {
  return list(request, 'os-hypervisors/detail', detail)
}

type Show = (hypervisor: Hypervisor, request: ComputeRequest) => object

/** All hypervisors; a page of them in versions that have pages. */
async function list(request: ComputeRequest, path: string, show: Show): Promise<Answer> {
  const found = await everyone(request)
  const shown = (some: readonly Hypervisor[]) => some.map(hypervisor => show(hypervisor, request))
  if (!request.has.hypervisorPages) return { status: 200, body: { hypervisors: shown(found) } }
  const limit = limitOf(request, limits.serverPageMax)
  const rows = found.slice(startOf(request, found)).slice(0, limit + 1)
  const links = nextLinks(request, path, { limit, marker: rows.length > limit ? String(rows[limit - 1]!.id) : null })
  const hypervisors = shown(rows.slice(0, limit))
  return { status: 200, body: { hypervisors, ...(links && { hypervisors_links: links }) } }
}

/** Where the page begins: after the hypervisor that the marker names. */
function startOf(request: ComputeRequest, found: readonly Hypervisor[]): number {
  const marker = request.parameter('marker')
  if (marker === null) return 0
  const at = found.findIndex(({ id }) => String(id) === marker)
  if (at < 0) throw problem('compute_invalid', { reason: `marker [${marker.slice(0, 100)}] not found` })
  return at + 1
}

const SUMMED = [
  'vcpus',
  'vcpus_used',
  'memory_mb',
  'memory_mb_used',
  'local_gb',
  'local_gb_used',
  'free_ram_mb',
  'free_disk_gb',
  'disk_available_least',
  'running_vms',
  'current_workload',
] as const

showStatistics.operation = {
  summary: 'Show what all hypervisors have and use together',
  answers: {
    200: Type.Object({
      hypervisor_statistics: shape('HypervisorStatistics', {
        count: Count,
        ...Object.fromEntries(SUMMED.map(name => [name, Type.Integer()])),
      }),
    }),
  },
} satisfies Operation

export async function showStatistics(request: ComputeRequest): Promise<Answer> {
  const all = (await everyone(request)).map(hypervisor => detail(hypervisor, request))
  const sums = SUMMED.map(name => [name, all.reduce((sum, hypervisor) => sum + hypervisor[name], 0)])
  return { status: 200, body: { hypervisor_statistics: { count: all.length, ...Object.fromEntries(sums) } } }
}

showHypervisor.operation = {
  summary: 'Show a hypervisor',
  answers: { 200: Type.Object({ hypervisor: Shown }) },
} satisfies Operation

export async function showHypervisor(request: ComputeRequest): Promise<Answer> {
  return { status: 200, body: { hypervisor: detail(await named(request), request) } }
}

showUptime.operation = { summary: 'Say since when a hypervisor is up: never known', answers: {} } satisfies Operation

/** The fake virt driver boots nothing, so it has no uptime. */
export async function showUptime(request: ComputeRequest): Promise<Answer> {
  await named(request)
  throw problem('compute_not_implemented', { reason: 'Virt driver does not implement uptime function.' })
}

function named(request: ComputeRequest): Promise<Hypervisor> {
  const name = request.param('id')
  const id = idIn(name)
  if (id === null) throw problem('hypervisor_not_found', { name })
  return request.context.store.read(() => findHypervisor(id))
}

searchHypervisors.operation = {
  summary: 'List the hypervisors whose name holds a word',
  answers: { 200: listOf(ShownShort) },
} satisfies Operation

export async function searchHypervisors(request: ComputeRequest): Promise<Answer> {
  return { status: 200, body: { hypervisors: (await matching(request)).map(short) } }
}

listServersOf.operation = {
  summary: 'List the servers on the hypervisors whose name holds a word',
  answers: {
    200: listOf(
      shape('HypervisorServers', {
        ...Short,
        servers: Type.Optional(Type.Array(Type.Object({ uuid: Text, name: Text }))),
      }),
    ),
  },
} satisfies Operation

export async function listServersOf(request: ComputeRequest): Promise<Answer> {
  const found = await matching(request)
  const { store } = request.context
  const hypervisors = await store.read(function* () {
    const shown: object[] = []
    for (const hypervisor of found) {
      const servers = yield* listServers({ ...NO_FILTER, host: hypervisor.name }, null, limits.serverPageMax)
      const some = servers.length > 0 && { servers: servers.map(({ uuid, name }) => ({ uuid, name })) }
      shown.push({ ...short(hypervisor), ...some })
    }
    return shown
  })
  return { status: 200, body: { hypervisors } }
}

/** The hypervisors whose name contains the pattern; at least one must match. */
async function matching(request: ComputeRequest): Promise<Hypervisor[]> {
  const pattern = request.param('id')
  const found = (await everyone(request)).filter(({ name }) => name.includes(pattern))
  if (found.length === 0) throw problem('hypervisors_not_matched', { pattern })
  return found
}
