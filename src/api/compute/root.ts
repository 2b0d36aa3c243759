// The version documents.
import { Type } from 'typebox'
import type { Operation } from '../operation.ts'
import { Links, named, Text } from '../shapes.ts'
import { NEWEST, OLDEST } from './versions.ts'

const version = (base: string) => ({
  id: 'v2.1',
  status: 'CURRENT',
  version: NEWEST.text,
  min_version: OLDEST.text,
  updated: '2013-07-23T11:33:21Z',
  links: [{ rel: 'self', href: `${base}/v2.1/` }],
  'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.compute+json;version=2.1' }],
})

const Version = named('Version', {
  id: Text,
  status: Text,
  version: Text,
  min_version: Text,
  updated: Text,
  links: Links,
  'media-types': Type.Array(Type.Object({ base: Text, type: Text })),
})

export const showVersions = (base: string): object => ({ versions: [version(base)] })
showVersions.operation = {
  summary: 'Show the versions of the API',
  answers: { 200: Type.Object({ versions: Type.Array(Version) }) },
} satisfies Operation
export const showVersion = (base: string): object => ({ version: version(base) })
showVersion.operation = {
  summary: 'Show the version of the API',
  answers: { 200: Type.Object({ version: Version }) },
} satisfies Operation
