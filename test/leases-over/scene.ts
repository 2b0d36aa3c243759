// One test of the suite: its hosts, leases and servers, and that nothing of them is left at its end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Options } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { classOf, dateAt, type Shown } from '../support/reservation.ts'
import type { BackEnd, Person, Size } from './back-end.ts'

const MINUTE_MS = 60_000
/** Generous: a Nova takes its time, and machines can be busy. */
const DEADLINE_MS = 60_000
export const HOST: Size = { vcpus: 8, memory_mb: 4096, disk_gb: 40 }

/** Repeats until the check passes, or time is up. */
export async function eventually<T>(check: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(50)
    }
  }
}

export class Scene {
  readonly over: BackEnd
  /** Names of the hosts that are for leases. */
  readonly hosts: string[] = []
  readonly #outside: string[] = []
  readonly #ids: string[] = []
  readonly #leases: string[] = []
  readonly #reservations: string[] = []
  readonly #servers = new Set<string>()
  readonly #flavors: string[] = []
  readonly #pool = `pool-${crypto.randomUUID()}`

  constructor(over: BackEnd) {
    this.over = over
  }

  /** The filter that names the hosts of this test. */
  get only(): string {
    return `["=", "$pool", "${this.#pool}"]`
  }

  /** A request for instances on the hosts of this test. */
  instances = (more: object = {}) => ({
    resource_type: 'virtual:instance',
    vcpus: 1,
    memory_mb: 512,
    disk_gb: 1,
    amount: 1,
    resource_properties: this.only,
    ...more,
  })

  wholeHosts = (more: object = {}) => ({
    resource_type: 'physical:host',
    min: 1,
    max: 1,
    hypervisor_properties: '',
    resource_properties: this.only,
    ...more,
  })

  /** Hosts for leases. */
  async enroll(count: number): Promise<void> {
    const root = await this.#root()
    for (const name of await this.over.hosts(count, HOST)) {
      this.hosts.push(name)
      const { body } = expectStatus(
        await this.over.reservation.post('/os-hosts', { name, pool: this.#pool }, root),
        201,
      )
      this.#ids.push(body.host.id)
    }
  }

  /** Hosts for everyone. */
  async outside(count: number): Promise<string[]> {
    const names = await this.over.hosts(count, HOST)
    this.#outside.push(...names)
    return names
  }

  async #root(): Promise<Options> {
    return { version: null, ...(await this.over.as('root')) }
  }

  async #as(person: Person): Promise<Options> {
    return { version: null, ...(await this.over.as(person)) }
  }

  /** A lease that begins in a while, or when the one before it is over. */
  async lease(reservations: readonly object[], who: Person = 'alice', before?: Lease): Promise<Lease> {
    const { lead, length } = this.over.minutes
    const now = await this.over.now()
    const start = before?.end ?? Math.floor(now / MINUTE_MS + lead) * MINUTE_MS
    return this.#book(reservations, who, dateAt(start, 0), { start, end: start + length * MINUTE_MS })
  }

  async #book(
    reservations: readonly object[],
    who: Person,
    start_date: string,
    { start, end }: Window,
  ): Promise<Lease> {
    const dates = { start_date, end_date: dateAt(end, 0) }
    const body = { name: `lease-${crypto.randomUUID()}`, ...dates, reservations }
    const { lease } = expectStatus(await this.over.reservation.post('/leases', body, await this.#as(who)), 201).body
    this.#leases.push(lease.id)
    this.#reservations.push(...lease.reservations.map(({ id }: Shown) => id))
    return { id: lease.id, reservation: lease.reservations[0].id, start, end }
  }

  /** A lease that has begun. */
  async begun(reservations: readonly object[]): Promise<Lease> {
    const start = await this.over.now()
    const end = Math.floor(start / MINUTE_MS + this.over.minutes.length) * MINUTE_MS
    const lease = await this.#book(reservations, 'alice', 'now', { start, end })
    await this.over.passTo(start)
    await this.until(lease, 'ACTIVE')
    await eventually(async () => assert.notEqual(await this.flavor(lease.reservation), null))
    return lease
  }

  async show({ id }: Lease): Promise<Shown> {
    return expectStatus(await this.over.reservation.get(`/leases/${id}`, await this.#root()), 200).body.lease
  }

  async change({ id }: Lease, change: object, who: Person = 'alice'): Promise<Shown> {
    return expectStatus(await this.over.reservation.put(`/leases/${id}`, change, await this.#as(who)), 200).body.lease
  }

  until(lease: Lease, status: string): Promise<Shown> {
    return eventually(async () => {
      const shown = await this.show(lease)
      assert.equal(shown.status, status, JSON.stringify(shown))
      return shown
    })
  }

  /** Passes its end, and waits until nothing is left of it. */
  async ended(lease: Lease): Promise<Shown> {
    await this.over.passTo(lease.end)
    const shown = await this.until(lease, 'TERMINATED')
    await this.nothingOf(lease.reservation)
    return shown
  }

  async deleteLease({ id }: Lease, who: Person = 'alice'): Promise<void> {
    expectStatus(await this.over.reservation.del(`/leases/${id}`, await this.#as(who)), 204)
    this.#leases.splice(this.#leases.indexOf(id), 1)
  }

  /** The flavor of a reservation as someone sees it; null if they don't. */
  async flavor(reservation: string, who: Person = 'alice'): Promise<Shown> {
    const { compute } = this.over
    const answer = expectStatus(await compute.get(`/flavors/${reservation}`, await this.over.as(who)), 200, 404)
    return answer.status === 404 ? null : answer.body.flavor
  }

  /** A flavor for everyone. */
  async plainFlavor(vcpus = 1): Promise<string> {
    const flavor = { name: `plain-${crypto.randomUUID()}`, vcpus, ram: 64, disk: 1 }
    const made = expectStatus(await this.over.compute.post('/flavors', { flavor }, await this.over.as('root')), 200)
    this.#flavors.push(made.body.flavor.id)
    return made.body.flavor.id
  }

  async tryBoot(flavor: string, who: Person = 'alice'): Promise<Answer> {
    const { compute, image } = this.over
    const options = await this.over.as(who)
    const { images } = expectStatus(await image.get('/v2/images?name=cirros', { version: null, ...options }), 200).body
    const server = { name: 'vm', flavorRef: flavor, imageRef: images[0].id, networks: 'none' }
    const answer = await compute.post('/servers', { server }, options)
    if (answer.status === 202) this.#servers.add(answer.body.server.id)
    return answer
  }

  /** A server as an admin sees it, once it is ACTIVE or in ERROR. */
  async boot(flavor: string, who: Person = 'alice'): Promise<Shown> {
    const { server } = expectStatus(await this.tryBoot(flavor, who), 202).body
    return this.over.compute.built(server.id, await this.over.as('root'))
  }

  async running(flavor: string, who: Person = 'alice'): Promise<string> {
    const server = await this.boot(flavor, who)
    assert.equal(server.status, 'ACTIVE', JSON.stringify(server.fault))
    return server.id
  }

  server = async (id: string): Promise<Shown> => this.over.compute.show(id, await this.over.as('root'))

  hostOf = async (id: string): Promise<string> => (await this.server(id))['OS-EXT-SRV-ATTR:host']

  async act(server: string, verb: string, given: unknown = null, who: Person = 'root'): Promise<Answer> {
    return expectStatus(await this.over.compute.action(server, verb, given, await this.over.as(who)), 200, 202, 204)
  }

  untilStatus = async (server: string, status: string) =>
    this.over.compute.untilStatus(server, status, await this.over.as('root'))

  untilGone = async (server: string) => this.over.compute.untilGone(server, await this.over.as('root'))

  async provider(name: string): Promise<Shown> {
    const { placement } = this.over
    const path = `/resource_providers?name=${encodeURIComponent(name)}`
    return expectStatus(await placement.get(path), 200).body.resource_providers[0]
  }

  usages = async (name: string) => this.over.placement.usages((await this.provider(name)).uuid)

  /** The slots of a reservation by host, for hosts that have some. */
  async slots(reservation: string): Promise<Record<string, number>> {
    const found: Record<string, number> = {}
    for (const host of this.hosts) {
      const child = await this.provider(`blazar_${host}`)
      const path = `/resource_providers/${child?.uuid}/inventories`
      const { status, body } = await this.over.placement.get(path)
      const total = status === 200 ? body.inventories[classOf(reservation)]?.total : undefined
      if (total !== undefined) found[host] = total
    }
    return found
  }

  /** Claims a slot through Placement, as another scheduler would. */
  async takeSlot(host: string, reservation: string): Promise<{ consumer: string; answer: Answer }> {
    const consumer = crypto.randomUUID()
    const [root, child] = [await this.provider(host), await this.provider(`blazar_${host}`)]
    const claims = { [root.uuid]: { VCPU: 1 }, [child.uuid]: { [classOf(reservation)]: 1 } }
    return { consumer, answer: await this.over.placement.claim(consumer, claims) }
  }

  release = async (consumer: string) =>
    void expectStatus(await this.over.placement.del(`/allocations/${consumer}`), 204)

  /** Nobody sees a flavor of it, no slots and no class are left. */
  async nothingOf(reservation: string): Promise<void> {
    await eventually(async () => {
      assert.equal(await this.flavor(reservation, 'root'), null)
      assert.deepEqual(await this.slots(reservation), {})
      expectStatus(await this.over.placement.get(`/resource_classes/${classOf(reservation)}`), 404)
    })
  }

  /** Ends all that the test made, and checks that nothing is left. */
  async leave(): Promise<void> {
    const root = await this.#root()
    for (const lease of this.#leases) {
      expectStatus(await this.over.reservation.del(`/leases/${lease}`, root), 204, 404)
    }
    for (const reservation of this.#reservations) await this.nothingOf(reservation)
    for (const server of this.#servers) {
      expectStatus(await this.over.compute.del(`/servers/${server}`, await this.over.as('root')), 204, 404)
      await this.untilGone(server)
    }
    for (const flavor of this.#flavors) {
      expectStatus(await this.over.compute.del(`/flavors/${flavor}`, await this.over.as('root')), 202, 404)
    }
    await eventually(async () => {
      for (const host of [...this.hosts, ...this.#outside]) assert.equal((await this.usages(host))['VCPU'], 0)
    })
    for (const id of this.#ids) expectStatus(await this.over.reservation.del(`/os-hosts/${id}`, root), 200, 204)
    await this.over.check()
    await this.over.giveBack([...this.hosts, ...this.#outside])
  }
}

interface Window {
  start: number
  end: number
}

export interface Lease extends Window {
  id: string
  /** The first one. */
  reservation: string
}

/** Tests that need so many hosts; each has a scene of its own, and leaves nothing behind. */
export const scenesOver =
  (over: () => BackEnd) =>
  (name: string, hosts: number, body: (scene: Scene) => Promise<void>): void =>
    void test(name, async context => {
      if (over().hostsMax < hosts) return context.skip(`needs ${hosts} hosts`)
      const scene = new Scene(over())
      await body(scene)
      await scene.leave()
    })
