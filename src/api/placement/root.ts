// The version document at /.
import type { Operation } from '../operation.ts'
import { Links, named, Text } from '../shapes.ts'
import type { Answer, PlacementRequest } from './request.ts'
import { MAX_MINOR } from './versions.ts'
import { Type } from '../../shared/type.ts'

const VERSION = {
  id: 'v1.0',
  max_version: `1.${MAX_MINOR}`,
  min_version: '1.0',
  status: 'CURRENT',
  links: [{ rel: 'self', href: '' }],
}

const Versions = named('Versions', {
  versions: Type.Array(
    named('Version', { id: Text, max_version: Text, min_version: Text, status: Text, links: Links }),
  ),
})

showVersions.operation = { summary: 'Show the versions of the API', answers: { 200: Versions } } satisfies Operation

export function showVersions({ context }: PlacementRequest): Answer {
  return { status: 200, body: { versions: [VERSION] }, modified: context.clock.now() }
}
