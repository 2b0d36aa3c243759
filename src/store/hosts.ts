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
}

/**
 * The host to connect to: the one that served last, until it fails. A server of an older timeline is never gone back to:
 * it was left behind by a promotion, and what is written there is lost.
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

  /** It was promoted after the server that we are with. */
  isAhead({ system, timeline }: Lineage): boolean {
    return this.#lineage?.system === system && timeline > this.#lineage.timeline
  }

  /** The server that we are with was promoted after it. */
  isBehind({ system, timeline }: Lineage): boolean {
    return this.#lineage?.system === system && timeline < this.#lineage.timeline
  }

  isSame({ system, timeline }: Lineage): boolean {
    return this.#lineage?.system === system && timeline === this.#lineage.timeline
  }

  /** From now on we are with this server. */
  adopt(url: string, lineage: Lineage): void {
    this.#lineage = lineage
    this.#turn = this.address.urls.indexOf(url)
  }
}
