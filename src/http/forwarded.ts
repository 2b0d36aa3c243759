// Decides which proxies to trust about the client's address. Never the left-most entry: the client writes that itself.
import { isIP } from 'node:net'
import { isWithin, networksIn } from '../shared/networks.ts'
import { UsageError } from '../shared/usage-error.ts'

/** Whether to trust a proxy at this address, with `hop` proxies between it and us. */
type Trust = (address: string, hop: number) => boolean

/** A number trusts that many proxies next to us; a list with commas trusts proxies at these addresses and networks. */
export function trustOf(setting: string): Trust | false {
  if (/^\d{1,2}$/.test(setting)) {
    const hops = Number(setting)
    return hops > 0 && ((_address, hop) => hop < hops)
  }
  const proxies = networksIn(
    setting,
    word =>
      new UsageError(
        `trust-forwarded: '${word}' is neither a number of proxies nor an address or a network such as 10.0.0.0/8`,
      ),
  )
  return address => isWithin(proxies, address)
}

/** The longest way to write an address. The limit is needed because an IPv6 zone may hold any text. */
const ADDRESS_CHARS_MAX = 45

export const isAddress = (text: string): boolean => isIP(text) !== 0 && text.length <= ADDRESS_CHARS_MAX
