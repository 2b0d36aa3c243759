// The catalog: where clients find each service. Ours are under the host that the client used, unless the setting
// `catalog` says otherwise; services of others are where it says.
import { type CatalogEntry, INTERFACES, type Interface, type Place, type Places, REGION } from './catalog-setting.ts'
import { idOf } from './ids.ts'

/** The types of the services that we have, and their common names. */
const OWN = {
  identity: 'keystone',
  placement: 'placement',
  baremetal: 'ironic',
  compute: 'nova',
  image: 'glance',
  reservation: 'blazar',
} as const
export type OwnType = keyof typeof OWN

/** A service, and where it is if the setting says nothing. */
interface Known {
  type: string
  name: string
  /** Its path on this server; null if it isn't here. */
  path: string | null
  /** Where it is if it isn't here: a URL, or `hidden`. */
  otherwise: Place
}

interface Reach {
  interface: Interface
  region: string
  /** A URL, or the path on this server. */
  at: string
}

/** A service in the catalog. It has at least one endpoint. */
export interface Service {
  id: string
  type: string
  name: string
  endpoints: readonly (Reach & { id: string })[]
}

interface Endpoint {
  id: string
  interface: Interface
  region: string
  region_id: string
  url: string
}

/** Whom the catalog is for: some URLs name the project or the user. */
export interface Reader {
  project: string | null
  user: string | null
}

/** Where the servers are: our own, those of the Nova at this URL, or none. */
export interface ComputeSetting {
  readonly compute: 'own' | 'nova' | 'off'
  readonly novaUrl: string | null
}

/** All services: ours in our order, then those of others in the setting's. */
export function servicesIn(
  paths: Readonly<Record<OwnType, string>>,
  setting: ReadonlyMap<string, CatalogEntry>,
  { compute, novaUrl }: ComputeSetting,
): Service[] {
  const own = (Object.keys(OWN) as OwnType[]).map((type): Known => {
    const isElsewhere = type === 'compute' && compute !== 'own'
    return {
      type,
      name: OWN[type],
      path: isElsewhere ? null : paths[type],
      otherwise: (compute === 'nova' && novaUrl) || 'hidden',
    }
  })
  const foreign = [...setting.keys()].filter(type => !(type in OWN))
  const others = foreign.map((type): Known => ({ type, name: type, path: null, otherwise: 'hidden' }))
  return [...own, ...others]
    .map(({ type, name, ...where }) => {
      const entry = setting.get(type)
      const endpoints = reachesOf(where, entry).map(reach => ({ id: endpointId(type, reach), ...reach }))
      return { id: idOf('service', type), type, name: entry?.name ?? name, endpoints }
    })
    .filter(({ endpoints }) => endpoints.length > 0)
}

function reachesOf(where: Pick<Known, 'path' | 'otherwise'>, entry: CatalogEntry | undefined): Reach[] {
  // What the setting doesn't say is ours in our region, and nowhere in others.
  const regions = new Map<string, Places>([[REGION, {}], ...(entry?.regions ?? [])])
  return [...regions].flatMap(([region, places]) =>
    INTERFACES.flatMap(reach => {
      const fallback = region === REGION ? (where.path === null ? where.otherwise : 'own') : 'hidden'
      const place = places[reach] ?? fallback
      const at = place === 'own' ? where.path : place
      return at === null || at === 'hidden' ? [] : [{ interface: reach, region, at }]
    }),
  )
}

const endpointId = (type: string, { interface: reach, region }: Reach): string =>
  idOf('endpoint', region === REGION ? `${type} ${reach}` : `${type} ${reach} ${region}`)

/** The type of an entry that says `own` where there is nothing of ours; null if there is none. */
export function wronglyOwn(
  setting: ReadonlyMap<string, CatalogEntry>,
  { compute }: Pick<ComputeSetting, 'compute'>,
): string | null {
  for (const [type, { regions }] of setting) {
    const isOurs = type in OWN && (type !== 'compute' || compute === 'own')
    if (!isOurs && [...regions.values()].some(places => Object.values(places).includes('own'))) return type
  }
  return null
}

/** The endpoints of a service, as the service's owner wrote them. */
export const endpointsOf = ({ endpoints }: Service, origin: string): Endpoint[] =>
  endpoints.map(({ id, interface: reach, region, at }) => ({
    id,
    interface: reach,
    region,
    region_id: region,
    url: at.startsWith('/') ? `${origin}${at}` : at,
  }))

/** The catalog for someone. Endpoints whose URL needs a project are left out for whoever has none. */
export const catalogOf = (services: readonly Service[], origin: string, reader: Reader): object[] =>
  services
    .map(service => ({
      id: service.id,
      type: service.type,
      name: service.name,
      endpoints: endpointsOf(service, origin).flatMap(endpoint => {
        const url = filledIn(endpoint.url, reader)
        return url === null ? [] : [{ ...endpoint, url }]
      }),
    }))
    .filter(({ endpoints }) => endpoints.length > 0)

const BLANK = /[$%]\((project_id|tenant_id|user_id)\)s/g

/** The URL with the reader's ids in it, as Keystone does it; null if the reader has no such id. */
function filledIn(url: string, { project, user }: Reader): string | null {
  let isWhole = true
  const filled = url.replace(BLANK, (_, word: string) => {
    const id = word === 'user_id' ? user : project
    isWhole &&= id !== null
    return id ?? ''
  })
  return isWhole ? filled : null
}

/** The regions that some endpoint is in, ours first. */
export const regionsOf = (services: readonly Service[]): string[] => [
  ...new Set([REGION, ...services.flatMap(({ endpoints }) => endpoints.map(({ region }) => region))]),
]
