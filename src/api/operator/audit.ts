// GET /holdfast/v1/audit: who changed what, newest first.
import { objectsIn } from '../../audit/entry.ts'
import { type AuditFilter, auditParts, listAudit, type ListedRow } from '../../audit/list.ts'
import { readInParts } from '../../http/written.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import type { Context } from '../../process/context.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Count, Flag, named, oneOf, Text, TextOrNull } from '../shapes.ts'
import type { Answer, OperatorRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const Word = Type.Optional(Type.String({ minLength: 1, maxLength: 255 }))
const Digits = Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' }))
const Time = Type.Optional(
  Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]{5,16}(Z|[+-][0-9:]{5})?)?$' }),
)

const parameters = check(
  Type.Object(
    {
      user: Word,
      project: Word,
      action: Word,
      object: Word,
      request_id: Word,
      since: Time,
      until: Time,
      limit: Digits,
      marker: Digits,
    },
    { additionalProperties: false },
  ),
)

const Shown = named('AuditEntry', {
  id: Count,
  at: Text,
  request_id: TextOrNull,
  user: Text,
  project: TextOrNull,
  roles: Type.Array(Text),
  address: Text,
  action: Text,
  objects: Type.Array(Type.Object({ kind: Text, id: Text }, { additionalProperties: true })),
  outcome: oneOf('done', 'accepted', 'failed'),
  sealed: Flag,
})

listEntries.operation = {
  summary: 'List who changed what, newest first',
  query: [parameters],
  answers: { 200: Type.Object({ entries: Type.Array(Shown), next: Type.Optional(Text) }) },
} satisfies Operation

export async function listEntries({ context, query, base }: OperatorRequest): Promise<Answer> {
  const checked = parameters(Object.fromEntries(query))
  if (!checked.ok) throw problem('invalid_query', { reason: checked.reason })
  const given = checked.value
  const filter: AuditFilter = {
    user: given.user ?? null,
    project: given.project ?? null,
    action: given.action ?? null,
    objects: given.object === undefined ? null : objectsCalled(context, given.object),
    requestId: given.request_id ?? null,
    since: given.since === undefined ? 0 : timeOf(given.since),
    until: given.until === undefined ? Number.MAX_SAFE_INTEGER : timeOf(given.until),
  }
  const limit = Math.min(Math.max(Number(given.limit ?? limits.auditPageMax), 1), limits.auditPageMax)
  const marker = given.marker === undefined ? null : Number(given.marker)
  const found = await context.store.read(() => listAudit(filter, marker, limit))
  const entries = readInParts(found.rows.bytes, auditParts(context.store, found.rows), shown)
  if (found.marker === null) return { status: 200, body: { entries } }
  query.set('limit', String(limit))
  query.set('marker', String(found.marker))
  return { status: 200, body: { entries, next: `${base}/audit?${query.toString()}` } }
}

/** An object by its id or its name. A node is known by its uuid too where an entry doesn't have its name. */
function objectsCalled({ fleet }: Context, word: string): string[] {
  const node = fleet.named(word)
  return node ? [word, node.uuid] : [word]
}

/** A time without a zone is in UTC. */
function timeOf(text: string): number {
  const hasZone = /(Z|[+-][0-9:]{5})$/.test(text.slice(10))
  const ms = Date.parse(hasZone || text.length === 10 ? text : `${text}Z`)
  if (Number.isNaN(ms)) throw problem('invalid_query', { reason: `'${text}' is no time` })
  return ms
}

const shown = (row: ListedRow) => ({
  id: row.id,
  at: new Date(row.at).toISOString(),
  request_id: row.request_id,
  user: row.user_id,
  project: row.project_id,
  roles: row.roles === '' ? [] : row.roles.split(','),
  address: row.address,
  action: row.action,
  objects: objectsIn(row),
  outcome: row.outcome,
  sealed: row.is_sealed === 1,
})
