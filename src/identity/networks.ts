// Client addresses: the network that attempts are counted by, and whether a host is this machine.
import { isIPv6 } from 'node:net'

/**
 * An IPv4 address itself, but the /64 network of an IPv6 address, because one client usually has the whole /64. Other
 * text is returned as it is.
 */
export function networkOf(address: string): string {
  // Most addresses are IPv4, and the full check is a long one. A socket that is gone has no address.
  if (!address?.includes(':') || !isIPv6(address)) return address
  const [, inside] = /^::ffff:([\d.]+)$/i.exec(address) ?? []
  if (inside !== undefined) return inside
  const [head = '', tail] = address.split('::')
  const groups = groupsOf(head)
  if (tail !== undefined) while (groups.length + groupsOf(tail).length < 8) groups.push('0')
  return `${[...groups, ...groupsOf(tail ?? '')].slice(0, 4).join(':')}::/64`
}

const groupsOf = (part: string) =>
  part === '' ? [] : part.split(':').map(group => Number.parseInt(group, 16).toString(16))

/** Other machines can't reach it. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
