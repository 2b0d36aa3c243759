// /v1/volume/connectors
import type { Json } from '../../metal/drivers/port.ts'
import { uuidOr } from '../../metal/nodes/lifecycle.ts'
import { findNode } from '../../metal/nodes/rows.ts'
import {
  changeConnector,
  connectorsById,
  CONNECTOR_TYPES,
  type ConnectorRow,
  createConnector,
  deleteConnector,
  findConnector,
  listVolumeConnectors,
  type VolumeConnector,
} from '../../metal/volume-connectors.ts'
import { problem } from '../../problems/problem.ts'
import { jsonIn, MEMBERS, StoredJson } from '../../shared/json.ts'
import type { Operation } from '../operation.ts'
import { Document, oneOf, orNull, Text, Uuid } from '../shapes.ts'
import * as c from './collection.ts'
import { Links, linksTo, shownTime, Time } from './links.ts'
import { nodeIdent } from './nodes.ts'
import { mistaken } from './ports.ts'
import type { Answer, MetalRequest } from './request.ts'
import { Type } from '../../shared/type.ts'
import { wanted } from '../wanted.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

const NEW = c.membersOf(
  'NewVolumeConnector',
  {
    uuid: c.isUuid,
    node_uuid: c.isUuid,
    type: c.is(oneOf(...CONNECTOR_TYPES), value => (CONNECTOR_TYPES as readonly unknown[]).includes(value)),
    connector_id: c.is(Type.String({ minLength: 1, maxLength: 255 }), value => c.isText()(value) && value !== ''),
    extra: c.isDocument,
  },
  { required: ['node_uuid', 'type', 'connector_id'] },
)

const connectors = c.resourceOf<VolumeConnector>(
  'VolumeConnector',
  {
    name: 'connectors',
    short: ['uuid', 'node_uuid', 'type', 'connector_id', 'links'],
    detailSince: 'volume',
    sortKeys: ['uuid', 'type', 'connector_id', 'created_at', 'updated_at'],
  },
  {
    uuid: [Uuid, connector => connector.uuid],
    node_uuid: [Uuid, connector => connector.node_uuid],
    type: [Text, connector => connector.type],
    connector_id: [Text, connector => connector.connector_id],
    extra: [Document, connector => new StoredJson(connector.extra, MEMBERS)],
    created_at: [Time, connector => shownTime(connector.created_at)],
    updated_at: [orNull(Time), connector => shownTime(connector.updated_at)],
    links: [Links, ({ uuid }, { base }) => linksTo(base, `volume/connectors/${uuid}`)],
  },
)
const List = c.listShape('connectors', c.inPart(connectors.shape))

const PARAMETERS = c.listParameters(connectors, { node: Text })

listConnectors.operation = {
  summary: 'List the volume connectors that match',
  query: [PARAMETERS],
  answers: { 200: List },
} satisfies Operation

export async function listConnectors(request: MetalRequest): Promise<Answer> {
  const node = request.parameters(PARAMETERS).get('node')
  const access = request.access()
  const rows = await request.context.store.read(function* () {
    return yield* listVolumeConnectors(access.view, node === undefined ? node : (yield* findNode(node, access)).id)
  })
  return c.shownList(connectors, { all: rows, rowsById: connectorsById }, request, 'volume/connectors', false)
}

const NODE_PARAMETERS = c.listParameters(connectors)

listConnectorsOfNode.operation = {
  summary: 'List the volume connectors of a node',
  query: [NODE_PARAMETERS],
  answers: { 200: List },
} satisfies Operation

export async function listConnectorsOfNode(request: MetalRequest): Promise<Answer> {
  request.parameters(NODE_PARAMETERS)
  const ident = nodeIdent(request)
  const access = request.access()
  const rows = await request.context.store.read(function* () {
    return yield* listVolumeConnectors(access.view, (yield* findNode(ident, access)).id)
  })
  return c.shownList(
    connectors,
    { all: rows, rowsById: connectorsById },
    request,
    `nodes/${ident}/volume/connectors`,
    false,
  )
}

showConnector.operation = {
  summary: 'Show a volume connector',
  query: [c.FIELDS_PARAMETER],
  answers: { 200: c.inPart(connectors.shape) },
} satisfies Operation

export async function showConnector(request: MetalRequest): Promise<Answer> {
  const connector = await request.context.store.read(() => findConnector(c.uuidIn(request), request.access()))
  return { status: 200, body: c.shownOne(connectors, connector, request) }
}

function columnsOf(given: Json): Pick<ConnectorRow, 'type' | 'connector_id' | 'extra'> {
  const { type, connector_id, extra } = given
  if (typeof type !== 'string' || typeof connector_id !== 'string') {
    throw refuse(`A volume connector needs a type, ${wanted(oneOf(...CONNECTOR_TYPES))}, and a connector_id, a string.`)
  }
  return { type, connector_id, extra: c.asJson(extra) }
}

postConnector.operation = {
  summary: 'Make a volume connector',
  body: [NEW],
  answers: { 201: connectors.shape },
} satisfies Operation

export async function postConnector(request: MetalRequest): Promise<Answer> {
  const { context, now } = request
  const given = c.membersIn(request, NEW)
  const node = given['node_uuid']
  if (typeof node !== 'string') throw refuse('A volume connector needs a node_uuid, the UUID of its node.')
  const columns = { ...columnsOf(given), created_at: now, updated_at: null }
  const uuid = uuidOr(given['uuid'], () => context.clock.newUuid())
  const connector = await context.store.write(function* () {
    const { id } = yield* mistaken(findNode(node, request.access()))
    return yield* createConnector({ ...columns, uuid, node_id: id })
  })
  return { status: 201, location: `/volume/connectors/${uuid}`, body: connectors.show(connector, request) }
}

patchConnector.operation = {
  summary: 'Change a volume connector of a node that is off',
  body: [c.PATCH],
  answers: { 200: connectors.shape },
} satisfies Operation

export async function patchConnector(request: MetalRequest): Promise<Answer> {
  const patches = c.patchesIn(request, NEW)
  const { context, now } = request
  const change = (before: VolumeConnector) => {
    const given = c.patchedMembers(patches, documentOf(before), NEW)
    if (given['node_uuid'] !== before.node_uuid) throw refuse('A volume connector stays with its node.')
    return { ...columnsOf(given), updated_at: now }
  }
  const after = await context.store.write(() => changeConnector(c.uuidIn(request), request.access(), change))
  return { status: 200, body: connectors.show(after, request) }
}

const documentOf = ({ node_uuid, type, connector_id, extra }: VolumeConnector): Json => ({
  node_uuid,
  type,
  connector_id,
  extra: jsonIn(extra, MEMBERS),
})

deleteOneConnector.operation = {
  summary: 'Delete a volume connector of a node that is off',
  answers: { 204: null },
} satisfies Operation

export async function deleteOneConnector(request: MetalRequest): Promise<Answer> {
  await request.context.store.write(() => deleteConnector(c.uuidIn(request), request.access()))
  return { status: 204 }
}
