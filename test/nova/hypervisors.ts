// A Nova that says which hypervisors it has, and nothing else of interest; and a Holdfast beside it.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe } from 'node:test'
import type { Config } from '../../src/config/config.ts'
import { Reservation } from '../support/reservation.ts'
import { type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

interface Listed {
  id: string
  hostname: string
  service: string
  state: 'up' | 'down'
  status: 'enabled' | 'disabled'
  reason: string | null
}

export class ListingNova {
  readonly hypervisors = new Map<string, Listed>()
  /** It answers with this status while it is set. */
  failsWith: number | null = null
  looks = 0
  readonly #server = createServer((request, response) => this.#answer(request, response))

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v2.1`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  list(hostname: string, id: string, more: Partial<Listed> = {}): void {
    const usual = { service: hostname, state: 'up', status: 'enabled', reason: null } as const
    this.hypervisors.set(hostname, { id, hostname, ...usual, ...more })
  }

  change(hostname: string, more: Partial<Listed>): void {
    this.hypervisors.set(hostname, { ...this.hypervisors.get(hostname)!, ...more })
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    request.resume()
    const isLook = request.url!.includes('/os-hypervisors')
    const hypervisors = [...this.hypervisors.values()].map(({ id, hostname, service, state, status, reason }) => ({
      id,
      hypervisor_hostname: hostname,
      state,
      status,
      service: { id: 'service', host: service, disabled_reason: reason },
    }))
    if (isLook) this.looks++
    const say = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    if (this.failsWith !== null) say(this.failsWith, { computeFault: { code: this.failsWith, message: 'not today' } })
    else if (isLook) say(200, { hypervisors })
    else if (request.method === 'GET') say(404, { itemNotFound: { code: 404, message: 'none' } })
    else say(200, { flavor: {} })
  }
}

/** Its hosts are in Placement, as nova-compute puts them there, and in Nova. */
export class BesideNova extends Reservation {
  readonly nova: ListingNova

  constructor(nova: ListingNova) {
    super()
    this.nova = nova
  }

  override async computeNode(...about: Parameters<Reservation['computeNode']>): Promise<string> {
    const uuid = await super.computeNode(...about)
    this.nova.list(about[0], uuid)
    return uuid
  }

  /** Lets Holdfast look at Nova, and heal. */
  async look(): Promise<void> {
    await this.advance(0)
    await this.advance(0)
  }

  /** As nova-compute does each period: finds its provider by uuid, or makes it. Returns whether it has one. */
  async report(name: string): Promise<boolean> {
    const { id } = this.nova.hypervisors.get(name)!
    const tree = await this.placement.get(`/resource_providers?in_tree=${id}`)
    if (tree.body.resource_providers.length > 0) return true
    return (await this.placement.post('/resource_providers', { uuid: id, name })).status === 200
  }
}

/** One group of tests for each kind of database; on PostgreSQL with two processes, which are asked in turn. */
export function besideNova(name: string, body: (api: BesideNova) => void, settings: Partial<Config> = {}): void {
  eachDatabase(name, databases => {
    void describe('', () => {
      const nova = new ListingNova()
      const api = new BesideNova(nova)
      const servers: Server[] = []
      before(async () => {
        await nova.start()
        const database = await databases.create()
        const all = {
          testClock: true,
          compute: 'nova',
          novaUrl: nova.url,
          novaPollSeconds: 3_600,
          ...settings,
        } as const
        servers.push(await startServer(database, all))
        if (databases.kind === 'postgres') servers.push(await startServer(database, all))
        api.at(...servers.map(({ origin }) => origin))
      })
      body(api)
      after(async () => {
        try {
          await api.fsck()
        } finally {
          api.close()
          for (const server of servers) await server.stop()
          await nova.stop()
        }
      })
    })
  })
}
