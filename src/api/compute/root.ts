// The version documents. Where servers are those of a Nova, they lead there.
import { readCatalog, REGION } from '../../identity/catalog-setting.ts'
import { problem } from '../../problems/problem.ts'
import type { Context } from '../../process/context.ts'
import type { Operation } from '../operation.ts'
import { Links, named, Text } from '../shapes.ts'
import { NEWEST, OLDEST } from './versions.ts'
import { Type } from '../../shared/type.ts'

type Setting = Pick<Context['config'], 'compute' | 'novaUrl' | 'catalog'>

/** Where clients find the Nova: as the catalog says, since we may know it by an address inside. */
function novaFor({ novaUrl, catalog }: Setting): string {
  const place = readCatalog(catalog).get('compute')?.regions.get(REGION)?.public
  return place === undefined || place === 'hidden' ? novaUrl! : place
}

/** Refuses what our own compute would have to do, where there is none. */
export function requireHere(setting: Setting): void {
  const { compute } = setting
  if (compute !== 'own') throw problem('compute_elsewhere', { url: compute === 'nova' ? novaFor(setting) : null })
}

/** Which microversions a Nova knows is for itself to say. */
const version = (base: string, setting: Setting) => ({
  id: 'v2.1',
  status: 'CURRENT',
  version: setting.compute === 'own' ? NEWEST.text : '',
  min_version: setting.compute === 'own' ? OLDEST.text : '',
  updated: '2013-07-23T11:33:21Z',
  links: [
    { rel: 'self', href: setting.compute === 'own' ? `${base}/v2.1/` : `${novaFor(setting).replace(/\/+$/, '')}/` },
  ],
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

export const showVersions = (base: string, setting: Setting): object => ({
  versions: setting.compute === 'off' ? [] : [version(base, setting)],
})
showVersions.operation = {
  summary: 'Show the versions of the API',
  answers: { 200: Type.Object({ versions: Type.Array(Version) }) },
} satisfies Operation
export function showVersion(base: string, setting: Setting): object {
  if (setting.compute === 'off') requireHere(setting)
  return { version: version(base, setting) }
}
showVersion.operation = {
  summary: 'Show the version of the API',
  answers: { 200: Type.Object({ version: Version }) },
} satisfies Operation
