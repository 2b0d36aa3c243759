// A Nova over HTTP. Answers are read with care: what isn't there or is of another kind is left out, and crashes nothing.
import { isObject } from '../shared/is-object.ts'
import { limits } from '../shared/limits.ts'
import {
  type Nova,
  NovaAway,
  type NovaFlavor,
  type NovaHypervisor,
  type NovaMigration,
  type NovaServer,
} from './port.ts'
import { Wire } from './wire.ts'

type Row = Readonly<Record<string, unknown>>

const textOr = <T>(value: unknown, other: T) => (typeof value === 'string' ? value : other)
const numberIn = (value: unknown) => (typeof value === 'number' ? value : 0)
const rowIn = (value: unknown): Row => (isObject(value) ? value : {})

/** Those that are numbers above zero: Nova says 0 or an empty text where there is none. */
const aboveZero = (given: Row): Record<string, number> =>
  Object.fromEntries(Object.entries(given).filter((one): one is [string, number] => numberIn(one[1]) > 0))

export class NovaClient implements Nova {
  readonly #wire: Wire

  constructor(options: ConstructorParameters<typeof Wire>[0]) {
    this.#wire = new Wire(options)
  }

  close(): Promise<void> {
    return this.#wire.close()
  }

  async hypervisors(): Promise<NovaHypervisor[]> {
    return (await this.#list('/os-hypervisors/detail', {}, 'hypervisors')).map(row => {
      const service = rowIn(row['service'])
      return {
        id: textOr(row['id'], ''),
        hostname: textOr(row['hypervisor_hostname'], ''),
        service: textOr(service['host'], ''),
        state: row['state'] === 'up' ? 'up' : 'down',
        status: row['status'] === 'disabled' ? 'disabled' : 'enabled',
        disabledReason: textOr(service['disabled_reason'], null),
      }
    })
  }

  async flavor(id: string): Promise<NovaFlavor | null> {
    const row = await this.#one(`/flavors/${encodeURIComponent(id)}`, 'flavor')
    return (
      row && {
        id: textOr(row['id'], id),
        name: textOr(row['name'], ''),
        vcpus: numberIn(row['vcpus']),
        ram_mb: numberIn(row['ram']),
        disk_gb: numberIn(row['disk']),
        ...aboveZero({ ephemeral_gb: row['OS-FLV-EXT-DATA:ephemeral'], swap_mb: row['swap'] }),
        is_public: row['os-flavor-access:is_public'] !== false,
        extra_specs: Object.fromEntries(
          Object.entries(rowIn(row['extra_specs'])).map(([key, value]) => [key, String(value)]),
        ),
      }
    )
  }

  async createFlavor(wanted: NovaFlavor): Promise<'made' | 'taken'> {
    const { id, name, vcpus, ram_mb, disk_gb, ephemeral_gb, swap_mb, is_public } = wanted
    const flavor = {
      id,
      name,
      vcpus,
      ram: ram_mb,
      disk: disk_gb,
      'os-flavor-access:is_public': is_public,
      ...aboveZero({ 'OS-FLV-EXT-DATA:ephemeral': ephemeral_gb, swap: swap_mb }),
    }
    const { status } = await this.#wire.request('POST', '/flavors', { flavor }, [409])
    return status === 409 ? 'taken' : 'made'
  }

  async setExtraSpecs(flavor: string, specs: Readonly<Record<string, string>>): Promise<void> {
    await this.#wire.request('POST', `/flavors/${encodeURIComponent(flavor)}/os-extra_specs`, { extra_specs: specs })
  }

  async deleteFlavor(id: string): Promise<void> {
    await this.#wire.request('DELETE', `/flavors/${encodeURIComponent(id)}`, null, [404])
  }

  async flavorAccess(id: string): Promise<string[]> {
    const path = `/flavors/${encodeURIComponent(id)}/os-flavor-access`
    const { body } = await this.#wire.request('GET', path, null, [404])
    return rowsIn(body, 'flavor_access').map(row => textOr(row['tenant_id'], ''))
  }

  async grantAccess(flavor: string, project: string): Promise<void> {
    await this.#access(flavor, { addTenantAccess: { tenant: project } }, 409)
  }

  async revokeAccess(flavor: string, project: string): Promise<void> {
    await this.#access(flavor, { removeTenantAccess: { tenant: project } }, 404)
  }

  async server(id: string): Promise<NovaServer | null> {
    const row = await this.#one(`/servers/${encodeURIComponent(id)}`, 'server')
    return row && serverOf(row)
  }

  async serversOfFlavor(id: string): Promise<NovaServer[]> {
    return (await this.#list('/servers/detail', { all_tenants: '1', flavor: id }, 'servers')).map(serverOf)
  }

  async deleteServer(id: string, isForced: boolean): Promise<'accepted' | 'gone'> {
    const path = `/servers/${encodeURIComponent(id)}`
    const { status } = isForced
      ? await this.#wire.request('POST', `${path}/action`, { forceDelete: null }, [404])
      : await this.#wire.request('DELETE', path, null, [404])
    return status === 404 ? 'gone' : 'accepted'
  }

  async confirmResize(server: string): Promise<void> {
    await this.#wire.request('POST', `/servers/${encodeURIComponent(server)}/action`, { confirmResize: null })
  }

  async migrationsFrom(host: string): Promise<NovaMigration[]> {
    const rows = await this.#list('/os-migrations', { source_compute: host }, 'migrations')
    return rows.map(row => ({
      uuid: textOr(row['uuid'], ''),
      server: textOr(row['instance_uuid'], ''),
      status: textOr(row['status'], ''),
      source: textOr(row['source_compute'], null),
      target: textOr(row['dest_compute'], null),
    }))
  }

  /** The newest version that this Nova speaks, such as 2.93. */
  async newestVersion(): Promise<string | null> {
    const { body } = await this.#wire.request('GET', '/', null)
    return textOr(rowIn(rowIn(body)['version'])['version'], null)
  }

  async #access(flavor: string, action: object, done: number): Promise<void> {
    await this.#wire.request('POST', `/flavors/${encodeURIComponent(flavor)}/action`, action, [done])
  }

  async #one(path: string, member: string): Promise<Row | null> {
    const { status, body } = await this.#wire.request('GET', path, null, [404])
    if (status === 404) return null
    const row = rowIn(body)[member]
    if (!isObject(row)) throw strange(path)
    return row
  }

  /** All pages of a list. */
  async #list(path: string, filters: Readonly<Record<string, string>>, member: string): Promise<Row[]> {
    const rows: Row[] = []
    const late = AbortSignal.timeout(limits.novaListMsMax)
    let query = new URLSearchParams(filters).toString()
    for (let page = 0; page < limits.novaPagesMax && !late.aborted; page++) {
      const { body } = await this.#wire.request('GET', query === '' ? path : `${path}?${query}`, null)
      if (!Array.isArray(rowIn(body)[member])) throw strange(path)
      rows.push(...rowsIn(body, member))
      const next = rowsIn(body, `${member}_links`).find(({ rel }) => rel === 'next')?.['href']
      // Only its query: the address may be one that we can't reach.
      const following = typeof next === 'string' ? URL.parse(next, 'http://nova')?.searchParams.toString() : undefined
      if (following === undefined || following === query) return rows
      query = following
    }
    throw new NovaAway(`Nova's list at ${path} does not end.`)
  }
}

const strange = (path: string) => new NovaAway(`Nova's answer to GET ${path} can't be read.`)

const rowsIn = (body: unknown, member: string): Row[] => {
  const found = rowIn(body)[member]
  return Array.isArray(found) ? found.filter(isObject) : []
}

const serverOf = (row: Row): NovaServer => ({
  id: textOr(row['id'], ''),
  project_id: textOr(row['tenant_id'], ''),
  status: textOr(row['status'], ''),
  task: textOr(row['OS-EXT-STS:task_state'], null),
  host: textOr(row['OS-EXT-SRV-ATTR:host'], null),
  flavor: textOr(rowIn(row['flavor'])['original_name'], null),
})
