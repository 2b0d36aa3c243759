// How a machine is reached: the host of its BMC, as its driver knows it.
import { type Json, type JsonText, MEMBERS, shownIn } from '../shared/json.ts'

/** Drivers call it `ipmi_address`, `redfish_address` and so on. Some have a URL there. */
const IS_ADDRESS = /^(\w+_)?address$/

/** Null if the driver knows none. Most texts are looked through, so the rest of it is left alone. */
export function bmcOf(driverInfo: JsonText<Json>): string | null {
  if (!driverInfo.includes('address"')) return null
  const found = Object.entries(shownIn(driverInfo, MEMBERS)).find(
    ([name, value]) => IS_ADDRESS.test(name) && typeof value === 'string' && value !== '',
  )
  return found === undefined ? null : hostIn(found[1] as string)
}

/** Without scheme, user, password, port and path. */
function hostIn(address: string): string {
  const { hostname } = URL.parse(address.includes('://') ? address : `https://${address}`) ?? { hostname: '' }
  return hostname === '' ? address.slice(0, 255) : hostname
}
