// A client of the Compute API for tests.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, describe } from 'node:test'
import type { Config } from '../../src/config/config.ts'
import { Baremetal } from './baremetal.ts'
import { type Answer, Client, type Options } from './client.ts'
import { expectStatus, Placement } from './placement.ts'
import { type Server, spawnServer, startServer } from './server.ts'
import { type Databases, eachDatabase } from './stores.ts'

const DEADLINE_MS = 15_000
export const CIRROS = 'c14405a4-0000-4000-8000-000000000001'

/** A plain member of a project. */
export const member = (project: string): Options => ({
  token: `someone:${project}`,
  headers: { 'x-roles': 'member' },
})

export class Compute extends Client {
  /** The same server's other APIs. */
  readonly placement = new Placement()
  readonly baremetal = new Baremetal()
  #names = 0

  constructor(...origins: string[]) {
    super('/compute/v2.1', ...origins)
    this.reach(origins)
  }

  reach(origins: string[]): void {
    this.origins = this.placement.origins = this.baremetal.origins = this.baremetal.placement.origins = origins
  }

  override request(method: string, path: string, body?: unknown, options: Options = {}): Promise<Answer> {
    const { version = '2.1', headers = {}, ...rest } = options
    const own = version === null ? {} : { 'x-openstack-nova-api-version': version }
    return super.request(method, path, body, { ...rest, version: null, headers: { ...own, ...headers } })
  }

  newName = (kind: string) => `${kind}-${++this.#names}`

  /** Creates a hypervisor and returns its name. */
  async hypervisor(
    sizes: { VCPU?: number; MEMORY_MB?: number; DISK_GB?: number } = {},
    name = this.newName('host'),
  ): Promise<string> {
    await this.placement.provider({ VCPU: 8, MEMORY_MB: 16_384, DISK_GB: 200, ...sizes }, { name })
    return name
  }

  /** The uuid of the provider with this name. */
  async providerOf(name: string): Promise<string> {
    const { body } = expectStatus(await this.placement.get(`/resource_providers?name=${name}`), 200)
    return body.resource_providers[0].uuid
  }

  usages = async (host: string) => this.placement.usages(await this.providerOf(host))

  /** Creates a flavor and returns its id. */
  async flavor(attributes: object = {}, specs: Record<string, string> = {}): Promise<string> {
    const wanted = { name: this.newName('flavor'), vcpus: 1, ram: 512, disk: 1, ...attributes }
    const { id } = expectStatus(await this.post('/flavors', { flavor: wanted }), 200).body.flavor
    if (Object.keys(specs).length > 0) {
      expectStatus(await this.post(`/flavors/${id}/os-extra_specs`, { extra_specs: specs }), 200)
    }
    return id
  }

  create(flavor: string, more: object = {}, options?: Options): Promise<Answer> {
    const server = { name: this.newName('server'), flavorRef: flavor, imageRef: CIRROS, ...more }
    return this.post('/servers', { server }, options)
  }

  /** Creates a server, and returns it as shown right after. */
  async server(flavor: string, more: object = {}, options?: Options) {
    const { body } = expectStatus(await this.create(flavor, more, options), 202)
    return this.show(body.server.id, options)
  }

  async show(id: string, options?: Options) {
    return expectStatus(await this.get(`/servers/${id}`, options), 200).body.server
  }

  action(id: string, name: string, given: unknown = null, options?: Options): Promise<Answer> {
    return this.post(`/servers/${id}/action`, { [name]: given }, options)
  }

  /** Waits until the server is in the wanted state. */
  async until(id: string, isThere: (server: Record<string, unknown>) => boolean) {
    const deadline = performance.now() + DEADLINE_MS
    for (;;) {
      const server = await this.show(id)
      if (isThere(server)) return server
      if (performance.now() > deadline) return assert.fail(`server ${id} is ${JSON.stringify(server)}`)
      await sleep(10)
    }
  }

  untilStatus = (id: string, status: string) => this.until(id, server => server['status'] === status)

  async untilGone(id: string): Promise<void> {
    const deadline = performance.now() + DEADLINE_MS
    while ((await this.get(`/servers/${id}`)).status !== 404) {
      if (performance.now() > deadline) assert.fail(`server ${id} is still there`)
      await sleep(10)
    }
  }

  async setState(name: string, state: 'up' | 'down'): Promise<Answer> {
    const response = await fetch(`${this.origin}/holdfast/v1/hypervisor-state`, {
      method: 'POST',
      headers: { 'x-auth-token': 'admin', 'content-type': 'application/json' },
      body: JSON.stringify({ name, state }),
    })
    return { status: response.status, headers: {}, body: await response.json() }
  }

  fsck = () => this.placement.fsck()

  override close(): void {
    super.close()
    this.placement.close()
    this.baremetal.close()
  }
}

/** Checks the status, and that the error has the form that Nova's clients read. */
export function expectFault(answer: Answer, status: number, pattern: RegExp = /./): Answer {
  expectStatus(answer, status)
  const [fault] = Object.values(answer.body as Record<string, { code: number; message: string }>)
  assert.equal(fault!.code, status)
  assert.match(fault!.message, pattern)
  return answer
}

interface Settings extends Partial<Config> {
  /** Fills the database before a server opens it. */
  prepare?: (database: string) => Promise<void>
}

/** One group of tests for each kind of database, with a server on it; fsck must pass at the end. */
export function eachCompute(name: string, body: (api: Compute) => void, settings: Settings = {}): void {
  const { prepare, ...config } = settings
  eachDatabase(name, databases => {
    served(databases, body, async database => {
      await prepare?.(database)
      return [await startServer(database, config)]
    })
  })
}

/** Like eachCompute, but on PostgreSQL with two servers, which get the requests in turn. */
export function eachComputeRace(name: string, body: (api: Compute) => void): void {
  eachDatabase(name, databases => {
    served(databases, body, async database =>
      databases.kind === 'sqlite'
        ? [await startServer(database)]
        : [await spawnServer(database), await spawnServer(database)],
    )
  })
}

function served(databases: Databases, body: (api: Compute) => void, start: (database: string) => Promise<Server[]>) {
  void describe('', () => {
    const api = new Compute()
    let servers: Server[] = []
    before(async () => {
      servers = await start(await databases.create())
      api.reach(servers.map(({ origin }) => origin))
    })
    body(api)
    after(async () => {
      try {
        await api.fsck()
      } finally {
        api.close()
        for (const server of servers) await server.stop()
      }
    })
  })
}
