// One nova-compute of the test Nova: what it tells Placement of itself, and the work that it is sent.
import { randomUUID } from 'node:crypto'
import type { Body } from './nova-answers.ts'
import type { Holdfast } from './nova-holdfast.ts'

export interface HostSize {
  vcpus?: number
  memory_mb?: number
  disk_gb?: number
}

const TRAITS = ['COMPUTE_NODE', 'COMPUTE_NET_ATTACH_INTERFACE', 'COMPUTE_TRUSTED_CERTS', 'COMPUTE_VOLUME_EXTEND']
const DISABLED = 'COMPUTE_STATUS_DISABLED'
const UPDATE_ATTEMPTS = 4

interface Cached {
  generation: number
  inventories: string
  traits: Set<string>
}

export class NovaHost {
  readonly name: string
  readonly size: Required<HostSize>
  /** Of the compute node, which is its provider's too. A service that is made anew gets another. */
  uuid = randomUUID() as string
  serviceId = randomUUID() as string
  isEnabled = true
  disabledReason: string | null = null
  isForcedDown = false
  /** Deleted by an operator; it is back when the compute is started again. */
  isService = true
  isRunning = true
  /** It reported lately. A compute that has died counts as up for a minute. */
  hasReported = true
  /** Failed updates of Placement, for tests that expect none. */
  readonly failures: string[] = []
  readonly #holdfast: Holdfast
  /** nova-compute caches the tree for 300 seconds: here, until it is told to forget it. */
  readonly #cache = new Map<string, Cached>()
  #sent: Promise<void> = Promise.resolve()
  #waiting: (() => Promise<void>)[] = []

  constructor(name: string, { vcpus = 8, memory_mb = 16_384, disk_gb = 200 }: HostSize, holdfast: Holdfast) {
    this.name = name
    this.size = { vcpus, memory_mb, disk_gb }
    this.#holdfast = holdfast
  }

  get isUp(): boolean {
    return this.isService && this.hasReported && !this.isForcedDown
  }

  /** The periodic task: says what it has, if Placement doesn't know it already. Returns whether all went well. */
  async report(): Promise<boolean> {
    for (let attempt = 0; attempt < UPDATE_ATTEMPTS; attempt++) {
      try {
        await this.#update()
        return true
      } catch (error) {
        this.#cache.clear()
        this.failures.push((error as Error).message)
        if (!(error instanceof Conflict)) return false
      }
    }
    return false
  }

  /** As after 300 seconds. */
  forgetTree(): void {
    this.#cache.clear()
  }

  async #update(): Promise<void> {
    await this.#readTree()
    for (const uuid of this.#cache.keys()) {
      const { status } = await this.#holdfast.placement('GET', `/resource_providers/${uuid}/allocations`, '1.12')
      if (status !== 200) throw new Error(`allocations of ${uuid}: ${status}`)
    }
    const root = this.#cache.get(this.uuid)!
    const inventories = this.#inventories()
    if (root.inventories !== JSON.stringify(inventories)) {
      await this.#put(root, 'inventories', '1.26', { inventories })
      root.inventories = JSON.stringify(inventories)
    }
    const wanted = new Set(root.traits).union(new Set(TRAITS))
    if (this.isEnabled) wanted.delete(DISABLED)
    else wanted.add(DISABLED)
    if (wanted.symmetricDifference(root.traits).size > 0) {
      await this.#put(root, 'traits', '1.6', { traits: [...wanted] })
      root.traits = wanted
    }
  }

  async #readTree(): Promise<void> {
    if (this.#cache.has(this.uuid)) return
    const found = await this.#holdfast.placement('GET', `/resource_providers?in_tree=${this.uuid}`, '1.14')
    let providers: Body[] = found.body.resource_providers
    if (providers.length === 0) {
      const made = await this.#holdfast.placement('POST', '/resource_providers', '1.20', {
        uuid: this.uuid,
        name: this.name,
      })
      if (made.status !== 200) throw new Error(`provider ${this.name}: ${made.status} ${JSON.stringify(made.body)}`)
      providers = [made.body]
    }
    for (const { uuid } of providers) this.#cache.set(uuid, await this.#readProvider(uuid))
  }

  async #readProvider(uuid: string): Promise<Cached> {
    const read = async (what: string, version: string) => {
      const { status, body } = await this.#holdfast.placement('GET', `/resource_providers/${uuid}/${what}`, version)
      if (status !== 200) throw new Error(`${what} of ${uuid}: ${status}`)
      return body
    }
    const { inventories } = await read('inventories', '1.0')
    await read('aggregates', '1.19')
    const { traits, resource_provider_generation } = await read('traits', '1.6')
    const sorted = Object.fromEntries(
      Object.keys(inventories as object)
        .toSorted()
        .map(key => [key, inventories[key]]),
    )
    return { generation: resource_provider_generation, inventories: JSON.stringify(sorted), traits: new Set(traits) }
  }

  async #put(cached: Cached, what: string, version: string, body: object): Promise<void> {
    const path = `/resource_providers/${this.uuid}/${what}`
    const sent = { resource_provider_generation: cached.generation, ...body }
    const heard = await this.#holdfast.placement('PUT', path, version, sent)
    if (heard.status === 409) throw new Conflict(`${what}: ${JSON.stringify(heard.body)}`)
    if (heard.status !== 200) throw new Error(`${what}: ${heard.status} ${JSON.stringify(heard.body)}`)
    cached.generation = heard.body.resource_provider_generation
  }

  #inventories(): object {
    const of = (total: number, reserved: number, allocation_ratio: number) => ({
      total,
      reserved,
      min_unit: 1,
      max_unit: total,
      step_size: 1,
      allocation_ratio,
    })
    const { vcpus, memory_mb, disk_gb } = this.size
    return { DISK_GB: of(disk_gb, 0, 1), MEMORY_MB: of(memory_mb, 0, 1), VCPU: of(vcpus, 0, 1) }
  }

  /** Sends it work: done in order, by a compute that runs, else when it is back. */
  send(work: () => Promise<void>): Promise<void> {
    if (!this.isRunning) {
      this.#waiting.push(work)
      return Promise.resolve()
    }
    // One that fails doesn't keep the next.
    return (this.#sent = this.#sent.catch(() => {}).then(work))
  }

  /** The process dies. Its service counts as up until `miss`. */
  kill(): void {
    this.isRunning = false
  }

  /** Its service counts as down: a minute has passed. */
  miss(): void {
    this.hasReported = false
  }

  /** Died a while ago. */
  crash(): void {
    this.kill()
    this.miss()
  }

  /** The process runs again, and does what it was sent meanwhile. The rest of its start is the conductor's to know. */
  async revive(): Promise<void> {
    this.isRunning = this.hasReported = true
    if (!this.isService) {
      this.isService = true
      this.isEnabled = true
      this.disabledReason = null
      this.isForcedDown = false
      this.serviceId = randomUUID()
      this.uuid = randomUUID()
    }
    this.#cache.clear()
    await this.report()
    for (const work of this.#waiting.splice(0)) await this.send(work)
  }
}

class Conflict extends Error {}
