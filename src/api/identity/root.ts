// The version documents.

const version = (base: string) => ({
  id: 'v3.14',
  status: 'stable',
  updated: '2020-04-07T00:00:00Z',
  links: [{ rel: 'self', href: `${base}/v3/` }],
  'media-types': [{ base: 'application/json', type: 'application/vnd.openstack.identity-v3+json' }],
})

export const showVersions = (base: string) => ({ versions: { values: [version(base)] } })
export const showVersion = (base: string) => ({ version: version(base) })
