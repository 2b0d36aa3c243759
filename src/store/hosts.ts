// Parses a PostgreSQL address, which may name several hosts as for psql, and picks one: the primary may change.
import { UsageError } from '../shared/usage-error.ts'

interface Address {
  /** The address of each host by itself. */
  urls: string[]
  /** Session settings from the address, besides ours. */
  options: string
  /** Whether a server that takes no writes will do. */
  isAnyGood: boolean
}

const SHAPE = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)([^?#]*)(?:\?([^#]*))?/

export function parseAddress(url: string): Address {
  const [, before, authority, path, search] = SHAPE.exec(url)!
  const parameters = new URLSearchParams(search)
  const take = (name: string): string | null => {
    const value = parameters.get(name)
    parameters.delete(name)
    return value
  }
  const isAnyGood = allowsAny(take('target_session_attrs'))
  const options = take('options') ?? ''
  const hosts = take('host')?.split(',') ?? null
  const ports = take('port')?.split(',') ?? null
  const at = (host: string, more: Record<string, string>) => {
    const all = new URLSearchParams([...parameters, ...Object.entries(more)])
    return `${before}${host}${path || '/'}${all.size > 0 ? `?${all.toString()}` : ''}`
  }
  if (hosts === null) {
    const port = ports?.length === 1 ? { port: ports[0]! } : {}
    return { urls: authority!.split(',').map(host => at(host, port)), options, isAnyGood }
  }
  if (ports && ports.length !== 1 && ports.length !== hosts.length) {
    throw new UsageError('the database address must have one port, or one for each host')
  }
  const urls = hosts.map((host, i) => {
    const port = ports?.[i] ?? ports?.[0]
    return at('', { host, ...(port ? { port } : {}) })
  })
  return { urls, options, isAnyGood }
}

function allowsAny(attributes: string | null): boolean {
  if (attributes === null || attributes === 'read-write' || attributes === 'primary') return false
  if (attributes === 'any') return true
  throw new UsageError(`the database must take writes: target_session_attrs can't be ${attributes}`)
}

/** Whose history a server has: all copies of a database are of one system, and each promotion begins a new timeline. */
export interface Lineage {
  system: string
  timeline: number
  /** The names of its timelines, as far as they have one. Two timelines of one number have different names. */
  eras: Readonly<Record<string, string>>
}

const WAYS_OUT = 'Holdfast refuses it: bring back the one that has it, or accept the loss and restart all its processes'

/**
 * The host to connect to: the one that served last, until it fails. A server of an older timeline is never gone back to:
 * it was left behind by a promotion, and what is written there is lost. Nor is one gone to that lacks the timeline that we
 * know: it was promoted from an older state, whatever its number.
 */
export class Hosts {
  readonly address: Address
  /** All hosts were looked at since one of them last failed. */
  isSurveyed = false
  #turn = 0
  /** Of the server that we are with. */
  #lineage: Lineage | null = null

  constructor(url: string) {
    this.address = parseAddress(url)
  }

  get count(): number {
    return this.address.urls.length
  }

  get current(): string {
    return this.address.urls[this.#turn]!
  }

  failed(url: string): void {
    this.isSurveyed = false
    // Many connections fail at once; only the first of them moves on.
    if (url === this.current) this.#turn = (this.#turn + 1) % this.count
  }

  /** We have been with a server that said whose history it has. */
  get isKnown(): boolean {
    return this.#lineage !== null
  }

  /** The name of the timeline that we are with; null as long as none is known. */
  get era(): string | null {
    return this.#lineage === null ? null : eraOf(this.#lineage, this.#lineage.timeline)
  }

  /** It was promoted after the server that we are with. */
  isAhead(lineage: Lineage): boolean {
    return this.#isOurs(lineage) && lineage.timeline > this.#lineage!.timeline && !this.isFork(lineage)
  }

  /** The server that we are with was promoted after it. */
  isBehind(lineage: Lineage): boolean {
    return this.#isOurs(lineage) && lineage.timeline < this.#lineage!.timeline
  }

  isSame(lineage: Lineage): boolean {
    return this.#isOurs(lineage) && lineage.timeline === this.#lineage!.timeline && !this.isFork(lineage)
  }

  /** It lacks the timeline that we are with, or has another one in its place. */
  isFork(lineage: Lineage): boolean {
    if (!this.#isOurs(lineage) || this.era === null || this.isBehind(lineage)) return false
    return eraOf(lineage, this.#lineage!.timeline) !== this.era
  }

  /** Why a server must not be used, and what to do; null if it may. */
  refusalOf(lineage: Lineage): string | null {
    const seen = `timeline ${this.#lineage?.timeline}`
    const its = `the database is on timeline ${lineage.timeline}`
    if (this.isBehind(lineage)) return `${its}, and lacks what was answered on ${seen}. ${WAYS_OUT}`
    if (this.isFork(lineage)) return `${its}, a fork that lacks what was answered on ${seen}. ${WAYS_OUT}`
    return null
  }

  /** From now on we are with this server. */
  adopt(url: string, lineage: Lineage): void {
    this.#lineage = lineage
    this.#turn = this.address.urls.indexOf(url)
  }

  #isOurs({ system }: Lineage): boolean {
    return this.#lineage?.system === system
  }
}

const eraOf = ({ eras }: Lineage, timeline: number): string | null => eras[timeline] ?? null
