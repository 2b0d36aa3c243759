// Where each API is mounted.
export const PREFIXES = {
  placement: '/placement',
  baremetal: '/baremetal',
  compute: '/compute',
  image: '/image',
  reservation: '/reservation',
  identity: '/identity',
  operator: '/holdfast/v1',
} as const
