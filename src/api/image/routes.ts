// The Image API's URLs. Whoever has a token may ask.
import type { Routes } from '../frame/dialect.ts'
import { listImages, showImage } from './images.ts'

export const routes: Routes = {
  '/v2/images': { GET: { handle: listImages, action: null } },
  '/v2/images/:id': { GET: { handle: showImage, action: null } },
}
