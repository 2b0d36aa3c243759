// The catalog: the URL of each API, under the host that the client used.
import { idOf } from './ids.ts'

export const REGION = 'RegionOne'

/** An API as clients look for it: its type, its common name, and its path on this server. */
export interface Service {
  type: string
  name: string
  path: string
}

const INTERFACES = ['public', 'internal', 'admin'] as const

interface Endpoint {
  id: string
  interface: (typeof INTERFACES)[number]
  region: string
  region_id: string
  url: string
}

export const serviceId = ({ type }: Service): string => idOf('service', type)

/** The endpoints of a service: one for each interface, all with the same URL. */
export const endpointsOf = ({ type, path }: Service, origin: string): Endpoint[] =>
  INTERFACES.map(reach => ({
    id: idOf('endpoint', `${type} ${reach}`),
    interface: reach,
    region: REGION,
    region_id: REGION,
    url: `${origin}${path}`,
  }))

export const catalogOf = (services: readonly Service[], origin: string): object[] =>
  services.map(service => ({
    id: serviceId(service),
    type: service.type,
    name: service.name,
    endpoints: endpointsOf(service, origin),
  }))
