// /servers
import { type TSchema, Type } from 'typebox'
import { listServers } from '../../compute/server-list.ts'
import { deleteServer, findServer, lockServer, saveServer, type Server } from '../../compute/servers.ts'
import { limits } from '../../shared/limits.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { Links } from '../shapes.ts'
import { closed, Name } from './bodies.ts'
import { limitOf, nextLinks } from './links.ts'
import type { Answer, ComputeRequest } from './request.ts'
import { parseServerQuery, SERVER_LIST } from './server-query.ts'
import { detail, ServerShape, ServerSummary, summary } from './server-view.ts'

type Show = (request: ComputeRequest, server: Server) => object

const One = Type.Object({ server: ServerShape })
const listOf = (item: TSchema) => Type.Object({ servers: Type.Array(item), servers_links: Type.Optional(Links) })

export const listAllServers = (request: ComputeRequest) => list(request, 'servers', summary)
listAllServers.operation = {
  summary: 'List the servers that match',
  query: [SERVER_LIST],
  answers: { 200: listOf(ServerSummary) },
} satisfies Operation
export const listServersInDetail = (request: ComputeRequest) => list(request, 'servers/detail', detail)
listServersInDetail.operation = {
  summary: 'List the servers that match with all their fields',
  query: [SERVER_LIST],
  answers: { 200: listOf(ServerShape) },
} satisfies Operation

async function list(request: ComputeRequest, path: string, show: Show): Promise<Answer> {
  const limit = limitOf(request, limits.serverPageMax)
  const filter = parseServerQuery(request)
  const rows = await request.context.store.read(() => listServers(filter, request.parameter('marker'), limit))
  const links = nextLinks(request, path, { rows, limit, marker: ({ uuid }) => uuid })
  const servers = rows.slice(0, limit).map(server => show(request, server))
  return { status: 200, body: { servers, ...(links && { servers_links: links }) } }
}

showServer.operation = { summary: 'Show a server', answers: { 200: One } } satisfies Operation

export async function showServer(request: ComputeRequest): Promise<Answer> {
  const server = await request.context.store.read(() => findServer(request.param('id'), request.visible))
  return { status: 200, body: { server: detail(request, server) } }
}

const renameBody = check(Type.Object({ server: Type.Object({ name: Type.Optional(Name) }, closed) }, closed))

putServer.operation = { summary: 'Rename a server', body: [renameBody], answers: { 200: One } } satisfies Operation

/** Only the name can be changed this way. */
export async function putServer(request: ComputeRequest): Promise<Answer> {
  const { name } = request.body(renameBody).server
  const server = await request.context.store.write(function* () {
    const found = yield* lockServer(request.param('id'), request.visible)
    const after = { ...found, name: name ?? found.name, updated_at: request.now }
    yield* saveServer(found, after)
    return after
  })
  return { status: 200, body: { server: detail(request, server) } }
}

deleteOneServer.operation = { summary: 'Delete a server', answers: { 204: null } } satisfies Operation

export async function deleteOneServer(request: ComputeRequest): Promise<Answer> {
  const { store } = request.context
  await store.write(() => deleteServer(request.param('id'), request.now, request.visible))
  return { status: 204 }
}
