// /v1/nodes/X/history: what became of a node.
import { findHistory, type History, listHistory } from '../../metal/history/rows.ts'
import { findNode } from '../../metal/nodes/rows.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { problem } from '../../problems/problem.ts'
import type { Json } from '../../shared/json.ts'
import type { Operation } from '../operation.ts'
import { Flag, named, oneOf, Text, TextOrNull, Uuid } from '../shapes.ts'
import { inPart, listShape } from './collection.ts'
import { Links, linksTo, shownTime, Time } from './links.ts'
import { nodeIdent } from './nodes.ts'
import { nextLink, pagingOf, parsePaging } from './paging.ts'
import { type Answer, flagParameter, type MetalRequest, parametersOf } from './request.ts'
import { expected } from '../../shared/expected.ts'

const Shown = named('HistoryEvent', {
  uuid: Uuid,
  created_at: Time,
  severity: oneOf('INFO', 'ERROR'),
  event: Text,
  links: Links,
  event_type: Text,
  conductor: TextOrNull,
  user: TextOrNull,
  output: TextOrNull,
})
const { limit: Limit, marker: Marker, sort_dir: Direction } = pagingOf([])
const PARAMETERS = parametersOf({ limit: Limit, marker: Marker, sort_dir: Direction, detail: Flag })
const NAMES =
  'Users, and who had the node, are named only of the project of the caller, or to callers who see all nodes. The output of hooks is for operators.'

listNodeHistory.operation = {
  summary: 'List what became of a node, oldest first',
  description: NAMES,
  query: [PARAMETERS],
  answers: { 200: listShape('history', inPart(Shown)) },
} satisfies Operation

export async function listNodeHistory(request: MetalRequest): Promise<Answer> {
  const detail = request.parameters(PARAMETERS).get('detail')
  const isDetailed = detail !== undefined && flagParameter('detail', detail)
  return list(request, 'history', isDetailed)
}

listNodeHistoryInDetail.operation = {
  summary: 'List what became of a node with all fields, oldest first',
  description: NAMES,
  query: [PARAMETERS],
  answers: { 200: listShape('history', Shown) },
} satisfies Operation

export async function listNodeHistoryInDetail(request: MetalRequest): Promise<Answer> {
  request.parameters(PARAMETERS)
  return list(request, 'history/detail', true)
}

showNodeHistory.operation = {
  summary: 'Show a line of the history of a node',
  description: NAMES,
  answers: { 200: Shown },
} satisfies Operation

export async function showNodeHistory(request: MetalRequest): Promise<Answer> {
  const given = request.param('event')
  const event = canonicalUuid(given)
  if (event === null) throw problem('invalid_parameter', { reason: expected('a UUID', 'the history entry', given) })
  const { uuid, row } = await request.context.store.read(function* () {
    const node = yield* findNode(nodeIdent(request), request.access())
    return { uuid: node.uuid, row: yield* findHistory(node.id, event) }
  })
  return { status: 200, body: shown(row, uuid, request) }
}

async function list(request: MetalRequest, path: string, isDetailed: boolean): Promise<Answer> {
  const paging = parsePaging(new Map(request.query), ['id'])
  const detail = request.query.get('detail')
  if (detail !== null) flagParameter('detail', detail)
  const ident = nodeIdent(request)
  const { uuid, rows } = await request.context.store.read(function* () {
    const node = yield* findNode(ident, request.access())
    return { uuid: node.uuid, rows: yield* listHistory(node.id, paging) }
  })
  const page = rows.slice(0, paging.limit)
  const history = page.map(row => (isDetailed ? shown(row, uuid, request) : brief(row, uuid, request)))
  if (rows.length === page.length) return { status: 200, body: { history } }
  const next = nextLink(request, `nodes/${ident}/${path}`, paging.limit, page.at(-1)!.uuid)
  return { status: 200, body: { history, next } }
}

/** Of other projects no names, although they did something with this node. */
const knows = (request: MetalRequest, project: string | null): boolean => {
  const { view } = request.access()
  return view.all === 1 || (project !== null && project === view.project)
}

function brief(row: History, node: string, request: MetalRequest): Json {
  const hasDetails = row.details !== null && knows(request, row.details_of)
  return {
    uuid: row.uuid,
    created_at: shownTime(row.at),
    severity: row.severity.toUpperCase(),
    event: hasDetails ? `${row.event}: ${row.details}` : row.event,
    links: linksTo(request.base, `nodes/${node}/history/${row.uuid}`),
  }
}

const shown = (row: History, node: string, request: MetalRequest): Json => ({
  ...brief(row, node, request),
  event_type: row.type,
  conductor: row.conductor,
  user: row.user_id !== null && knows(request, row.project_id) ? row.user_id : null,
  output: request.may('baremetal:node:get:driver_info') ? row.output : null,
})
