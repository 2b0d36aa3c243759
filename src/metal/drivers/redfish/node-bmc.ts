// The BMC of one node: finds its system, managers and chassis, and reads and changes resources.
import { atOnce } from '../../../shared/at-once.ts'
import { isObject } from '../../../shared/is-object.ts'
import { limits } from '../../../shared/limits.ts'
import { HardwareFailure, type Json } from '../port.ts'
import { type Bmc, BmcRefusal, linkIn, type Resource } from './bmc.ts'
import { Budget } from './budget.ts'
import { finished, patched } from './changes.ts'
import { type Client, isAccessError, type Wanted } from './client.ts'
import type { Reply } from './wire.ts'
import { hostOf } from './words.ts'

interface NodeBmcOptions {
  readonly client: Client
  readonly systemId: string | null
  readonly asking: Pick<Wanted, 'signal' | 'tries' | 'requireLock'>
  /** The login was refused. */
  readonly onRefused: () => void
}

const lastOf = (path: string) => path.replace(/\/+$/, '').split('/').at(-1)!
const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

export class NodeBmc implements Bmc {
  readonly #options: NodeBmcOptions
  readonly #client: Client

  constructor(options: NodeBmcOptions) {
    this.#options = options
    this.#client = options.client
  }

  async get(path: string): Promise<Resource> {
    return this.#resource(await this.#request({ method: 'GET', path }))
  }

  async find(path: string | null): Promise<Resource | null> {
    if (path === null) return null
    try {
      return await this.get(path)
    } catch (error) {
      if (error instanceof BmcRefusal && error.status === 404) return null
      throw error
    }
  }

  async members(path: string | null): Promise<Resource[]> {
    const budget = new Budget(path ?? '')
    const listed = await this.#listed(path, budget)
    return this.#readAll(listed, async member =>
      isExpanded(member.body) ? member : budget.count(await this.find(member.path)),
    )
  }

  /** In their order. A BMC is asked for few things at a time. */
  async #readAll<T>(wanted: readonly T[], read: (one: T) => Promise<Resource | null>): Promise<Resource[]> {
    const found: (Resource | null)[] = []
    await atOnce(wanted, async (one, at) => void (found[at] = await read(one)), { width: limits.redfishConnections })
    return found.filter(resource => resource !== null)
  }

  async patch(path: string, body: Json, { wait = true } = {}): Promise<void> {
    const { asking } = this.#options
    await this.#guarded(async () => {
      const reply = await patched(this.#client, path, body, asking)
      if (wait) await finished(this.#client, reply, asking)
    })
  }

  async post(path: string, body: Json | null, { wait = true } = {}): Promise<Resource> {
    const wanted = { method: 'POST', path, body } as const
    const reply = await (wait ? this.#finished(wanted) : this.#request(wanted))
    const made = linkIn(reply.body) ?? pathOf(reply.header('location')) ?? path
    return { path: made, body: isObject(reply.body) ? reply.body : {} }
  }

  async delete(path: string, { wait = true } = {}): Promise<void> {
    const wanted = { method: 'DELETE', path } as const
    await (wait ? this.#finished(wanted) : this.#request(wanted))
  }

  async root(): Promise<Resource> {
    return this.#resource(await this.#guarded(() => this.#client.root(this.#options.asking)))
  }

  async system(): Promise<Resource> {
    const { systemId } = this.#options
    const known = this.#client.systemPaths.get(systemId)
    const found = (known && (await this.find(known))) || (await this.get(await this.#systemPath()))
    // What answers under another path, as after a redirect, says itself what it is called.
    this.#client.systemPaths.set(systemId, found.path)
    return found
  }

  async managers(): Promise<Resource[]> {
    const { body } = await this.system()
    const links = linksIn(body, 'ManagedBy')
    return this.#each(links.length > 0 ? links : linksIn(body, 'Managers'), 'Managers')
  }

  async chassis(): Promise<Resource[]> {
    return this.#each(linksIn((await this.system()).body, 'Chassis'), 'Chassis')
  }

  /** Those that the system names; if it names none, the only one that there is. */
  async #each(links: readonly string[], collection: 'Managers' | 'Chassis'): Promise<Resource[]> {
    let paths = links
    if (paths.length === 0) {
      const all = await this.#listed(linkIn((await this.root()).body, collection))
      paths = all.length === 1 ? all.map(({ path }) => path) : []
    }
    const budget = new Budget(collection)
    return this.#readAll(paths.slice(0, limits.redfishMembersMax), async path => budget.count(await this.find(path)))
  }

  async #systemPath(): Promise<string> {
    const { systemId } = this.#options
    if (systemId?.startsWith('/')) return systemId
    const collection = linkIn((await this.root()).body, 'Systems')
    const all = await this.#listed(collection)
    if (systemId === null) {
      if (all.length === 1) return all[0]!.path
      throw new HardwareFailure(this.#which(all, all.length === 0 ? 'has no system' : 'has several systems'))
    }
    const named = all.find(({ path }) => same(lastOf(path), lastOf(systemId)))
    if (named) return named.path
    // Not every BMC lists each name that it knows.
    const direct = await this.find(`${collection?.replace(/\/+$/, '')}/${encodeURIComponent(systemId)}`)
    if (direct) return direct.path
    const alike = (await this.members(collection)).find(({ body }) =>
      [body['UUID'], body['Name'], body['HostName']].some(name => typeof name === 'string' && same(name, systemId)),
    )
    if (alike) return alike.path
    throw new HardwareFailure(this.#which(all, `has no system ${systemId}`))
  }

  #which(all: readonly Resource[], trouble: string): string {
    const listed = all.map(({ path }) => path).join(', ')
    const advice =
      all.length === 0 ? '' : `: set redfish_system_id to one of ${listed.slice(0, limits.redfishWordsMax)}`
    return `The BMC at ${hostOf(this.#client.access)} ${trouble}${advice}.`
  }

  /** The links of a collection, page by page, as they stand there. */
  async #listed(path: string | null, budget = new Budget(path ?? '')): Promise<Resource[]> {
    const all: Resource[] = []
    const seen = new Set<string>()
    const goesOn = () => seen.size < limits.redfishPagesMax && all.length < limits.redfishMembersMax
    for (let next = path; next !== null && !seen.has(next) && goesOn();) {
      seen.add(next)
      const page: Resource | null = budget.count(await this.find(next))
      const members = page?.body['Members']
      for (const member of Array.isArray(members) ? (members as unknown[]) : []) {
        const link = linkIn(member)
        if (link !== null) all.push({ path: link, body: member as Json })
      }
      const further = page?.body['Members@odata.nextLink'] ?? page?.body['@odata.nextLink']
      next = linkIn(typeof further === 'string' ? { '@odata.id': further } : further) || null
    }
    return all.slice(0, limits.redfishMembersMax)
  }

  async #finished(wanted: Pick<Wanted, 'method' | 'path' | 'body'>): Promise<Reply> {
    const { asking } = this.#options
    return this.#guarded(async () =>
      finished(this.#client, await this.#client.request({ ...asking, ...wanted }), asking),
    )
  }

  #request(wanted: Pick<Wanted, 'method' | 'path' | 'body'>): Promise<Reply> {
    return this.#guarded(() => this.#client.request({ ...this.#options.asking, ...wanted }))
  }

  async #guarded<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      if (isAccessError(error)) this.#options.onRefused()
      throw error
    }
  }

  #resource({ path, body, text }: Reply): Resource {
    if (isObject(body)) return { path: linkIn(body) ?? path, body, chars: text.length }
    throw new HardwareFailure(
      `The BMC at ${hostOf(this.#client.access)} answers GET ${path} with something that is not JSON.`,
    )
  }
}

/** Some collections come with their members in full. */
const isExpanded = (body: Json) => Object.keys(body).some(key => !key.startsWith('@'))

const pathOf = (location: string | null) => {
  const url = location === null ? null : URL.parse(location, 'http://bmc')
  return url && url.pathname + url.search
}

function linksIn(body: Json, name: string): string[] {
  const links = isObject(body['Links']) ? body['Links'][name] : null
  return (Array.isArray(links) ? (links as unknown[]) : [links]).map(link => linkIn(link)).filter(link => link !== null)
}
