// As much of the Image API as it takes to make a server: one image, that can be listed and shown.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CIRROS } from '../../compute/images.ts'
import type { Context } from '../../context.ts'
import { problemOf } from '../../http/failures.ts'
import type { Authenticate } from '../../identity/identity.ts'
import { NOBODY } from '../../metal/offer.ts'
import { problem, type ProblemKind } from '../../problem.ts'
import { PREFIX } from './prefix.ts'

const STATUS: Partial<Record<ProblemKind, number>> = {
  unauthorized: 401,
  too_many_attempts: 429,
  route_not_found: 404,
  image_not_found: 404,
  malformed_request: 400,
  too_large: 413,
  internal: 500,
  unavailable: 503,
}

const IMAGE = {
  ...CIRROS,
  status: 'active',
  visibility: 'public',
  container_format: 'bare',
  disk_format: 'qcow2',
  min_disk: 0,
  min_ram: 0,
  size: 1,
  virtual_size: null,
  checksum: null,
  owner: NOBODY.project,
  protected: false,
  os_hidden: false,
  tags: [],
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  self: `/v2/images/${CIRROS.id}`,
  file: `/v2/images/${CIRROS.id}/file`,
  schema: '/v2/schemas/image',
}

export function image(context: Context, authenticate: Authenticate) {
  return (app: FastifyInstance, _: object, done: () => void): void => {
    app.setErrorHandler((error, request, reply) => {
      const { kind, message } = problemOf(error, request, context)
      const code = STATUS[kind] ?? 500
      return reply.code(code).send({ code, message: message || 'The resource could not be found.' })
    })
    app.setNotFoundHandler(() => {
      throw problem('route_not_found', {})
    })
    app.get('/', (request, reply) => {
      const links = [{ rel: 'self', href: `${request.protocol}://${request.host}${PREFIX}/v2/` }]
      return reply.code(300).send({ versions: [{ id: 'v2.9', status: 'CURRENT', links }] })
    })
    app.get('/v2/images', async request => {
      await requireCaller(request)
      return { images: matches(request) ? [IMAGE] : [], first: '/v2/images', schema: '/v2/schemas/images' }
    })
    app.get<{ Params: { id: string } }>('/v2/images/:id', async request => {
      await requireCaller(request)
      // Names are looked up in the list: clients expect only ids to be found here.
      if (request.params.id !== IMAGE.id) throw problem('image_not_found', { image: request.params.id })
      return IMAGE
    })
    const requireCaller = async (request: FastifyRequest) => {
      if (!(await authenticate(request))) throw problem('unauthorized', {})
    }
    done()
  }
}

/** Whether the image is what the query asks for; all filters are by equality. */
function matches({ url }: FastifyRequest): boolean {
  const query = new URLSearchParams(url.split('?', 2)[1] ?? '')
  if (query.has('marker')) return false
  return ['name', 'id', 'status', 'visibility', 'owner'].every(key => {
    const wanted = query.get(key)?.replace(/^in:/, '')
    return wanted === undefined || wanted === String(IMAGE[key as keyof typeof IMAGE])
  })
}
