// /os-quota-sets and /limits, in Nova's format: of Nova's quotas, only instances and cores can be limited here.
import { type TSchema, Type } from 'typebox'
import { problem } from '../../problems/problem.ts'
import { DEFAULT } from '../../quotas/limits.ts'
import { limitsFor } from '../../quotas/within.ts'
import type { Operation } from '../operation.ts'
import { named, Text } from '../shapes.ts'
import type { Answer, ComputeRequest } from './request.ts'

const UNLIMITED = -1

/** Nova's names of the quotas that can be limited, with our names. */
const QUOTAS = { instances: 'instances', cores: 'vcpus' }
const NO_QUOTAS = [
  'ram',
  'key_pairs',
  'metadata_items',
  'server_groups',
  'server_group_members',
  'injected_files',
  'injected_file_content_bytes',
  'injected_file_path_bytes',
  'fixed_ips',
  'floating_ips',
  'security_groups',
  'security_group_rules',
]
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

async function quotaSet(request: ComputeRequest, of: string): Promise<Answer> {
  const id = request.param('project')
  const { context, caller } = request
  const action = 'os_compute_api:os-quota-sets:show'
  if (!context.policy.allows(action, caller, { project: id })) throw problem('forbidden', { action })
  const limited = await limitsOf(request, of, QUOTAS)
  return { status: 200, body: { quota_set: { id, ...limited, ...all(NO_QUOTAS, UNLIMITED) } } }
}

const answers = { 200: Type.Object({ quota_set: named('QuotaSet', { id: Text, ...shapeOf(QUOTAS, NO_QUOTAS) }) }) }

showQuotas.operation = { summary: 'Show the quotas of a project', answers } satisfies Operation

export function showQuotas(request: ComputeRequest): Promise<Answer> {
  return quotaSet(request, request.param('project'))
}

showDefaultQuotas.operation = {
  summary: 'Show the quotas of those who have none of their own',
  answers,
} satisfies Operation

export function showDefaultQuotas(request: ComputeRequest): Promise<Answer> {
  return quotaSet(request, DEFAULT)
}

const Rates = Type.Array(Type.Unknown(), { maxItems: 0 })

showLimits.operation = {
  summary: 'Show the limits of a project',
  answers: {
    200: Type.Object({ limits: named('Limits', { rate: Rates, absolute: Type.Object(shapeOf(LIMITS, NO_LIMITS)) }) }),
  },
} satisfies Operation

export async function showLimits(request: ComputeRequest): Promise<Answer> {
  const absolute = { ...(await limitsOf(request, request.project, LIMITS)), ...all(NO_LIMITS, UNLIMITED) }
  return { status: 200, body: { limits: { rate: [], absolute } } }
}
