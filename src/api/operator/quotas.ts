// /quotas: the limits of projects. Operators set them, and each project sees its own.
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import { COUNTED, DEFAULT, deleteQuota, isLimit, listQuotas, LONGEST, setQuota } from '../../quotas/limits.ts'
import { type ShownLimit, showQuota } from '../../quotas/show.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { byName, Flag, named, orNull, Text } from '../shapes.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

/** -1 means no limit. */
const Max = Type.Integer({ minimum: -1, maximum: limits.quotaMax })

const Quota = named('Quota', { project: Text, limits: byName(Max) })
const QuotaInFull = named('QuotaInFull', {
  project: Text,
  limits: Type.Array(
    named('Limit', {
      name: Text,
      max: orNull(Max),
      used: orNull(Type.Number({ minimum: 0 })),
      is_default: Flag,
    }),
  ),
})

const changes = check(
  Type.Object(
    { limits: Type.Record(Type.String(), orNull(Max), { minProperties: 1, maxProperties: limits.quotaLimitsMax }) },
    { additionalProperties: false },
  ),
)

getQuotas.operation = {
  summary: 'List the limits that are set, by project',
  answers: { 200: Type.Object({ quotas: Type.Array(Quota) }) },
} satisfies Operation

export async function getQuotas({ context }: OperatorRequest): Promise<Answer> {
  return { status: 200, body: { quotas: await context.store.read(listQuotas) } }
}

getQuota.operation = {
  summary: 'Show what a project may have, and how much of it it has',
  answers: { 200: QuotaInFull },
} satisfies Operation

export async function getQuota(request: OperatorRequest): Promise<Answer> {
  const project = request.param('project')
  const found = await request.context.store.read(() => showQuota(project, request.now))
  return { status: 200, body: { project, limits: found.map(shown) } }
}

const shown = ({ name, max, used, isDefault }: ShownLimit) => ({ name, max, used, is_default: isDefault })

putQuota.operation = {
  summary: 'Set some limits of a project; null takes one away',
  body: [changes],
  answers: { 200: QuotaInFull },
} satisfies Operation

export async function putQuota(request: OperatorRequest): Promise<Answer> {
  const wanted = request.body(changes).limits
  const unknown = Object.keys(wanted).find(name => !isLimit(name))
  if (unknown !== undefined) {
    const known = [...COUNTED, 'nodes:CLASS', ...LONGEST].join(', ')
    throw problem('quota_invalid', { reason: `There is no limit ${unknown.slice(0, 100)}; there are ${known}.` })
  }
  await request.context.store.write(() => setQuota(request.param('project'), wanted))
  return getQuota(request)
}

deleteOneQuota.operation = {
  summary: `Take all limits of a project away: those of ${DEFAULT} hold for it then`,
  answers: { 204: null },
} satisfies Operation

export async function deleteOneQuota(request: OperatorRequest): Promise<Answer> {
  await request.context.store.write(() => deleteQuota(request.param('project')))
  return { status: 204 }
}
