// /servers
import type { TSchema } from 'typebox'
import { pageOfServers, serverParts } from '../../compute/server-list.ts'
import { deleteServer, findServer, lockServer, saveServer, type Server } from '../../compute/servers.ts'
import { readInParts } from '../../http/written.ts'
import { limits } from '../../shared/limits.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { from, Links } from '../shapes.ts'
import { closed, Description, Name, requireDescribable } from './bodies.ts'
import { limitOf, nextLinks } from './links.ts'
import type { Answer, ComputeRequest } from './request.ts'
import { parseServerQuery, SERVER_LIST } from './server-query.ts'
import { detail, ServerShape, ServerSummary, summary } from './server-view.ts'
import { since } from './versions.ts'
import { Type } from '../../shared/type.ts'

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
  const { store } = request.context
  const { rows, marker } = await store.read(() => pageOfServers(filter, request.parameter('marker'), limit))
  const links = nextLinks(request, path, { limit, marker })
  const servers = readInParts(rows.bytes, serverParts(store, rows), server => show(request, server))
  return { status: 200, body: { servers, ...(links && { servers_links: links }) } }
}

showServer.operation = { summary: 'Show a server', answers: { 200: One } } satisfies Operation

export async function showServer(request: ComputeRequest): Promise<Answer> {
  const server = await request.context.store.read(() => findServer(request.param('id'), request.visible))
  return { status: 200, body: { server: detail(request, server) } }
}

const changeBody = check(
  Type.Object(
    {
      server: Type.Object(
        {
          name: Type.Optional(Name),
          description: Type.Optional(from(since('descriptions'), Description)),
        },
        closed,
      ),
    },
    closed,
  ),
)

putServer.operation = {
  summary: 'Rename or describe a server',
  body: [changeBody],
  answers: { 200: One },
} satisfies Operation

export async function putServer(request: ComputeRequest): Promise<Answer> {
  const wanted = request.body(changeBody).server
  requireDescribable(request, wanted)
  const server = await request.context.store.write(function* () {
    const found = yield* lockServer(request.param('id'), request.visible)
    const { name = found.name, description = found.description } = wanted
    const after = { ...found, name, description, updated_at: request.now }
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
