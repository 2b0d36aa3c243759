// The version documents.
import type { Operation } from '../operation.ts'
import { from, named, Text } from '../shapes.ts'
import { Links, linksTo } from './links.ts'
import type { Answer, MetalRequest } from './request.ts'
import { NEWEST, OLDEST, since, type Word } from './versions.ts'
import { Type } from '../../shared/type.ts'

const version = (base: string) => ({
  id: 'v1',
  links: [{ href: `${base}/v1/`, rel: 'self' }],
  status: 'CURRENT',
  min_version: OLDEST.text,
  version: NEWEST.text,
})

const Version = named('Version', {
  id: Text,
  links: Type.Array(Type.Object({ href: Text, rel: Text })),
  status: Text,
  min_version: Text,
  version: Text,
})
const Root = Type.Object({ name: Text, description: Text, default_version: Version, versions: Type.Array(Version) })

showRoot.operation = { summary: 'Show the versions of the API', answers: { 200: Root } } satisfies Operation

export function showRoot(base: string): object {
  return {
    name: 'OpenStack Ironic API',
    description: 'Bare metal nodes, as Holdfast keeps them: one ledger for machines and those who have them.',
    default_version: version(base),
    versions: [version(base)],
  }
}

const RESOURCES: readonly (readonly [string, Word | null])[] = [
  ['chassis', null],
  ['nodes', null],
  ['ports', null],
  ['drivers', null],
  ['portgroups', 'portgroups'],
  ['volume', 'volume'],
  ['lookup', 'agent'],
  ['heartbeat', 'agent'],
  ['conductors', 'conductors'],
  ['allocations', 'allocations'],
  ['events', 'events'],
  ['deploy_templates', 'deployTemplates'],
  ['shards', 'shards'],
  ['reservations', 'reservations'],
]

const V1 = Type.Object({
  id: Text,
  links: Type.Array(Type.Object({ href: Text, rel: Text })),
  media_types: Type.Array(Type.Object({ base: Text, type: Text })),
  version: Version,
  ...Object.fromEntries(RESOURCES.map(([name, word]) => [name, word === null ? Links : from(since(word), Links)])),
})

showV1.operation = {
  summary: 'Show the version document, with a link for each resource',
  answers: { 200: V1 },
} satisfies Operation

export function showV1({ base, has }: MetalRequest): Answer {
  const there = RESOURCES.filter(([, word]) => word === null || has[word])
  return {
    status: 200,
    body: {
      id: 'v1',
      links: [{ href: `${base}/v1/`, rel: 'self' }],
      media_types: [{ base: 'application/json', type: 'application/vnd.openstack.ironic.v1+json' }],
      version: version(base),
      ...Object.fromEntries(there.map(([name]) => [name, linksTo(base, `${name}/`)])),
    },
  }
}
