// Where each API is mounted, and the path between that and its routes.
export const PREFIXES = {
  placement: '/placement',
  baremetal: '/baremetal',
  compute: '/compute',
  image: '/image',
  reservation: '/reservation',
  identity: '/identity',
  operator: '/holdfast/v1',
} as const

export const VERSION_PATHS = { baremetal: '/v1', compute: '/v2.1', reservation: '/v1', identity: '/v3' } as const
