// Changes of quotas in Nova's format: the same limits as /holdfast/v1/quotas, as far as Nova has words for them.
import { problem } from '../../problems/problem.ts'
import { DEFAULT, setQuota } from '../../quotas/limits.ts'
import { limits } from '../../shared/limits.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { closed } from './bodies.ts'
import { NETWORK_QUOTAS, NO_QUOTAS, type QuotaName, QUOTAS, quotaShape, quotas, UNLIMITED } from './quotas.ts'
import type { Answer, ComputeRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

/** A whole number, which command lines send as text too. */
const Max = Type.Optional(
  Type.Union([
    Type.Integer({ minimum: UNLIMITED, maximum: limits.quotaMax }),
    Type.String({ pattern: '^(-1|\\d{1,10})$' }),
  ]),
)
const members = Object.fromEntries([...Object.keys(QUOTAS), ...NO_QUOTAS, ...NETWORK_QUOTAS].map(name => [name, Max]))
const Changes = Type.Object(
  {
    ...members,
    // A limit below what is used is always taken: nothing is ended, but nothing more is given.
    force: Type.Optional(Type.Union([Type.Boolean(), Type.String()])),
    tenant_id: Type.Optional(Type.String()),
  },
  closed,
)
const quotaBody = check(Type.Object({ quota_set: Changes }, closed))
const classBody = check(Type.Object({ quota_class_set: Changes }, closed))

const isOurs = (name: string): name is QuotaName => Object.hasOwn(QUOTAS, name)

/** Sets what can be limited. The rest has no limit, and can be told so. */
async function change(request: ComputeRequest, project: string, wanted: object): Promise<Record<string, number>> {
  const { force: _, tenant_id: __, ...given } = wanted as Record<string, string | number>
  const changes = Object.entries(given).map(([name, value]) => [name, Number(value)] as const)
  const other = changes.find(([name, max]) => !isOurs(name) && max !== UNLIMITED)
  if (other)
    throw problem('compute_invalid', { reason: `${other[0]} can not be limited here, only instances and cores.` })
  if (changes.some(([, max]) => max > limits.quotaMax)) {
    throw problem('compute_invalid', { reason: `A quota is at most ${limits.quotaMax}.` })
  }
  const ours = changes.flatMap(([name, max]) => (isOurs(name) ? [[QUOTAS[name], max]] : []))
  if (ours.length > 0) {
    await request.context.store.write(() => setQuota(project, Object.fromEntries(ours) as Record<string, number>))
  }
  return quotas(request, project)
}

putQuotas.operation = {
  summary: 'Set quotas of a project: instances and cores',
  body: [quotaBody],
  answers: { 200: Type.Object({ quota_set: quotaShape('ChangedQuotaSet') }) },
} satisfies Operation

export async function putQuotas(request: ComputeRequest): Promise<Answer> {
  const { quota_set } = request.body(quotaBody)
  return { status: 200, body: { quota_set: await change(request, request.param('project'), quota_set) } }
}

putQuotaClass.operation = {
  summary: 'Set the quotas of those who have none of their own: the class default',
  body: [classBody],
  answers: { 200: Type.Object({ quota_class_set: quotaShape('ChangedQuotaClassSet') }) },
} satisfies Operation

export async function putQuotaClass(request: ComputeRequest): Promise<Answer> {
  const { quota_class_set } = request.body(classBody)
  if (request.param('class') !== DEFAULT) {
    throw problem('compute_invalid', { reason: `There is one class of quotas: ${DEFAULT}.` })
  }
  return { status: 200, body: { quota_class_set: await change(request, DEFAULT, quota_class_set) } }
}

deleteQuotas.operation = {
  summary: 'Let the default quotas hold for a project: instances and cores',
  answers: { 202: null },
} satisfies Operation

export async function deleteQuotas(request: ComputeRequest): Promise<Answer> {
  const none = Object.fromEntries(Object.values(QUOTAS).map(name => [name, null]))
  await request.context.store.write(() => setQuota(request.param('project'), none))
  return { status: 202 }
}
