// All URLs of the Image API. Every caller with a token may use them.
import type { Routes } from '../frame/dialect.ts'
import { listImages, showImage } from './images.ts'
import { showSchema } from './schemas.ts'

export const routes: Routes = {
  '/v2/images': { GET: { handle: listImages, action: null } },
  '/v2/images/:id': { GET: { handle: showImage, action: null } },
  '/v2/schemas/:name': { GET: { handle: showSchema, action: null } },
}
