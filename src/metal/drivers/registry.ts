// The drivers that this process knows, by name.
import { discreet } from './discreet.ts'
import type { Driver, InterfaceName, Json } from './port.ts'
import { INTERFACES } from './port.ts'

export type Drivers = ReadonlyMap<string, Driver>

export function driversOf(...drivers: readonly Driver[]): Drivers {
  return new Map(drivers.map(driver => [driver.name, discreet(driver)]))
}

/** All interfaces of a node: what was chosen, else the driver's defaults. */
export function interfacesFor(driver: Driver, chosen: Json): Record<InterfaceName, string> {
  const pick = (name: InterfaceName) => (chosen[name] as string | undefined) ?? driver.interfaces[name][0]
  return Object.fromEntries(INTERFACES.map(name => [name, pick(name)])) as Record<InterfaceName, string>
}
