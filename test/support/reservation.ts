// A client of the reservation API for tests: hosts, leases, and a clock that can be moved.
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../src/config/config.ts'
import { type Answer, Client, type Options } from './client.ts'
import { expectStatus, Placement } from './placement.ts'
import { startServer } from './server.ts'
import { eachDatabase } from './stores.ts'

const MINUTE_MS = 60_000

export interface Size {
  vcpus: number
  memory_mb: number
  disk_gb: number
  /** Inventories of other classes, by name. Their classes are made. */
  extras: Record<string, number>
}

/** A request for instances; the defaults are small enough for every host that a test makes. */
export const instances = (more: object = {}) => ({
  resource_type: 'virtual:instance',
  vcpus: 1,
  memory_mb: 512,
  disk_gb: 1,
  amount: 1,
  ...more,
})

export const wholeHosts = (more: object = {}) => ({ resource_type: 'physical:host', min: 1, max: 1, ...more })

// oxlint-disable-next-line typescript/no-explicit-any -- as answers are: a test says what it expects
export type Shown = any

export class Reservation extends Client {
  /** The same server's Placement. */
  readonly placement = new Placement()
  /** The same server's Compute. */
  readonly compute = new Client('/compute/v2.1')
  readonly #image = new Client('/image')
  readonly #operator = new Client('/holdfast/v1')
  #pools = 0

  constructor(...origins: string[]) {
    super('/reservation/v1', ...origins)
    this.at(...origins)
  }

  get #others(): Client[] {
    return [this.placement, this.compute, this.#image, this.#operator]
  }

  at(...origins: string[]): void {
    for (const client of [this, ...this.#others]) client.origins = origins
  }

  /** The token of all requests that name none. */
  logIn(token: string): void {
    for (const client of [this, ...this.#others]) client.defaultToken = token
  }

  patch = (path: string, body?: unknown, options?: Options) => this.request('PATCH', path, body, options)

  override request(method: string, path: string, body?: unknown, options: Options = {}): Promise<Answer> {
    const { version = null, headers = {}, ...rest } = options
    const own = version === null ? {} : { 'openstack-api-version': `reservation ${version}` }
    return super.request(method, path, body, { ...rest, version: null, headers: { ...own, ...headers } })
  }

  /** Creates a compute node in Placement, makes it a host, and returns the host. */
  async host(name: string, size: Partial<Size> = {}, capabilities: object = {}): Promise<Shown> {
    await this.computeNode(name, size)
    return expectStatus(await this.post('/os-hosts', { name, ...capabilities }), 201).body.host
  }

  async computeNode(name: string, { vcpus = 8, memory_mb = 16_384, disk_gb = 200, extras = {} }: Partial<Size> = {}) {
    for (const one of Object.keys(extras)) {
      if (one.startsWith('CUSTOM_')) expectStatus(await this.placement.put(`/resource_classes/${one}`), 201, 204)
    }
    return this.placement.provider({ VCPU: vcpus, MEMORY_MB: memory_mb, DISK_GB: disk_gb, ...extras }, { name })
  }

  /** Creates hosts with a capability of their own, and returns the filter `only` that selects them. */
  async pool(count: number, size: Partial<Size> = {}): Promise<Pool> {
    const pool = `pool-${++this.#pools}`
    const names = Array.from({ length: count }, (_, i) => `${pool}-${i}`)
    const ids: string[] = []
    for (const name of names) ids.push((await this.host(name, size, { pool })).id)
    return { names, ids, only: `["=", "$pool", "${pool}"]` }
  }

  /** The body of a request for a lease, by default for one hour that begins in an hour. */
  async leaseBody(reservations: readonly object[], { from = 60, to = 120, ...more }: Window = {}): Promise<object> {
    const now = await this.now()
    return { name: 'a-lease', start_date: dateAt(now, from), end_date: dateAt(now, to), reservations, ...more }
  }

  async tryLease(reservations: readonly object[], window: Window = {}, options?: Options): Promise<Answer> {
    return this.post('/leases', await this.leaseBody(reservations, window), options)
  }

  async lease(reservations: readonly object[], window: Window = {}, options?: Options): Promise<Shown> {
    return expectStatus(await this.tryLease(reservations, window, options), 201).body.lease
  }

  /** Asks what the result of such a lease would be. */
  async explain(reservations: readonly object[], window: Window = {}, options?: Options): Promise<Answer> {
    return this.#operator.post('/explain/leases', await this.leaseBody(reservations, window), options)
  }

  async show(lease: string, options?: Options): Promise<Shown> {
    return expectStatus(await this.get(`/leases/${lease}`, options), 200).body.lease
  }

  async update(lease: string, change: object, options?: Options): Promise<Shown> {
    return expectStatus(await this.put(`/leases/${lease}`, change, options), 200).body.lease
  }

  async end(lease: string): Promise<void> {
    expectStatus(await this.del(`/leases/${lease}`), 204)
  }

  /** The server's time. */
  async now(): Promise<number> {
    return Date.parse(expectStatus(await this.#operator.get('/clock'), 200).body.now)
  }

  /** The date this many minutes from now, in the clients' form. */
  async date(minutes: number): Promise<string> {
    return dateAt(await this.now(), minutes)
  }

  /** Moves the clock, and returns when all due work is done. */
  async advance(minutes: number): Promise<void> {
    expectStatus(await this.#operator.post('/clock', { advance: minutes * 60 }), 200)
  }

  operate = (method: string, path: string, body?: unknown, options?: Options) =>
    this.#operator.request(method, path, body, options)

  /** The number of slots of each reservation on each host, by host name. */
  async slots(): Promise<Record<string, Record<string, number>>> {
    const { hosts } = expectStatus(await this.get('/os-hosts'), 200).body
    const names = new Map<string, string>(hosts.map((host: Shown) => [host.id, host.hypervisor_hostname]))
    const { allocations } = expectStatus(await this.get('/os-hosts/allocations'), 200).body
    const found: Record<string, Record<string, number>> = {}
    for (const { resource_id, reservations } of allocations) {
      const on = (found[names.get(resource_id)!] ??= {})
      for (const { id } of reservations) on[id] = (on[id] ?? 0) + 1
    }
    return found
  }

  /** The slots of one reservation on each host that has any, the fullest first. */
  async spread(reservation: string): Promise<number[]> {
    const counts = Object.values(await this.slots()).map(on => on[reservation] ?? 0)
    return counts.filter(count => count > 0).toSorted((a, b) => b - a)
  }

  async provider(name: string): Promise<Shown> {
    const path = `/resource_providers?name=${encodeURIComponent(name)}`
    return expectStatus(await this.placement.get(path), 200).body.resource_providers[0]
  }

  /** The inventories of a host's reservation provider. */
  async inventories(host: string): Promise<Record<string, Shown>> {
    const { uuid } = await this.provider(`blazar_${host}`)
    return expectStatus(await this.placement.get(`/resource_providers/${uuid}/inventories`), 200).body.inventories
  }

  /** Waits until a lease is in a status. */
  async until(lease: string, status: string, deadlineMs = 15_000): Promise<Shown> {
    const deadline = performance.now() + deadlineMs
    for (;;) {
      const shown = await this.show(lease)
      if (shown.status === status) return shown
      if (performance.now() > deadline) return assert.fail(`${lease} is ${shown.status}, not ${status}`)
      await sleep(20)
    }
  }

  /** The resource classes that reservations have made. */
  async classes(): Promise<string[]> {
    const { resource_classes } = expectStatus(await this.placement.get('/resource_classes'), 200).body
    const names: string[] = resource_classes.map(({ name }: Shown) => name)
    return names.filter(name => name.startsWith('CUSTOM_RESERVATION_'))
  }

  /** The flavor of a reservation as a user sees it; null if they can't see it. */
  async flavor(reservation: string, options: Options = {}): Promise<Shown> {
    const answer = await this.compute.get(`/flavors/${reservation}`, { version: null, ...options })
    return expectStatus(answer, 200, 404).status === 404 ? null : answer.body.flavor
  }

  /** Creates a public flavor and returns its id. */
  async plainFlavor(vcpus = 1): Promise<string> {
    const flavor = { name: `plain-${crypto.randomUUID()}`, vcpus, ram: 64, disk: 1 }
    return expectStatus(await this.compute.post('/flavors', { flavor }, { version: null }), 200).body.flavor.id
  }

  /** Creates a public flavor with extra specs and returns its id. */
  async flavorWith({ extra_specs = {}, ...more }: Record<string, unknown> = {}): Promise<string> {
    const flavor = { name: `plain-${crypto.randomUUID()}`, vcpus: 1, ram: 512, disk: 1, ...more }
    const { id } = expectStatus(await this.compute.post('/flavors', { flavor }, { version: null }), 200).body.flavor
    const specs = await this.compute.post(`/flavors/${id}/os-extra_specs`, { extra_specs }, { version: null })
    expectStatus(specs, 200)
    return id
  }

  /** Requests a server; `more` goes beside it in the body, as scheduler hints do. */
  async tryServer(flavor: string, options: Options = {}, more: object = {}): Promise<Answer> {
    const who = { version: null, ...options }
    const { images } = expectStatus(await this.#image.get('/v2/images?name=cirros', who), 200).body
    const server = { name: 'vm', flavorRef: flavor, imageRef: images[0].id }
    return this.compute.post('/servers', { server, ...more }, who)
  }

  /** Requests a server and waits until it is ACTIVE or in ERROR. */
  async server(flavor: string, options: Options = {}, more: object = {}): Promise<Shown> {
    const who = { version: null, ...options }
    const { server } = expectStatus(await this.tryServer(flavor, options, more), 202).body
    const deadline = performance.now() + 15_000
    for (;;) {
      const shown = expectStatus(await this.compute.get(`/servers/${server.id}`, who), 200).body.server
      if (shown.status !== 'BUILD') return shown
      if (performance.now() > deadline) return assert.fail(`server ${server.id} is still building`)
      await sleep(20)
    }
  }

  /** The audit entries about an object, the oldest first. */
  async audit(object: string): Promise<Shown[]> {
    return expectStatus(await this.#operator.get(`/audit?object=${object}`), 200).body.entries.toReversed()
  }

  /** Claims a slot through Placement, as another scheduler would, and returns the consumer. */
  async takeSlot(host: string, reservation: string): Promise<string> {
    const consumer = crypto.randomUUID()
    const [root, child] = [await this.provider(host), await this.provider(`blazar_${host}`)]
    const claims = { [root.uuid]: { VCPU: 1 }, [child.uuid]: { [classOf(reservation)]: 1 } }
    expectStatus(await this.placement.claim(consumer, claims), 204)
    return consumer
  }

  fsck = () => this.placement.fsck()

  override close(): void {
    super.close()
    for (const client of this.#others) client.close()
  }
}

export interface Pool {
  names: string[]
  ids: string[]
  /** The resource_properties that name these hosts. */
  only: string
}

export const dateAt = (now: number, minutes: number): string =>
  new Date((Math.floor(now / MINUTE_MS) + minutes) * MINUTE_MS).toISOString().slice(0, 16).replace('T', ' ')

/** In minutes from now; other members go into the lease. */
export interface Window {
  from?: number
  to?: number
  [member: string]: unknown
}

export const classOf = (reservation: string) => `CUSTOM_RESERVATION_${reservation.toUpperCase().replaceAll('-', '_')}`

/** Someone of a project, with roles. */
export const as = (who: string, project: string, roles = 'member,reader'): Options => ({
  token: `${who}:${project}`,
  headers: { 'x-roles': roles },
})

/** Checks the status, and that the error has the handlers' form and the right message. */
export function expectError(answer: Answer, status: number, pattern: RegExp = /./): Answer {
  expectStatus(answer, status)
  const { error_code, error_name, error_message } = answer.body
  assert.deepEqual([error_code, error_name], [status, status], JSON.stringify(answer.body))
  assert.match(error_message, pattern)
  return answer
}

/** One group of tests for each kind of database, with a server whose clock can be moved; fsck must pass at the end. */
export function eachReservation(name: string, body: (api: Reservation) => void, settings: Partial<Config> = {}): void {
  eachDatabase(name, databases => {
    void describe('', () => {
      const api = new Reservation()
      let stop: () => Promise<void>
      before(async () => {
        const server = await startServer(await databases.create(), { testClock: true, ...settings })
        api.at(server.origin)
        stop = () => server.stop()
      })
      body(api)
      after(async () => {
        try {
          await api.fsck()
        } finally {
          api.close()
          await stop()
        }
      })
    })
  })
}
