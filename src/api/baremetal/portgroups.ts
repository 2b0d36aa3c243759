// /v1/portgroups
import type { Json } from '../../metal/drivers/port.ts'
import { canBeName, WANTED_NAME } from '../../metal/nodes/attributes.ts'
import { uuidOr } from '../../metal/nodes/lifecycle.ts'
import { findNode } from '../../metal/nodes/rows.ts'
import {
  createPortgroup,
  deletePortgroup,
  findPortgroup,
  listPortgroups,
  portgroupsById,
  type Portgroup,
  type PortgroupRow,
  savePortgroup,
} from '../../metal/portgroups.ts'
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { Document, Flag, orNull, Text, TextOrNull, Uuid } from '../shapes.ts'
import { jsonIn, MEMBERS, StoredJson } from '../../shared/json.ts'
import * as c from './collection.ts'
import { Links, linksTo, shownTime, Time } from './links.ts'
import { nodeIdent } from './nodes.ts'
import { mistaken } from './ports.ts'
import type { Answer, MetalRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

const NEW = c.membersOf(
  'NewPortgroup',
  {
    uuid: c.isUuid,
    node_uuid: c.isUuid,
    name: c.is(
      Type.String({ pattern: '^[A-Za-z0-9._~-]{1,255}$', description: WANTED_NAME }),
      value => typeof value === 'string' && canBeName(value),
    ),
    address: c.isMac,
    mode: c.isText(),
    standalone_ports_supported: c.isFlag,
    properties: c.isDocument,
    extra: c.isDocument,
  },
  { required: ['node_uuid'] },
)

const portgroups = c.resourceOf<Portgroup>(
  'Portgroup',
  {
    name: 'portgroups',
    short: ['uuid', 'name', 'address', 'links'],
    sortKeys: ['uuid', 'name', 'address', 'created_at', 'updated_at'],
  },
  {
    uuid: [Uuid, group => group.uuid],
    name: [TextOrNull, group => group.name],
    address: [TextOrNull, group => group.address],
    node_uuid: [Uuid, group => group.node_uuid],
    mode: [Text, group => group.mode],
    standalone_ports_supported: [Flag, group => group.standalone_ports_supported === 1],
    properties: [Document, group => new StoredJson(group.properties, MEMBERS)],
    extra: [Document, group => new StoredJson(group.extra, MEMBERS)],
    internal_info: [Document, () => ({})],
    created_at: [Time, group => shownTime(group.created_at)],
    updated_at: [orNull(Time), group => shownTime(group.updated_at)],
    links: [Links, ({ uuid }, { base }) => linksTo(base, `portgroups/${uuid}`)],
    ports: [Links, ({ uuid }, { base }) => linksTo(base, `portgroups/${uuid}/ports`)],
  },
)

const PARAMETERS = c.listParameters(portgroups, { node: Text, address: Text })

export const listAllPortgroups = (request: MetalRequest) => list(request, 'portgroups', false)
listAllPortgroups.operation = {
  summary: 'List the port groups that match',
  query: [PARAMETERS],
  answers: { 200: c.listShape('portgroups', c.inPart(portgroups.shape)) },
} satisfies Operation
export const listPortgroupsInDetail = (request: MetalRequest) => list(request, 'portgroups/detail', true)
listPortgroupsInDetail.operation = {
  summary: 'List the port groups that match with all their fields',
  query: [PARAMETERS],
  answers: { 200: c.listShape('portgroups', portgroups.shape) },
} satisfies Operation

async function list(request: MetalRequest, path: string, detailed: boolean): Promise<Answer> {
  const given = request.parameters(PARAMETERS)
  const [node, address] = [given.get('node'), given.get('address')]
  const access = request.access()
  const rows = await request.context.store.read(function* () {
    return yield* listPortgroups(access.view, {
      ...(node !== undefined && { node: (yield* findNode(node, access)).id }),
      ...(address !== undefined && { address: c.macOf(address) ?? address }),
    })
  })
  return c.shownList(portgroups, { all: rows, rowsById: portgroupsById }, request, path, detailed)
}

const NODE_PARAMETERS = c.listParameters(portgroups)

listPortgroupsOfNode.operation = {
  summary: 'List the port groups of a node',
  query: [NODE_PARAMETERS],
  answers: { 200: c.listShape('portgroups', c.inPart(portgroups.shape)) },
} satisfies Operation

export async function listPortgroupsOfNode(request: MetalRequest): Promise<Answer> {
  request.parameters(NODE_PARAMETERS)
  const ident = nodeIdent(request)
  const access = request.access()
  const rows = await request.context.store.read(function* () {
    return yield* listPortgroups(access.view, { node: (yield* findNode(ident, access)).id })
  })
  return c.shownList(portgroups, { all: rows, rowsById: portgroupsById }, request, `nodes/${ident}/portgroups`, false)
}

showPortgroup.operation = {
  summary: 'Show a port group',
  query: [c.FIELDS_PARAMETER],
  answers: { 200: c.inPart(portgroups.shape) },
} satisfies Operation

export async function showPortgroup(request: MetalRequest): Promise<Answer> {
  const group = await request.context.store.read(() => findPortgroup(request.param('ident'), request.access()))
  return { status: 200, body: c.shownOne(portgroups, group, request) }
}

const columnsOf = (given: Json): Omit<PortgroupRow, 'id' | 'uuid' | 'node_id' | 'created_at' | 'updated_at'> => ({
  name: c.asText(given['name']),
  address: given['address'] === undefined ? null : c.macOf(given['address'] as string),
  mode: c.asText(given['mode']) ?? 'active-backup',
  standalone_ports_supported: c.asFlag(given['standalone_ports_supported'], 1),
  properties: c.asJson(given['properties']),
  extra: c.asJson(given['extra']),
})

postPortgroup.operation = {
  summary: 'Make a port group',
  body: [NEW],
  answers: { 201: portgroups.shape },
} satisfies Operation

export async function postPortgroup(request: MetalRequest): Promise<Answer> {
  const { context, now } = request
  const given = c.membersIn(request, NEW)
  const node = given['node_uuid']
  if (typeof node !== 'string')
    throw problem('invalid_parameter', { reason: 'A portgroup needs a node_uuid, the UUID of its node.' })
  const uuid = uuidOr(given['uuid'], () => context.clock.newUuid())
  const group = await context.store.write(function* () {
    const { id } = yield* mistaken(findNode(node, request.access()))
    return yield* createPortgroup({ ...columnsOf(given), uuid, node_id: id, created_at: now, updated_at: null })
  })
  return { status: 201, location: `/portgroups/${uuid}`, body: portgroups.show(group, request) }
}

patchPortgroup.operation = {
  summary: 'Change a port group',
  body: [c.PATCH],
  answers: { 200: portgroups.shape },
} satisfies Operation

export async function patchPortgroup(request: MetalRequest): Promise<Answer> {
  const patches = c.patchesIn(request, NEW)
  const { context, now } = request
  const after = await context.store.write(function* () {
    const group = yield* findPortgroup(request.param('ident'), request.access())
    const given = c.patchedMembers(patches, documentOf(group), NEW)
    if (given['node_uuid'] !== group.node_uuid) {
      throw problem('invalid_parameter', { reason: 'A portgroup stays with its node.' })
    }
    return yield* savePortgroup({ ...group, ...columnsOf(given), updated_at: now })
  })
  return { status: 200, body: portgroups.show(after, request) }
}

const documentOf = (group: Portgroup): Json => ({
  node_uuid: group.node_uuid,
  name: group.name,
  address: group.address,
  mode: group.mode,
  standalone_ports_supported: group.standalone_ports_supported === 1,
  properties: jsonIn(group.properties, MEMBERS),
  extra: jsonIn(group.extra, MEMBERS),
})

deleteOnePortgroup.operation = { summary: 'Delete a port group', answers: { 204: null } } satisfies Operation

export async function deleteOnePortgroup(request: MetalRequest): Promise<Answer> {
  await request.context.store.write(() => deletePortgroup(request.param('ident'), request.access()))
  return { status: 204 }
}
