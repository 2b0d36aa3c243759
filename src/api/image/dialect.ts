// Describes the Image API for the frame: just enough to make a server, with one image to list and show.
import { problem } from '../../problems/problem.ts'
import { type Check, type Dialect, JSON_UTF8, TOKEN } from '../frame/dialect.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import { renderError } from './errors.ts'
import { showVersions } from './images.ts'
import { routes } from './routes.ts'

/** A known path with another method is a 404, not a 405. */
const pathIsThere: Check = ({ route }) => {
  if (!route) throw problem('route_not_found', {})
}

export const image: Dialect = {
  prefix: PREFIXES.image,
  below: '',
  routes,
  headIsGet: true,
  documents: { '/': { show: showVersions } },
  checks: { everywhere: [], beforeBody: [pathIsThere, TOKEN], beforeHandler: [] },
  type: JSON_UTF8,
  render: renderError,
}
