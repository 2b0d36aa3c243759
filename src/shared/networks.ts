// Networks: lists of them in settings, and which addresses are out on the internet.
import { BlockList, isIP, isIPv4 } from 'node:net'

/** Addresses and networks with commas between them, such as `10.0.0.0/8, ::1`. Throws `wrong` of a word that is neither. */
export function networksIn(list: string, wrong: (word: string) => Error): BlockList {
  const networks = new BlockList()
  for (const word of list.split(',').map(part => part.trim())) {
    const [network = '', bits, ...more] = word.split('/')
    const bitsMax = isIPv4(network) ? 32 : 128
    const isRight = isIP(network) !== 0 && more.length === 0 && (bits === undefined || /^\d{1,3}$/.test(bits))
    if (!isRight || Number(bits ?? bitsMax) > bitsMax) throw wrong(word)
    networks.addSubnet(network, Number(bits ?? bitsMax), familyOf(network))
  }
  return networks
}

export function isWithin(networks: BlockList, address: string): boolean {
  const bare = withoutMapping(address)
  return isIP(bare) !== 0 && networks.check(bare, familyOf(bare))
}

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')

/** A dual-stack socket shows IPv4 addresses as ::ffff:a.b.c.d. */
const withoutMapping = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '')

const listed = (list: string) => networksIn(list, word => new Error(`'${word}' is no network`))

/** By IANA's registries of special-purpose addresses: this machine, private and carriers' networks, link-local with the
 * metadata services of clouds, tests and documents, multicast and reserved. */
const SPECIAL_V4 = listed(
  '0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.0.0.0/24, 192.0.2.0/24, ' +
    '192.31.196.0/24, 192.52.193.0/24, 192.88.99.0/24, 192.168.0.0/16, 192.175.48.0/24, 198.18.0.0/15, ' +
    '198.51.100.0/24, 203.0.113.0/24, 224.0.0.0/4, 240.0.0.0/4',
)
/** Only this part of IPv6 is handed out. Loopback, private, link-local, mapped and NAT64 addresses are outside of it. */
const GLOBAL_V6 = listed('2000::/3')
/** Of that: protocols such as Teredo, documents, and 6to4, which can lead to any IPv4 address. */
const SPECIAL_V6 = listed('2001::/23, 2001:db8::/32, 2002::/16, 2620:4f:8000::/48, 3fff::/20')

/** Whether an address is out on the internet: not on this machine, and not in a network that only insiders reach. */
export function isPublic(address: string): boolean {
  const bare = withoutMapping(address)
  if (isIPv4(bare)) return !SPECIAL_V4.check(bare, 'ipv4')
  return isIP(bare) === 6 && GLOBAL_V6.check(bare, 'ipv6') && !SPECIAL_V6.check(bare, 'ipv6')
}
