// /v1/drivers
import { listConductors } from '../../metal/conductors.ts'
import { type Driver, INTERFACES } from '../../metal/drivers/port.ts'
import { problem } from '../../problem.ts'
import { linksTo } from './links.ts'
import { type Answer, flagParameter, type MetalRequest } from './request.ts'

const PARAMETERS = new Set(['type', 'detail', 'fields'])

/** The hosts of each driver that some conductor offers now. */
async function hostsByDriver({ context }: MetalRequest): Promise<Map<string, string[]>> {
  const hosts = new Map<string, string[]>()
  for (const { hostname, drivers, online } of await context.store.read(listConductors)) {
    if (!online) continue
    for (const name of JSON.parse(drivers) as string[]) hosts.getOrInsertComputed(name, () => []).push(hostname)
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

const isKnown = (kind: string, { has }: MetalRequest) =>
  (kind !== 'bios' || has.bios) && (kind !== 'rescue' || has.rescue) && (kind !== 'storage' || has.storageInterface)

export async function listDrivers(request: MetalRequest): Promise<Answer> {
  const given = request.parameters(PARAMETERS)
  const type = given.get('type')
  if (type !== undefined) {
    request.require('driverDetails', 'type')
    if (type !== 'dynamic' && type !== 'classic') {
      throw problem('invalid_parameter', { reason: 'The type of a driver is dynamic or classic.' })
    }
  }
  const detail = given.get('detail')
  if (detail !== undefined) request.require('driverDetails', 'detail')
  const detailed = detail !== undefined && flagParameter('detail', detail)
  const hosts = await hostsByDriver(request)
  const found = type === 'classic' ? [] : [...request.context.drivers.values()].filter(({ name }) => hosts.has(name))
  return {
    status: 200,
    body: { drivers: found.map(driver => show(driver, hosts.get(driver.name)!, detailed, request)) },
  }
}

async function find(request: MetalRequest): Promise<{ driver: Driver; hosts: string[] }> {
  const name = request.param('name')
  const driver = request.context.drivers.get(name)
  const hosts = (await hostsByDriver(request)).get(name)
  if (!driver || !hosts) throw problem('metal_not_found', { what: 'Driver', name: name.slice(0, 200) })
  return { driver, hosts }
}

export async function showDriver(request: MetalRequest): Promise<Answer> {
  const { driver, hosts } = await find(request)
  return { status: 200, body: show(driver, hosts, true, request) }
}

export async function showDriverProperties(request: MetalRequest): Promise<Answer> {
  return { status: 200, body: (await find(request)).driver.properties }
}
