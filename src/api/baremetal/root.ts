// The version documents.
import { linksTo } from './links.ts'
import type { Answer, MetalRequest } from './request.ts'
import { NEWEST, OLDEST, type Word } from './versions.ts'

const version = (base: string) => ({
  id: 'v1',
  links: [{ href: `${base}/v1/`, rel: 'self' }],
  status: 'CURRENT',
  min_version: OLDEST.text,
  version: NEWEST.text,
})

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
  ['conductors', 'conductors'],
  ['allocations', 'allocations'],
  ['deploy_templates', 'deployTemplates'],
  ['shards', 'shards'],
  ['reservations', 'reservations'],
]

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
