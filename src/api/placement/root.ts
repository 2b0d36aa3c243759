// The version document.
import type { Answer, PlacementRequest } from './request.ts'
import { MAX_MINOR } from './versions.ts'

const VERSION = {
  id: 'v1.0',
  max_version: `1.${MAX_MINOR}`,
  min_version: '1.0',
  status: 'CURRENT',
  links: [{ rel: 'self', href: '' }],
}

export function showVersions({ context }: PlacementRequest): Answer {
  return { status: 200, body: { versions: [VERSION] }, modified: context.clock.now() }
}
