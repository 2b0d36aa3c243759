// Where webhooks may go. What matters is the address that is connected to: a name may lead to another one each time it
// is looked up. So addresses are checked when a name is resolved for a connection, and that is what is connected to.
import type { LookupAddress } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'
import { type BlockList, isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { Gate } from '../shared/gate.ts'
import { problem } from '../problems/problem.ts'
import { limits } from '../shared/limits.ts'
import { isPublic, isWithin } from '../shared/networks.ts'

export interface TargetRules {
  /** Networks inside that the operator allows; also without TLS. */
  readonly allowed: BlockList
  /** The domains whose people may be written to; null when there is no mail. */
  readonly mailDomains: readonly string[] | null
}

/** An address that we don't connect to. */
export class Inside extends Error {}

export const isMail = (url: string): boolean => url.startsWith('mailto:')

/** Whether an address may be connected to. Without TLS others could read what is sent, so only inside. */
export const isOpenTo = (address: string, url: URL, { allowed }: TargetRules): boolean =>
  isWithin(allowed, address) || (url.protocol === 'https:' && isPublic(address))

const refuse = (reason: string) => problem('webhook_invalid', { reason })

/** The URL as it is kept, or a problem that says what is wrong with it. Names are not looked up. */
export function targetIn(text: string, rules: TargetRules): URL {
  if (text.length > limits.webhookUrlCharsMax) {
    throw refuse(`A URL may have at most ${limits.webhookUrlCharsMax} characters.`)
  }
  const url = URL.parse(text)
  if (url?.protocol === 'mailto:') return addresseeIn(url, rules)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') throw refuse('url must be an https or mailto address.')
  if (url.username !== '' || url.password !== '') {
    throw refuse('url must hold no user and no password: receivers know us by the signature.')
  }
  if (url.hash !== '') throw refuse('url must hold no #fragment.')
  const port = Number(url.port)
  if (url.port !== '' && port < 1_024 && port !== 80 && port !== 443) {
    throw refuse(`Port ${port} belongs to another protocol; use 443, 80, or one from 1024 on.`)
  }
  const host = hostOf(url)
  if (isIP(host) !== 0) requireOpen([host], url, rules)
  return url
}

/** An IPv6 address without its brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

function requireOpen(addresses: readonly string[], url: URL, rules: TargetRules): void {
  if (addresses.some(address => isOpenTo(address, url, rules))) return
  const isOut = addresses.some(isPublic)
  throw refuse(
    isOut
      ? 'url must be https: without it others could read what is sent.'
      : `${url.hostname} is inside, at an address that the operator does not allow (--webhook-allow).`,
  )
}

/** Looks the name up, for a clear answer to whoever registers it. That it leads elsewhere later is checked later. */
export async function requireReachable(url: URL, rules: TargetRules): Promise<void> {
  if (isMail(url.href) || isIP(hostOf(url)) !== 0) return
  let found: LookupAddress[]
  try {
    found = await addressesOf(url.hostname)
  } catch (error) {
    // No name service now: that passes, and deliveries are tried again.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTFOUND') return
    throw refuse(`There is no host ${url.hostname}.`)
  }
  requireOpen(
    found.map(({ address }) => address),
    url,
    rules,
  )
}

// Of the signs that a name may have, only those of people: to some mail servers others are a route, a program or a file.
const ADDRESSEE = /^[A-Za-z0-9_][A-Za-z0-9.'+=_~-]{0,63}@([A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+)$/

/** One person, in a domain that the operator named: nobody can make us write to strangers. */
function addresseeIn(url: URL, { mailDomains }: TargetRules): URL {
  if (mailDomains === null) throw refuse('This server sends no mail: its operator has set no --mail-smtp.')
  const [, domain] = ADDRESSEE.exec(url.pathname) ?? []
  if (domain === undefined || url.search !== '' || url.hash !== '') {
    throw refuse('url must be mailto: with one plain address, such as mailto:alice@example.org.')
  }
  if (!mailDomains.includes(domain.toLowerCase())) {
    throw refuse(`Mail goes only to ${mailDomains.join(', ')}, not to ${domain}.`)
  }
  return url
}

/** Resolves names for connections, and leaves out the addresses that we don't connect to. */
export const lookupFor =
  (url: URL, rules: TargetRules): LookupFunction =>
  (hostname, options, done) => {
    callbackify(openAddressesOf)(hostname, url, rules, (error, open) => {
      if (error) done(error, [])
      else if (options.all) done(null, open)
      else done(null, open[0]!.address, open[0]!.family)
    })
  }

async function openAddressesOf(hostname: string, url: URL, rules: TargetRules): Promise<LookupAddress[]> {
  const open = (await addressesOf(hostname)).filter(({ address }) => isOpenTo(address, url, rules))
  if (open.length === 0) throw new Inside(`${hostname} leads inside, where the operator allows no webhooks`)
  return open
}

/**
 * The name service is asked without the system's own lookup: that takes one of four threads of the process, and whoever
 * answers slowly for a name could take them all. Only what the name service doesn't know is looked up there: names in
 * the machine's hosts file, and short ones.
 */
async function addressesOf(hostname: string): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: limits.nameLookupMs, tries: 2 })
  const asked = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const found = asked.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []))
  if (found.length > 0) return found.map(address => ({ address, family: isIP(address) }))
  return systemLookups.pass(() => lookup(hostname, { all: true }))
}

const systemLookups = new Gate({
  places: 1,
  waitMsMax: limits.deliveryMsMax,
  refusal: () => new Error('the name could not be looked up in time'),
})
