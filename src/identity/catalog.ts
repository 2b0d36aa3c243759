// The catalog: the URL of each API, under the host that the client used.
import { idOf } from './ids.ts'

export const REGION = 'RegionOne'

/** Type, common name and path of each API. */
const SERVICES = [
  ['identity', 'keystone', '/identity'],
  ['placement', 'placement', '/placement'],
  ['baremetal', 'ironic', '/baremetal'],
  ['compute', 'nova', '/compute/v2.1'],
  ['image', 'glance', '/image'],
  ['reservation', 'blazar', '/reservation/v1'],
] as const

const INTERFACES = ['public', 'internal', 'admin'] as const

export function catalogAt(origin: string): object[] {
  return SERVICES.map(([type, name, path]) => ({
    id: idOf('service', type),
    type,
    name,
    endpoints: INTERFACES.map(reach => ({
      id: idOf('endpoint', `${type} ${reach}`),
      interface: reach,
      region: REGION,
      region_id: REGION,
      url: `${origin}${path}`,
    })),
  }))
}
