// HPE's ways: ids of PCI functions are decimal text, and GPUs may stand only in a list of its own.
import type { Json } from '../port.ts'
import { linkIn, type Resource } from './bmc.ts'
import { objectIn, textIn } from './inspect-values.ts'

const ownOf = (body: Json): Json => objectIn(objectIn(body, 'Oem'), 'Hpe')

export const isHpe = (root: Json): boolean =>
  Object.keys(ownOf(root)).length > 0 || /^(hpe?|hewlett packard enterprise)$/i.test(textIn(root, 'Vendor') ?? '')

/** The function as the standard writes it: `4139` is 0x102b, and class `3` is 0x030000. */
export function standardFunction(body: Json): Json {
  const standard = { ...body }
  for (const name of ['VendorId', 'DeviceId', 'SubsystemId', 'SubsystemVendorId']) {
    const id = decimalIn(body[name])
    if (id !== null) standard[name] = `0x${id.toString(16).padStart(4, '0')}`
  }
  const baseClass = decimalIn(body['ClassCode'])
  if (baseClass !== null && baseClass <= 0xff)
    standard['ClassCode'] = `0x${baseClass.toString(16).padStart(2, '0')}0000`
  return standard
}

const decimalIn = (value: unknown): number | null =>
  typeof value === 'string' && /^\d{1,5}$/.test(value.trim()) ? Number(value) : null

/** Where a chassis lists its cards. */
export const devicesOf = (chassis: Json): string | null => linkIn(objectIn(ownOf(chassis), 'Links'), 'Devices')

export const isGpu = ({ body }: Resource): boolean => textIn(body, 'DeviceType') === 'GPU'
