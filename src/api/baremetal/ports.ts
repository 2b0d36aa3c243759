// /v1/ports
import { isDeepStrictEqual } from 'node:util'
import type { Access } from '../../metal/access.ts'
import type { Json } from '../../metal/drivers/port.ts'
import { findNode } from '../../metal/nodes/rows.ts'
import { findPortgroup } from '../../metal/portgroups.ts'
import {
  createPort,
  deletePort,
  findPort,
  listPorts,
  type Port,
  type PortRow,
  portsById,
  savePort,
} from '../../metal/ports.ts'
import { uuidOr } from '../../metal/nodes/lifecycle.ts'
import { Problem, problem } from '../../problems/problem.ts'
import { EMPTY, jsonIn, MEMBERS, StoredJson } from '../../shared/json.ts'
import type { Read } from '../../store/transaction.ts'
import type { Operation } from '../operation.ts'
import { Document, Flag, orNull, Text, TextOrNull, Uuid } from '../shapes.ts'
import * as c from './collection.ts'
import { Links, linksTo, shownTime, Time } from './links.ts'
import { nodeIdent } from './nodes.ts'
import type { Answer, MetalRequest } from './request.ts'
import type { Word } from './versions.ts'
import { unexpected } from '../wanted.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

/** Fields that came with a later version. */
const SINCE: Readonly<Record<string, Word>> = {
  name: 'portNames',
  pxe_enabled: 'portNetwork',
  local_link_connection: 'portNetwork',
  physical_network: 'physicalNetwork',
  portgroup_uuid: 'nodePortgroups',
  is_smartnic: 'smartnic',
}

const NEW = c.membersOf(
  'NewPort',
  {
    uuid: c.isUuid,
    node_uuid: c.isUuid,
    address: c.isMac,
    name: c.isText(),
    extra: c.isDocument,
    pxe_enabled: c.isFlag,
    local_link_connection: c.isDocument,
    physical_network: c.isText(64),
    portgroup_uuid: c.isUuid,
    is_smartnic: c.isFlag,
  },
  { required: ['node_uuid', 'address'], needs: SINCE },
)

const ports = c.resourceOf<Port>(
  'Port',
  { name: 'ports', short: ['uuid', 'address', 'links'], sortKeys: ['uuid', 'address', 'created_at', 'updated_at'] },
  {
    uuid: [Uuid, port => port.uuid],
    address: [Text, port => port.address],
    node_uuid: [Uuid, port => port.node_uuid],
    extra: [Document, port => new StoredJson(port.extra, MEMBERS)],
    name: [TextOrNull, port => port.name, 'portNames'],
    internal_info: [Document, port => new StoredJson(port.internal_info, MEMBERS), 'portInternalInfo'],
    created_at: [Time, port => shownTime(port.created_at)],
    updated_at: [orNull(Time), port => shownTime(port.updated_at)],
    pxe_enabled: [Flag, port => port.pxe_enabled === 1, 'portNetwork'],
    local_link_connection: [Document, port => new StoredJson(port.local_link_connection, MEMBERS), 'portNetwork'],
    portgroup_uuid: [orNull(Uuid), port => port.portgroup_uuid, 'nodePortgroups'],
    physical_network: [TextOrNull, port => port.physical_network, 'physicalNetwork'],
    is_smartnic: [Flag, port => port.is_smartnic === 1, 'smartnic'],
    links: [Links, ({ uuid }, { base }) => linksTo(base, `ports/${uuid}`)],
  },
)

const PARAMETERS = c.listParameters(ports, { node: Text, node_uuid: Text, address: Text, portgroup: Text })

export const listAllPorts = (request: MetalRequest) => list(request, 'ports', false)
listAllPorts.operation = {
  summary: 'List the ports that match',
  query: [PARAMETERS],
  answers: { 200: c.listShape('ports', c.inPart(ports.shape)) },
} satisfies Operation
export const listPortsInDetail = (request: MetalRequest) => list(request, 'ports/detail', true)
listPortsInDetail.operation = {
  summary: 'List the ports that match with all their fields',
  query: [PARAMETERS],
  answers: { 200: c.listShape('ports', ports.shape) },
} satisfies Operation

async function list(request: MetalRequest, path: string, detailed: boolean): Promise<Answer> {
  const given = request.parameters(PARAMETERS)
  const [node, group] = [given.get('node') ?? given.get('node_uuid'), given.get('portgroup')]
  const address = given.get('address')
  const access = request.access()
  if (address !== undefined && c.macOf(address) === null) throw refuse(unexpected(c.isMac.schema, 'address', address))
  const rows = await request.context.store.read(function* () {
    return yield* listPorts(access.view, {
      ...(node !== undefined && { node: (yield* findNode(node, access)).id }),
      ...(group !== undefined && { group: (yield* findPortgroup(group, access)).id }),
      ...(address !== undefined && { address: c.macOf(address)! }),
    })
  })
  return c.shownList(ports, { all: rows, rowsById: portsById }, request, path, detailed)
}

const NODE_PARAMETERS = c.listParameters(ports)

listPortsOfNode.operation = {
  summary: 'List the ports of a node',
  query: [NODE_PARAMETERS],
  answers: { 200: c.listShape('ports', c.inPart(ports.shape)) },
} satisfies Operation

export async function listPortsOfNode(request: MetalRequest): Promise<Answer> {
  request.parameters(NODE_PARAMETERS)
  const ident = nodeIdent(request)
  const access = request.access()
  const rows = await request.context.store.read(function* () {
    return yield* listPorts(access.view, { node: (yield* findNode(ident, access)).id })
  })
  return c.shownList(ports, { all: rows, rowsById: portsById }, request, `nodes/${ident}/ports`, false)
}

listPortsOfGroup.operation = {
  summary: 'List the ports of a port group',
  query: [NODE_PARAMETERS],
  answers: { 200: c.listShape('ports', c.inPart(ports.shape)) },
} satisfies Operation

export async function listPortsOfGroup(request: MetalRequest): Promise<Answer> {
  request.parameters(NODE_PARAMETERS)
  const ident = request.param('ident')
  const access = request.access()
  const rows = await request.context.store.read(function* () {
    return yield* listPorts(access.view, { group: (yield* findPortgroup(ident, access)).id })
  })
  return c.shownList(ports, { all: rows, rowsById: portsById }, request, `portgroups/${ident}/ports`, false)
}

showPort.operation = {
  summary: 'Show a port',
  query: [c.FIELDS_PARAMETER],
  answers: { 200: c.inPart(ports.shape) },
} satisfies Operation

export async function showPort(request: MetalRequest): Promise<Answer> {
  const uuid = c.uuidIn(request)
  const port = await request.context.store.read(() => findPort(uuid, request.access()))
  return { status: 200, body: c.shownOne(ports, port, request) }
}

/** The columns of a port from its members. An unknown node or port group is a bad request. */
function* columnsOf(
  given: Json,
  access: Access,
): Read<Omit<PortRow, 'id' | 'uuid' | 'created_at' | 'updated_at' | 'internal_info'>> {
  if (typeof given['node_uuid'] !== 'string') throw refuse('A port needs a node_uuid, the UUID of its node.')
  if (typeof given['address'] !== 'string') throw refuse('A port needs an address, a MAC address.')
  const node = yield* mistaken(findNode(given['node_uuid'], access))
  const group = given['portgroup_uuid']
    ? yield* mistaken(findPortgroup(given['portgroup_uuid'] as string, access))
    : null
  if (group && group.node_id !== node.id) throw refuse(`Portgroup ${group.uuid} belongs to another node.`)
  return {
    node_id: node.id,
    portgroup_id: group?.id ?? null,
    address: c.macOf(given['address'])!,
    name: c.asText(given['name']),
    pxe_enabled: c.asFlag(given['pxe_enabled'], 1),
    is_smartnic: c.asFlag(given['is_smartnic'], 0),
    physical_network: c.asText(given['physical_network']),
    local_link_connection: c.asJson(given['local_link_connection']),
    extra: c.asJson(given['extra']),
  }
}

/** If a body names something that doesn't exist, that is a bad request, not a 404. */
export function* mistaken<T>(finding: Read<T>): Read<T> {
  try {
    return yield* finding
  } catch (error) {
    throw error instanceof Problem && error.kind === 'metal_not_found' ? refuse(error.message) : error
  }
}

/** Refuses members that the client's version doesn't have. */
function requireKnown(request: MetalRequest, names: readonly string[]): void {
  for (const name of names) if (SINCE[name]) request.require(SINCE[name], `The field ${name}`)
}

postPort.operation = { summary: 'Make a port', body: [NEW], answers: { 201: ports.shape } } satisfies Operation

export async function postPort(request: MetalRequest): Promise<Answer> {
  const { context, now } = request
  const given = c.membersIn(request, NEW)
  requireKnown(request, Object.keys(given))
  const uuid = uuidOr(given['uuid'], () => context.clock.newUuid())
  const port = await context.store.write(function* () {
    const columns = yield* columnsOf(given, request.access())
    return yield* createPort({ ...columns, uuid, internal_info: EMPTY, created_at: now, updated_at: null })
  })
  return { status: 201, location: `/ports/${uuid}`, body: ports.show(port, request) }
}

patchPort.operation = { summary: 'Change a port', body: [c.PATCH], answers: { 200: ports.shape } } satisfies Operation

export async function patchPort(request: MetalRequest): Promise<Answer> {
  const patches = c.patchesIn(request, NEW)
  const { context, now } = request
  const uuid = c.uuidIn(request)
  const after = await context.store.write(function* () {
    const port = yield* findPort(uuid, request.access())
    const before = documentOf(port)
    const given = c.patchedMembers(patches, before, NEW)
    requireKnown(
      request,
      Object.keys(NEW.checks).filter(name => !isDeepStrictEqual(given[name] ?? null, before[name] ?? null)),
    )
    return yield* savePort(port, { ...port, ...(yield* columnsOf(given, request.access())), updated_at: now })
  })
  return { status: 200, body: ports.show(after, request) }
}

const documentOf = (port: Port): Json => ({
  node_uuid: port.node_uuid,
  address: port.address,
  name: port.name,
  extra: jsonIn(port.extra, MEMBERS),
  pxe_enabled: port.pxe_enabled === 1,
  local_link_connection: jsonIn(port.local_link_connection, MEMBERS),
  physical_network: port.physical_network,
  portgroup_uuid: port.portgroup_uuid,
  is_smartnic: port.is_smartnic === 1,
})

deleteOnePort.operation = { summary: 'Delete a port', answers: { 204: null } } satisfies Operation

export async function deleteOnePort(request: MetalRequest): Promise<Answer> {
  const uuid = c.uuidIn(request)
  await request.context.store.write(() => deletePort(uuid, request.access()))
  return { status: 204 }
}
