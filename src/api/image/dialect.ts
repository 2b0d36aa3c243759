// As much of the Image API as it takes to make a server: one image, that can be listed and shown.
import { problem } from '../../problems/problem.ts'
import { type Check, type Dialect, JSON_UTF8, TOKEN } from '../frame/dialect.ts'
import { PREFIXES } from '../frame/prefixes.ts'
import { renderError } from './errors.ts'
import { showVersions } from './images.ts'
import { routes } from './routes.ts'

/** A path is there only for the methods that it takes. */
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
