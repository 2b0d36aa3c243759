// Decides which proxies to trust about the client's address. Never the left-most entry: the client writes that itself.
import { BlockList, isIP, isIPv4 } from 'node:net'
import { UsageError } from '../shared/usage-error.ts'

/** Whether to trust a proxy at this address, with `hop` proxies between it and us. */
type Trust = (address: string, hop: number) => boolean

/** A number trusts that many proxies next to us; a list with commas trusts proxies at these addresses and networks. */
export function trustOf(setting: string): Trust | false {
  if (/^\d{1,2}$/.test(setting)) {
    const hops = Number(setting)
    return hops > 0 && ((_address, hop) => hop < hops)
  }
  const proxies = new BlockList()
  for (const word of setting.split(',').map(part => part.trim())) addNetwork(proxies, word)
  return address => {
    const bare = withoutMapping(address)
    return isIP(bare) !== 0 && proxies.check(bare, familyOf(bare))
  }
}

function addNetwork(proxies: BlockList, word: string): void {
  const [network = '', bits, ...more] = word.split('/')
  const bitsMax = isIPv4(network) ? 32 : 128
  const isRight = isIP(network) !== 0 && more.length === 0 && (bits === undefined || /^\d{1,3}$/.test(bits))
  if (!isRight || Number(bits ?? bitsMax) > bitsMax) {
    throw new UsageError(
      `trust-forwarded: '${word}' is neither a number of proxies nor an address or a network such as 10.0.0.0/8`,
    )
  }
  proxies.addSubnet(network, Number(bits ?? bitsMax), familyOf(network))
}

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')

/** A dual-stack socket shows IPv4 addresses as ::ffff:a.b.c.d. */
const withoutMapping = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '')

/** The longest way to write an address. The limit is needed because an IPv6 zone may hold any text. */
const ADDRESS_CHARS_MAX = 45

export const isAddress = (text: string): boolean => isIP(text) !== 0 && text.length <= ADDRESS_CHARS_MAX
