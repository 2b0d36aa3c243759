// The Image API's URLs. Whoever has a token may ask.
import type { FastifyRequest } from 'fastify'
import type { Described } from '../operation.ts'
import { listImages, showImage } from './images.ts'

interface Route {
  handle: Described<(request: FastifyRequest) => object>
  /** Nothing to permit. */
  action: null
}

export const routes: Record<string, { GET: Route }> = {
  '/v2/images': { GET: { handle: listImages, action: null } },
  '/v2/images/:id': { GET: { handle: showImage, action: null } },
}
