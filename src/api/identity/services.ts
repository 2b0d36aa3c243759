// /v3/services, /v3/endpoints and /v3/regions: the catalog as lists. They follow from where the APIs are mounted and
// from the configuration, so nobody can change them here.
import {
  catalogOf,
  endpointsOf,
  type OwnType,
  type Reader,
  regionsOf,
  type Service,
  servicesIn,
} from '../../identity/catalog.ts'
import { readCatalog, REGION } from '../../identity/catalog-setting.ts'
import { problem } from '../../problems/problem.ts'
import { PREFIXES, VERSION_PATHS } from '../frame/prefixes.ts'
import type { Operation } from '../operation.ts'
import { Flag, named, oneOf, Text } from '../shapes.ts'
import { type Answer, type IdentityRequest, linkTo, listOf, listShape, parametersOf, Self } from './request.ts'
import { Type } from '../../shared/type.ts'

/** Our URLs. Where clients look for versions themselves, the URL is without one. */
const PATHS: Readonly<Record<OwnType, string>> = {
  identity: PREFIXES.identity,
  placement: PREFIXES.placement,
  baremetal: PREFIXES.baremetal,
  compute: PREFIXES.compute + VERSION_PATHS.compute,
  image: PREFIXES.image,
  reservation: PREFIXES.reservation + VERSION_PATHS.reservation,
}

const known = new WeakMap<IdentityRequest['context']['config'], readonly Service[]>()

/** The services of this installation. Kept, since every token that is shown has them. */
const servicesOf = ({ context: { config } }: IdentityRequest): readonly Service[] =>
  known.getOrInsertComputed(config, () => servicesIn(PATHS, readCatalog(config.catalog), config))

export const catalogFor = (request: IdentityRequest, reader: Reader): object[] =>
  catalogOf(servicesOf(request), request.origin, reader)

const ShownService = named('ServiceInFull', {
  id: Text,
  type: Text,
  name: Text,
  description: Text,
  enabled: Flag,
  links: Self,
})
const ShownEndpoint = named('EndpointInFull', {
  id: Text,
  service_id: Text,
  interface: oneOf('public', 'internal', 'admin'),
  region: Text,
  region_id: Text,
  url: Text,
  enabled: Flag,
  links: Self,
})
const ShownRegion = named('Region', { id: Text, description: Text, parent_region_id: Type.Null(), links: Self })

const shownService = (service: Service, request: IdentityRequest) => ({
  id: service.id,
  type: service.type,
  name: service.name,
  description: '',
  enabled: true,
  links: { self: linkTo(request, `/services/${service.id}`) },
})

const endpoints = (request: IdentityRequest) =>
  servicesOf(request).flatMap(service =>
    endpointsOf(service, request.origin).map(endpoint => ({
      ...endpoint,
      service_id: service.id,
      enabled: true,
      links: { self: linkTo(request, `/endpoints/${endpoint.id}`) },
    })),
  )

const regions = (request: IdentityRequest) =>
  regionsOf(servicesOf(request)).map(region => ({
    id: region,
    description: region === REGION ? 'Ours.' : '',
    parent_region_id: null,
    links: { self: linkTo(request, `/regions/${encodeURIComponent(region)}`) },
  }))

/** Whether each of these members is as the query wants it. */
const isAsked = (request: IdentityRequest, members: Readonly<Record<string, string>>): boolean =>
  Object.entries(members).every(([name, value]) => (request.parameter(name) ?? value) === value)

/** The one with the id in the path. */
function found<T extends { id: string }>(request: IdentityRequest, what: string, all: readonly T[]): T {
  const id = request.param('id')
  const one = all.find(item => item.id === id)
  if (!one) throw problem('identity_not_found', { what, name: id })
  return one
}

listServices.operation = {
  summary: 'List the services: our APIs, and what the configuration names',
  query: [parametersOf('name', 'type')],
  answers: { 200: listShape('services', ShownService) },
} satisfies Operation

export function listServices(request: IdentityRequest): Answer {
  const wanted = servicesOf(request).filter(({ name, type }) => isAsked(request, { name, type }))
  const items = wanted.map(service => shownService(service, request))
  return listOf(request, 'services', '/services', items)
}

showService.operation = {
  summary: 'Show a service',
  answers: { 200: Type.Object({ service: ShownService }) },
} satisfies Operation

export function showService(request: IdentityRequest): Answer {
  const all = servicesOf(request).map(service => shownService(service, request))
  return { status: 200, body: { service: found(request, 'service', all) } }
}

listEndpoints.operation = {
  summary: 'List the endpoints of the services',
  query: [parametersOf('service_id', 'interface', 'region_id')],
  answers: { 200: listShape('endpoints', ShownEndpoint) },
} satisfies Operation

export function listEndpoints(request: IdentityRequest): Answer {
  const items = endpoints(request).filter(endpoint =>
    isAsked(request, {
      service_id: endpoint.service_id,
      interface: endpoint.interface,
      region_id: endpoint.region_id,
    }),
  )
  return listOf(request, 'endpoints', '/endpoints', items)
}

showEndpoint.operation = {
  summary: 'Show an endpoint',
  answers: { 200: Type.Object({ endpoint: ShownEndpoint }) },
} satisfies Operation

export function showEndpoint(request: IdentityRequest): Answer {
  return { status: 200, body: { endpoint: found(request, 'endpoint', endpoints(request)) } }
}

listRegions.operation = {
  summary: 'List the regions: ours, and those that the configuration names',
  query: [parametersOf('parent_region_id')],
  answers: { 200: listShape('regions', ShownRegion) },
} satisfies Operation

export function listRegions(request: IdentityRequest): Answer {
  const isMeant = request.parameter('parent_region_id') === null
  return listOf(request, 'regions', '/regions', isMeant ? regions(request) : [])
}

showRegion.operation = {
  summary: 'Show a region',
  answers: { 200: Type.Object({ region: ShownRegion }) },
} satisfies Operation

export function showRegion(request: IdentityRequest): Answer {
  return { status: 200, body: { region: found(request, 'region', regions(request)) } }
}
