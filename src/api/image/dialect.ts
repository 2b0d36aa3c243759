// Describes the Image API for the frame: just enough to make a server, with one image to list and show, and their schemas.
import { problem } from '../../problems/problem.ts'
import { type Check, type Dialect, JSON_UTF8, TOKEN } from '../frame/dialect.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import { renderError } from './errors.ts'
import { showVersions } from './images.ts'
import { routes } from './routes.ts'

/** A known path with another method is a 403. Nova passes its words on, and makes a 500 of a 404 and a 405. */
const imagesStay: Check = ({ route }) => {
  if (!route) throw problem('images_are_fixed', {})
}

export const image: Dialect = {
  prefix: PREFIXES.image,
  below: '',
  routes,
  headIsGet: true,
  documents: { '/': { show: showVersions } },
  checks: { everywhere: [], beforeBody: [TOKEN, imagesStay], beforeHandler: [] },
  type: JSON_UTF8,
  render: renderError,
}
