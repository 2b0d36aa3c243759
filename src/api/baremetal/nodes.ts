// /v1/nodes
import { CREATABLE, PATCHABLE, canBeName } from '../../metal/attributes.ts'
import { createNode, deleteNode, patchNode, uuidOr } from '../../metal/change.ts'
import { parsePatches } from '../../metal/json-patch.ts'
import { listNodeKeys } from '../../metal/node-list.ts'
import { textOf } from '../../metal/node-shelf.ts'
import { findNodeKey } from '../../metal/nodes.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { problem } from '../../problem.ts'
import { ALL, fieldsNamed, requireField, writer } from './node-fields.ts'
import { parseNodeQuery } from './node-query.ts'
import { nextLink } from './paging.ts'
import { type Answer, flagParameter, type MetalRequest } from './request.ts'
import { since } from './versions.ts'

/** The node that the path names. */
export function nodeIdent(request: MetalRequest): string {
  const ident = request.param('ident')
  if (canonicalUuid(ident) !== null) return ident
  // `detail/` looks like a node to the router, and like nothing to clients.
  if (ident === 'detail') throw problem('route_not_found', {})
  if (!request.has.names || !canBeName(ident)) throw problem('invalid_name_in_path', { what: 'node', name: ident })
  return ident
}

async function show(request: MetalRequest, ident: string, fields: readonly string[]): Promise<Buffer> {
  const { store, shelf } = request.context
  const [node] = await store.read(function* () {
    return yield* shelf.fetch([yield* findNodeKey(ident)], request.now)
  })
  return textOf(node!, writer(fields, request))
}

const SHOW_PARAMETERS = new Set(['fields'])

export async function showNode(request: MetalRequest): Promise<Answer> {
  const ident = nodeIdent(request)
  const given = request.parameters(SHOW_PARAMETERS).get('fields')
  const fields = given === undefined ? ALL : fieldsNamed(given, request.version)
  return { status: 200, body: await show(request, ident, fields) }
}

export const listAllNodes = (request: MetalRequest) => list(request, 'nodes', false)
export const listNodesInDetail = (request: MetalRequest) => list(request, 'nodes/detail', true)

export function listNodesOfChassis(request: MetalRequest): Promise<Answer> {
  request.query.set('chassis_uuid', request.param('uuid'))
  return list(request, 'nodes', false)
}

async function list(request: MetalRequest, path: string, detailed: boolean): Promise<Answer> {
  const { filter, traits, paging, fields } = parseNodeQuery(request, detailed)
  const { store, shelf } = request.context
  const { nodes, more } = await store.read(function* () {
    const keys = yield* listNodeKeys(filter, traits, paging, request.now)
    return { nodes: yield* shelf.fetch(keys.slice(0, paging.limit), request.now), more: keys.length > paging.limit }
  })
  const write = writer(fields, request)
  const parts: Buffer[] = [Buffer.from('{"nodes":[')]
  for (const node of nodes) parts.push(textOf(node, write), COMMA)
  if (nodes.length > 0) parts.pop()
  parts.push(Buffer.from(`]${more ? nextMembers(request, path, paging.limit, nodes.at(-1)!.uuid) : ''}}`))
  return { status: 200, body: Buffer.concat(parts) }
}

const COMMA = Buffer.from(',')

function nextMembers(request: MetalRequest, path: string, limit: number, marker: string): string {
  const next = JSON.stringify(nextLink(request, path, limit, marker))
  // The second form is where gophercloud looks.
  return `,"next":${next},"nodes_links":[{"href":${next},"rel":"next"}]`
}

export async function postNode(request: MetalRequest): Promise<Answer> {
  const { context, has, version } = request
  const attributes = request.object()
  for (const [name, value] of Object.entries(attributes)) {
    if (!CREATABLE.has(name)) {
      throw problem('invalid_parameter', { reason: `Unknown attribute for a new node: ${name.slice(0, 100)}.` })
    }
    if (value !== null) requireField(name, version)
  }
  const { uuid: given, ...rest } = attributes
  if (given !== undefined && given !== null && (typeof given !== 'string' || !canonicalUuid(given))) {
    throw problem('invalid_parameter', { reason: 'Expected a UUID for the attribute uuid.' })
  }
  const uuid = uuidOr(given, () => context.clock.newUuid())
  const wanted = { uuid, attributes: rest, state: has.enroll ? 'enroll' : 'available' } as const
  await context.store.write(() => createNode(wanted, context.drivers, request.principal, request.now))
  return { status: 201, location: `/nodes/${uuid}`, body: await show(request, uuid, ALL) }
}

const PATCH_PARAMETERS = new Set(['reset_interfaces'])

export async function patchOneNode(request: MetalRequest): Promise<Answer> {
  const { context, version, has } = request
  const ident = nodeIdent(request)
  const reset = request.parameters(PATCH_PARAMETERS).get('reset_interfaces')
  if (reset !== undefined) {
    if (!has.resetInterfaces) request.require('resetInterfaces', 'reset_interfaces')
    flagParameter('reset_interfaces', reset)
  }
  const patches = parsePatches(request.json())
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
  const node = await context.store.write(() =>
    patchNode(ident, patches, context.drivers, request.principal, request.now),
  )
  return { status: 200, body: await show(request, node.uuid, ALL) }
}

const NO_PARAMETERS: ReadonlySet<string> = new Set()

export async function deleteOneNode(request: MetalRequest): Promise<Answer> {
  request.parameters(NO_PARAMETERS)
  await request.context.store.write(() => deleteNode(nodeIdent(request), request.now))
  return { status: 204 }
}
