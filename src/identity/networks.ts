// Whom an address stands for: a caller, where callers are counted by it, or this machine.
import { isIPv6 } from 'node:net'

/**
 * The address of IPv4; of IPv6 the network of 64 bits, because whoever has one address there has all of them. What isn't an
 * address stands for itself.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [, inside] = /^::ffff:([\d.]+)$/i.exec(address) ?? []
  if (inside !== undefined) return inside
  const [head = '', tail] = address.split('::')
  const groups = groupsOf(head)
  if (tail !== undefined) while (groups.length + groupsOf(tail).length < 8) groups.push('0')
  return `${[...groups, ...groupsOf(tail ?? '')].slice(0, 4).join(':')}::/64`
}

const groupsOf = (part: string) =>
  part === '' ? [] : part.split(':').map(group => Number.parseInt(group, 16).toString(16))

/** Nobody reaches it from another machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
