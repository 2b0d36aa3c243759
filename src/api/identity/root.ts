// The version documents.
import type { Operation } from '../operation.ts'
import { Links, named, Text } from '../shapes.ts'
import { Type } from '../../shared/type.ts'

const version = (base: string) => ({
  id: 'v3.14',
  status: 'stable',
  updated: '2020-04-07T00:00:00Z',
  links: [{ rel: 'self', href: `${base}/v3/` }],
  'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.identity-v3+json' }],
})

const Version = named('Version', {
  id: Text,
  status: Text,
  updated: Text,
  links: Links,
  'media-types': Type.Array(Type.Object({ base: Text, type: Text })),
})

export const showVersions = (base: string) => ({ versions: { values: [version(base)] } })
showVersions.operation = {
  summary: 'Show the versions of the API',
  answers: { 300: Type.Object({ versions: Type.Object({ values: Type.Array(Version) }) }) },
} satisfies Operation
export const showVersion = (base: string) => ({ version: version(base) })
showVersion.operation = {
  summary: 'Show the version of the API',
  answers: { 200: Type.Object({ version: Version }) },
} satisfies Operation
