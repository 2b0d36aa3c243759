// The version documents.
import { ONLY } from './versions.ts'

const version = (base: string) => ({
  id: 'v2.1',
  status: 'CURRENT',
  version: ONLY,
  min_version: ONLY,
  updated: '2013-07-23T11:33:21Z',
  links: [{ rel: 'self', href: `${base}/v2.1/` }],
  'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.compute+json;version=2.1' }],
})

export const showVersions = (base: string): object => ({ versions: [version(base)] })
export const showVersion = (base: string): object => ({ version: version(base) })
