// /v1/drivers
import { listConductors } from '../../metal/conductors/rows.ts'
import { type Driver, type InterfaceName, INTERFACES } from '../../metal/drivers/port.ts'
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { byName, Flag, from, named, oneOf, Text } from '../shapes.ts'
import { shownIn, TEXTS } from '../../shared/json.ts'
import { inPart, unknownField } from './collection.ts'
import { isAlive } from './conductors.ts'
import { Links, linksTo } from './links.ts'
import { type Answer, flagParameter, type MetalRequest, parametersOf } from './request.ts'
import { since, type Word } from './versions.ts'
import { Type } from '../../shared/type.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

const PARAMETERS = parametersOf({
  type: from(since('driverDetails'), oneOf('dynamic', 'classic')),
  detail: from(since('driverDetails'), Flag),
  fields: from(since('driverFields'), Text),
})
const FIELDS = parametersOf({ fields: from(since('driverFields'), Text) })

/** For each driver, the hosts of the conductors that are alive and offer it. */
async function hostsByDriver(request: MetalRequest): Promise<Map<string, string[]>> {
  const hosts = new Map<string, string[]>()
  for (const conductor of await request.context.store.read(listConductors)) {
    if (!isAlive(conductor, request)) continue
    for (const name of shownIn(conductor.drivers, TEXTS))
      hosts.getOrInsertComputed(name, () => []).push(conductor.hostname)
  }
  return hosts
}

function show({ name, interfaces }: Driver, hosts: readonly string[], detailed: boolean, request: MetalRequest) {
  const { base, has } = request
  return {
    name,
    hosts,
    links: linksTo(base, `drivers/${name}`),
    properties: linksTo(base, `drivers/${name}/properties`),
    ...(has.driverDetails && { type: 'dynamic' }),
    ...(detailed &&
      has.driverDetails &&
      Object.fromEntries(
        INTERFACES.flatMap(kind =>
          isKnown(kind, request)
            ? [
                [`default_${kind}_interface`, interfaces[kind][0]],
                [`enabled_${kind}_interfaces`, interfaces[kind]],
              ]
            : [],
        ),
      )),
  }
}

/** The interfaces that came later than the rest. */
const SINCE: Partial<Record<InterfaceName, Word>> = { bios: 'bios', rescue: 'rescue', storage: 'storageInterface' }
const isKnown = (kind: InterfaceName, { has }: MetalRequest) => !SINCE[kind] || has[SINCE[kind]]

const short = {
  name: Text,
  hosts: Type.Array(Text),
  links: Links,
  properties: Links,
  type: from(since('driverDetails'), Text),
}
const interfaceShapes = Object.fromEntries(
  INTERFACES.flatMap(kind => {
    const version = since(SINCE[kind] ?? 'driverDetails')
    return [
      [`default_${kind}_interface`, from(version, Text)],
      [`enabled_${kind}_interfaces`, from(version, Type.Array(Text))],
    ]
  }),
)
const Detailed = named('Driver', { ...short, ...interfaceShapes })

listDrivers.operation = {
  summary: 'List the drivers that conductors offer',
  query: [PARAMETERS],
  answers: { 200: Type.Object({ drivers: Type.Array(inPart(Detailed)) }) },
} satisfies Operation

export async function listDrivers(request: MetalRequest): Promise<Answer> {
  const given = request.parameters(PARAMETERS)
  const type = given.get('type')
  if (type !== undefined) {
    request.require('driverDetails', 'type')
    if (type !== 'dynamic' && type !== 'classic') {
      throw problem('invalid_parameter', { reason: 'type, that of a driver, must be dynamic or classic.' })
    }
  }
  const detail = given.get('detail')
  if (detail !== undefined) request.require('driverDetails', 'detail')
  const detailed = detail !== undefined && flagParameter('detail', detail)
  const fields = fieldsOf(given.get('fields'), request)
  if (detailed && fields) throw refuse("Can't fetch a subset of fields with 'detail' set")
  const hosts = await hostsByDriver(request)
  const found = type === 'classic' ? [] : [...request.context.drivers.values()].filter(({ name }) => hosts.has(name))
  return {
    status: 200,
    body: {
      drivers: found.map(driver =>
        picked(show(driver, hosts.get(driver.name)!, detailed || fields !== null, request), fields),
      ),
    },
  }
}

/** The fields that the client selects; null for those that are shown anyway. */
function fieldsOf(given: string | undefined, request: MetalRequest): string[] | null {
  if (given === undefined) return null
  request.require('driverFields', 'Use of the fields parameter')
  const names = given.split(',').map(name => name.trim())
  const unknown = names.find(name => !Object.hasOwn(Detailed.properties, name))
  if (unknown !== undefined) throw refuse(unknownField(unknown, Object.keys(Detailed.properties)))
  return [...names, 'links']
}

const picked = (driver: object, fields: readonly string[] | null): object =>
  fields === null ? driver : Object.fromEntries(Object.entries(driver).filter(([name]) => fields.includes(name)))

export async function findDriver(request: MetalRequest): Promise<{ driver: Driver; hosts: string[] }> {
  const name = request.param('name')
  const driver = request.context.drivers.get(name)
  const hosts = (await hostsByDriver(request)).get(name)
  if (!driver || !hosts) throw problem('metal_not_found', { what: 'Driver', name: name.slice(0, 200) })
  return { driver, hosts }
}

showDriver.operation = {
  summary: 'Show a driver',
  query: [FIELDS],
  answers: { 200: inPart(Detailed) },
} satisfies Operation

export async function showDriver(request: MetalRequest): Promise<Answer> {
  const fields = fieldsOf(request.parameters(FIELDS).get('fields'), request)
  const { driver, hosts } = await findDriver(request)
  return { status: 200, body: picked(show(driver, hosts, true, request), fields) }
}

showDriverProperties.operation = {
  summary: 'Show what a driver wants to know of a node',
  answers: { 200: byName(Text) },
} satisfies Operation

export async function showDriverProperties(request: MetalRequest): Promise<Answer> {
  return { status: 200, body: (await findDriver(request)).driver.properties }
}
