// All URLs of the Image API. Every caller with a token may use them.
import type { Routes } from '../frame/dialect.ts'
import { listImages, showImage } from './images.ts'

export const routes: Routes = {
  '/v2/images': { GET: { handle: listImages, action: null } },
  '/v2/images/:id': { GET: { handle: showImage, action: null } },
}
