// /os-quota-sets and /limits, in Nova's format: of Nova's quotas, only instances and cores can be limited here.
import type { TProperties, TSchema } from 'typebox'
import { DEFAULT } from '../../quotas/limits.ts'
import { limitsFor } from '../../quotas/within.ts'
import { presentUse } from '../../compute/usage.ts'
import type { Form, Operation } from '../operation.ts'
import { Count, named, Text } from '../shapes.ts'
import type { Answer, ComputeRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

export const UNLIMITED = -1

/** Nova's names of the quotas that can be limited, with our names. */
export const QUOTAS = { instances: 'instances', cores: 'vcpus' } as const
export type QuotaName = keyof typeof QUOTAS
export const NO_QUOTAS = [
  'ram',
  'key_pairs',
  'metadata_items',
  'server_groups',
  'server_group_members',
  'injected_files',
  'injected_file_content_bytes',
  'injected_file_path_bytes',
]
/** Gone in later versions. */
export const NETWORK_QUOTAS = ['fixed_ips', 'floating_ips', 'security_groups', 'security_group_rules']
const LIMITS = { maxTotalInstances: 'instances', maxTotalCores: 'vcpus' }
const NO_LIMITS = [
  'maxTotalRAMSize',
  'maxTotalKeypairs',
  'maxServerMeta',
  'maxImageMeta',
  'maxPersonality',
  'maxPersonalitySize',
  'maxServerGroups',
  'maxServerGroupMembers',
]

/** Gone in later versions. */
const NETWORK_LIMITS = ['maxTotalFloatingIps', 'maxSecurityGroups', 'maxSecurityGroupRules']

const all = <T>(names: readonly string[], value: T): Record<string, T> =>
  Object.fromEntries(names.map(name => [name, value]))

const shapeOf = (some: object, none: readonly string[]): Record<string, TSchema> => ({
  ...all(Object.keys(some), Type.Integer({ minimum: UNLIMITED })),
  ...all<TSchema>(none, Type.Literal(UNLIMITED)),
})

/** The limits of a project, under Nova's names. */
async function limitsOf({ context }: ComputeRequest, project: string, names: Readonly<Record<string, string>>) {
  const limits = await context.store.read(() => limitsFor(project))
  return Object.fromEntries(Object.entries(names).map(([word, name]) => [word, limits.get(name)?.max ?? UNLIMITED]))
}

/** The quotas without a limit that the client's version has. */
const unlimited = ({ has }: ComputeRequest) => [...NO_QUOTAS, ...(has.noNetworkQuotas ? [] : NETWORK_QUOTAS)]

export const quotas = async (request: ComputeRequest, of: string): Promise<Record<string, number>> => ({
  ...(await limitsOf(request, of, QUOTAS)),
  ...all(unlimited(request), UNLIMITED),
})

/** The project in the path, if the caller may see its quotas. */
function requireProject(request: ComputeRequest, project: string): string {
  request.requireAllowed('os_compute_api:os-quota-sets:show', { project })
  return project
}

async function quotaSet(request: ComputeRequest, of?: string): Promise<Answer> {
  const id = requireProject(request, request.param('project'))
  return { status: 200, body: { quota_set: { id, ...(await quotas(request, of ?? id)) } } }
}

/** The schema of quotas by name. */
export const quotaShape = (
  title: string,
  limit: (shape: TSchema) => TSchema = shape => shape,
  more: TProperties = {},
) => {
  const shapes: Record<string, TSchema> = shapeOf(QUOTAS, [...NO_QUOTAS, ...NETWORK_QUOTAS])
  const members = Object.entries(shapes).map(([name, shape]) => [
    name,
    NETWORK_QUOTAS.includes(name) ? Type.Optional(limit(shape)) : limit(shape),
  ])
  return named(title, { ...more, ...Object.fromEntries(members) })
}
const Id = { id: Text }
const answers = { 200: Type.Object({ quota_set: quotaShape('QuotaSet', shape => shape, Id) }) }

showQuotas.operation = { summary: 'Show the quotas of a project', answers } satisfies Operation

export function showQuotas(request: ComputeRequest): Promise<Answer> {
  return quotaSet(request)
}

showDefaultQuotas.operation = {
  summary: 'Show the quotas of those who have none of their own',
  answers,
} satisfies Operation

export function showDefaultQuotas(request: ComputeRequest): Promise<Answer> {
  return quotaSet(request, DEFAULT)
}

showQuotasInDetail.operation = {
  summary: 'Show the quotas of a project, and how much of each is used',
  answers: {
    200: Type.Object({
      quota_set: quotaShape(
        'QuotaSetInDetail',
        limit => Type.Object({ limit, in_use: Count, reserved: Type.Literal(0) }),
        Id,
      ),
    }),
  },
} satisfies Operation

export async function showQuotasInDetail(request: ComputeRequest): Promise<Answer> {
  const id = requireProject(request, request.param('project'))
  const [limited, used] = [await quotas(request, id), await usedBy(request, id)]
  const in_use: Record<string, number> = { instances: used.servers, cores: used.vcpus, ram: used.memory_mb }
  const shown = Object.entries(limited).map(([name, limit]) => [
    name,
    { limit, in_use: in_use[name] ?? 0, reserved: 0 },
  ])
  return { status: 200, body: { quota_set: { id, ...Object.fromEntries(shown) } } }
}

const usedBy = ({ context }: ComputeRequest, project: string) => context.store.read(() => presentUse(project))

showQuotaClass.operation = {
  summary: 'Show the quotas of those who have none of their own, which Nova calls the class default',
  answers: { 200: Type.Object({ quota_class_set: quotaShape('QuotaClassSet', shape => shape, Id) }) },
} satisfies Operation

/** There is one class. As upstream, others look the same: they are not defined, so the default ones apply. */
export async function showQuotaClass(request: ComputeRequest): Promise<Answer> {
  const id = request.param('class')
  return { status: 200, body: { quota_class_set: { id, ...(await quotas(request, DEFAULT)) } } }
}

const Rates = Type.Array(Type.Unknown(), { maxItems: 0 })

const USED = ['totalInstancesUsed', 'totalCoresUsed', 'totalRAMUsed', 'totalServerGroupsUsed'] as const
const LIMITS_OF: Form = { schema: Type.Object({ tenant_id: Type.Optional(Text) }) }

showLimits.operation = {
  summary: 'Show the limits of a project',
  query: [LIMITS_OF],
  answers: {
    200: Type.Object({
      limits: named('Limits', {
        rate: Rates,
        absolute: Type.Object({
          ...shapeOf(LIMITS, NO_LIMITS),
          ...all<TSchema>(NETWORK_LIMITS, Type.Optional(Type.Literal(UNLIMITED))),
          ...all<TSchema>(USED, Count),
        }),
      }),
    }),
  },
} satisfies Operation

/** The limits of the caller's project, or of the one that is asked for, and how much of them is used. */
export async function showLimits(request: ComputeRequest): Promise<Answer> {
  const asked = request.parameter('tenant_id')
  const project = asked === null ? request.project : requireProject(request, asked)
  const { servers, vcpus, memory_mb } = await usedBy(request, project)
  const used = {
    totalInstancesUsed: servers,
    totalCoresUsed: vcpus,
    totalRAMUsed: memory_mb,
    totalServerGroupsUsed: 0,
  } satisfies Record<(typeof USED)[number], number>
  const none = [...NO_LIMITS, ...(request.has.noNetworkQuotas ? [] : NETWORK_LIMITS)]
  const absolute = { ...(await limitsOf(request, project, LIMITS)), ...all(none, UNLIMITED), ...used }
  return { status: 200, body: { limits: { rate: [], absolute } } }
}
