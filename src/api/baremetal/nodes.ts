// /v1/nodes
import { canBeName, CREATABLE, interfaceField, PATCHABLE } from '../../metal/nodes/attributes.ts'
import { createNode, deleteNode, patchNode, uuidOr } from '../../metal/nodes/lifecycle.ts'
import { INTERFACES, type Json } from '../../metal/drivers/port.ts'
import { parsePatches } from '../../metal/json-patch.ts'
import type { NodePage } from '../../metal/nodes/kept-pages.ts'
import { type ShelvedNode, textOf } from '../../metal/nodes/shelf.ts'
import { childrenOf } from '../../metal/nodes/rows.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { problem } from '../../problems/problem.ts'
import { listed } from '../../http/written.ts'
import { joined } from '../../shared/joined.ts'
import { limits } from '../../shared/limits.ts'
import { DOCUMENTS, type FieldName } from '../../shared/node-fields.ts'
import { onePage } from '../../store/sized.ts'
import type { Operation } from '../operation.ts'
import { Flag, from, Text, Uuid } from '../shapes.ts'
import { FIELDS_PARAMETER, listShape, PATCH, unknownMember } from './collection.ts'
import { NEW_NODE } from './node-bodies.ts'
import { ALL, fieldsNamed, NodeRow, NodeShape, requireField, writer } from './node-fields.ts'
import { NODE_LIST, NODE_LIST_IN_DETAIL, parseNodeQuery } from './node-query.ts'
import { nextLink } from './paging.ts'
import type { BaremetalAction } from './policy.ts'
import { type Answer, flagParameter, type MetalRequest, NO_PARAMETERS, parametersOf, seesHold } from './request.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'
import { expected } from '../../shared/expected.ts'

/** The node that the path names. */
export function nodeIdent(request: MetalRequest): string {
  const ident = request.param('ident')
  if (canonicalUuid(ident) !== null) return ident
  // The router takes `detail/` for a node, but clients know no such path.
  if (ident === 'detail') throw problem('route_not_found', {})
  if (!request.has.names || !canBeName(ident)) throw problem('invalid_name_in_path', { what: 'node', name: ident })
  return ident
}

async function show(
  request: MetalRequest,
  ident: string,
  fields: readonly FieldName[],
  access = request.access(),
): Promise<Buffer> {
  return writerFor(request, fields)(await request.context.nodes.one(ident, access, request.now))
}

/** Writes each node as far as the caller may see it. */
function writerFor(request: MetalRequest, fields: readonly FieldName[]): (node: ShelvedNode) => Buffer {
  const ways: ReturnType<typeof writer>[] = []
  // Neighbours mostly belong to the same, and asking the policy for each would be half of a long list's time.
  let before: ShelvedNode | null = null
  let way = 0
  return node => {
    if (before === null || !isOfTheSame(before, node)) way = wayOf(request, node)
    before = node
    return textOf(node, (ways[way] ??= writer(fields, request, veiledIn(way))))
  }
}

const isOfTheSame = (a: ShelvedNode, b: ShelvedNode) =>
  a.owner === b.owner && a.lessee === b.lessee && a.reservation_uuid === b.reservation_uuid

const veiledIn = (way: number) => ({ driver: (way & 1) > 0, hold: (way & 2) > 0, instance: (way & 4) > 0 })

/** What is hidden of a node, as a number. */
function wayOf(request: MetalRequest, node: ShelvedNode): number {
  const driver = !request.may('baremetal:node:get:driver_info', node)
  const hold = node.reservation_uuid !== null && !seesHold(request, node.reserved_for)
  const instance = !request.may('baremetal:node:get:instance_secrets', node)
  return Number(driver) + 2 * Number(hold) + 4 * Number(instance)
}

const NextLinks = { nodes_links: Type.Optional(Type.Array(Type.Object({ href: Text, rel: Text }))) }
const NodeList = listShape('nodes', NodeRow, NextLinks)

showNode.operation = {
  summary: 'Show a node',
  query: [FIELDS_PARAMETER],
  answers: { 200: NodeRow },
} satisfies Operation

export async function showNode(request: MetalRequest): Promise<Answer> {
  const ident = nodeIdent(request)
  const given = request.parameters(FIELDS_PARAMETER).get('fields')
  const fields = given === undefined ? ALL : fieldsNamed(given, request.version)
  return { status: 200, body: await show(request, ident, fields) }
}

export const listAllNodes = (request: MetalRequest) => list(request, 'nodes', false)
listAllNodes.operation = {
  summary: 'List the nodes that match',
  query: [NODE_LIST],
  answers: { 200: NodeList },
} satisfies Operation
export const listNodesInDetail = (request: MetalRequest) => list(request, 'nodes/detail', true)
listNodesInDetail.operation = {
  summary: 'List the nodes that match with all their fields',
  query: [NODE_LIST_IN_DETAIL],
  answers: { 200: listShape('nodes', NodeShape, NextLinks) },
} satisfies Operation

listNodesOfChassis.operation = {
  summary: 'List the nodes of a chassis',
  query: [NODE_LIST],
  answers: { 200: NodeList },
} satisfies Operation

export function listNodesOfChassis(request: MetalRequest): Promise<Answer> {
  const uuid = request.param('uuid')
  const given = request.query.get('chassis_uuid') ?? uuid
  if (given !== uuid) throw problem('invalid_parameter', { reason: expected(uuid, 'chassis_uuid', given) })
  request.query.set('chassis_uuid', uuid)
  return list(request, 'nodes', false)
}

listChildren.operation = {
  summary: 'List the nodes that are built into a node',
  answers: { 200: Type.Object({ children: Type.Array(Uuid) }) },
} satisfies Operation

export async function listChildren(request: MetalRequest): Promise<Answer> {
  const children = await request.context.store.read(() => childrenOf(nodeIdent(request), request.access()))
  return { status: 200, body: { children } }
}

async function list(request: MetalRequest, path: string, detailed: boolean): Promise<Answer> {
  const { filter, traits, paging, fields } = parseNodeQuery(request, detailed)
  const wanted = { view: request.access().view, filter, traits, page: paging }
  const found = await request.context.nodes.list(wanted, request.now)
  const hasDocuments = fields.some(name => HAS_DOCUMENT.has(name))
  const { nodes, marker } = hasDocuments ? endedEarly(found) : found
  const write = writerFor(request, fields)
  const next = marker === null ? {} : nextMembers(request, path, paging.limit, marker)
  const isLong = hasDocuments && nodes.reduce((sum, node) => sum + node.bytes, 0) > limits.answerPartBytes
  if (isLong) return { status: 200, body: { nodes: listed(nodes, write), ...next } }
  const tail = JSON.stringify(next).slice(1, -1)
  return { status: 200, body: joined('{"nodes":[', nodes.map(write), `]${tail && `,${tail}`}}`) }
}

const HAS_DOCUMENT: ReadonlySet<string> = new Set(DOCUMENTS)

/** A page whose documents are too large ends before its limit. */
function endedEarly({ nodes, marker }: NodePage): NodePage {
  const { page, hasMore } = onePage(nodes, nodes.length)
  return hasMore ? { nodes: page, marker: page.at(-1)!.uuid } : { nodes, marker }
}

function nextMembers(request: MetalRequest, path: string, limit: number, marker: string): object {
  const next = nextLink(request, path, limit, marker)
  // gophercloud reads the second form.
  return { next, nodes_links: [{ href: next, rel: 'next' }] }
}

postNode.operation = { summary: 'Enroll a node', body: [NEW_NODE], answers: { 201: NodeShape } } satisfies Operation

export async function postNode(request: MetalRequest): Promise<Answer> {
  const { context, has, version } = request
  const attributes = request.object(NEW_NODE)
  requireCreatable(request, attributes)
  for (const [name, value] of Object.entries(attributes)) {
    if (!CREATABLE.has(name)) {
      throw problem('invalid_parameter', { reason: unknownMember(name, [...CREATABLE]) })
    }
    if (value !== null) requireField(name, version)
  }
  const { uuid: given, ...rest } = attributes
  if (given !== undefined && given !== null && (typeof given !== 'string' || !canonicalUuid(given))) {
    throw problem('invalid_parameter', { reason: expected('a UUID', 'uuid', given) })
  }
  const uuid = uuidOr(given, () => context.clock.newUuid())
  const wanted = { uuid, attributes: rest, state: has.enroll ? 'enroll' : 'available' } as const
  await context.store.write(() => createNode(wanted, context.drivers, request.principal, request.now))
  return { status: 201, location: `/nodes/${uuid}`, body: await show(request, uuid, ALL) }
}

/** The rule may depend on the new node's owner, so that operators can let projects enroll their own nodes. */
function requireCreatable(request: MetalRequest, attributes: Json): void {
  const owner = typeof attributes['owner'] === 'string' ? attributes['owner'] : null
  const further = ['lessee', 'chassis_uuid', 'conductor_group', 'shard'].filter(name => attributes[name] != null)
  request.access(['baremetal:node:create', ...further.map(actionOn)]).permit({ owner, lessee: null })
}

/** The permission to change an attribute. All others need the route's permission. */
const ATTRIBUTE_ACTIONS: Readonly<Record<string, BaremetalAction>> = {
  instance_info: 'baremetal:node:update_instance_info',
  extra: 'baremetal:node:update_extra',
  instance_uuid: 'baremetal:node:update:instance_uuid',
  owner: 'baremetal:node:update:owner',
  lessee: 'baremetal:node:update:lessee',
  chassis_uuid: 'baremetal:node:update:chassis_uuid',
  conductor_group: 'baremetal:node:update:conductor_group',
  shard: 'baremetal:node:update:shard',
  driver: 'baremetal:node:update:driver_interfaces',
  driver_info: 'baremetal:node:update:driver_info',
  ...Object.fromEntries(INTERFACES.map(name => [interfaceField(name), 'baremetal:node:update:driver_interfaces'])),
}
const actionOn = (attribute: string) => ATTRIBUTE_ACTIONS[attribute] ?? 'baremetal:node:update'

const PATCH_PARAMETERS = parametersOf({ reset_interfaces: from(since('resetInterfaces'), Flag) })

patchOneNode.operation = {
  summary: 'Change a node',
  query: [PATCH_PARAMETERS],
  body: [PATCH],
  answers: { 200: NodeShape },
} satisfies Operation

export async function patchOneNode(request: MetalRequest): Promise<Answer> {
  const { context, version, has } = request
  const ident = nodeIdent(request)
  const reset = request.parameters(PATCH_PARAMETERS).get('reset_interfaces')
  if (reset !== undefined) {
    if (!has.resetInterfaces) request.require('resetInterfaces', 'reset_interfaces')
    flagParameter('reset_interfaces', reset)
  }
  const patches = parsePatches(request.json(PATCH))
  for (const { path } of patches) {
    if (!PATCHABLE.has(path[0])) {
      const names = [...PATCHABLE].sort().join(', ')
      throw problem('invalid_parameter', {
        reason: `Cannot patch /${path.join('/').slice(0, 200)}. Only the following can be updated: ${names}`,
      })
    }
    requireField(path[0], version)
  }
  if (reset !== undefined && !patches.some(({ path }) => path[0] === 'driver')) {
    throw problem('invalid_parameter', {
      reason: `The reset_interfaces parameter (from API version ${since('resetInterfaces')} on) goes with a change of the driver.`,
    })
  }
  const access = request.access(patches.length === 0 ? undefined : patches.map(({ path }) => actionOn(path[0])))
  const allocation = request.access(['baremetal:allocation:delete'])
  const uuid = await context.store.write(() =>
    patchNode(ident, { node: access, allocation }, patches, context.drivers, request.principal, request.now),
  )
  return { status: 200, body: await show(request, uuid, ALL, access) }
}

deleteOneNode.operation = {
  summary: 'Delete a node',
  query: [NO_PARAMETERS],
  answers: { 204: null },
} satisfies Operation

export async function deleteOneNode(request: MetalRequest): Promise<Answer> {
  request.parameters(NO_PARAMETERS)
  await request.context.store.write(() => deleteNode(nodeIdent(request), request.access(), request.now))
  return { status: 204 }
}
