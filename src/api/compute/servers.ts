// /servers
import { Type } from 'typebox'
import { listServers } from '../../compute/server-list.ts'
import { deleteServer, findServer, lockServer, saveServer, type Server } from '../../compute/servers.ts'
import { limits } from '../../limits.ts'
import { check } from '../schema.ts'
import { closed, Name } from './bodies.ts'
import { limitOf, nextLinks } from './links.ts'
import type { Answer, ComputeRequest } from './request.ts'
import { parseServerQuery } from './server-query.ts'
import { detail, summary } from './server-view.ts'

type Show = (request: ComputeRequest, server: Server) => object

export const listAllServers = (request: ComputeRequest) => list(request, 'servers', summary)
export const listServersInDetail = (request: ComputeRequest) => list(request, 'servers/detail', detail)

async function list(request: ComputeRequest, path: string, show: Show): Promise<Answer> {
  const limit = limitOf(request, limits.serverPageMax)
  const filter = parseServerQuery(request)
  const rows = await request.context.store.read(() => listServers(filter, request.parameter('marker'), limit))
  const links = nextLinks(request, path, { rows, limit, marker: ({ uuid }) => uuid })
  const servers = rows.slice(0, limit).map(server => show(request, server))
  return { status: 200, body: { servers, ...(links && { servers_links: links }) } }
}

export async function showServer(request: ComputeRequest): Promise<Answer> {
  const server = await request.context.store.read(() => findServer(request.param('id'), request.seesServersOf))
  return { status: 200, body: { server: detail(request, server) } }
}

const renameBody = check(Type.Object({ server: Type.Object({ name: Type.Optional(Name) }, closed) }, closed))

/** A name is all that can be changed this way. */
export async function putServer(request: ComputeRequest): Promise<Answer> {
  const { name } = request.body(renameBody).server
  const server = await request.context.store.write(function* () {
    const found = yield* lockServer(request.param('id'), request.seesServersOf)
    const after = { ...found, name: name ?? found.name, updated_at: request.now }
    yield* saveServer(after)
    return after
  })
  return { status: 200, body: { server: detail(request, server) } }
}

export async function deleteOneServer(request: ComputeRequest): Promise<Answer> {
  const { store, bell } = request.context
  const isWork = await store.write(() => deleteServer(request.param('id'), request.now, request.seesServersOf))
  if (isWork) bell.ring('servers')
  return { status: 204 }
}
