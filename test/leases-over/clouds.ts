// The two clouds under the suite: Holdfast with compute of its own, and Holdfast with a test Nova.
import { after, before, describe } from 'node:test'
import type { Config } from '../../src/config/config.ts'
import { Client, type Options } from '../support/client.ts'
import { ComputeClient } from '../support/nova-client.ts'
import { type NovaCloud, startCloud } from '../support/nova-cloud.ts'
import { expectStatus } from '../support/placement.ts'
import { eachDatabase } from '../support/stores.ts'
import type { BackEnd, Person, Size } from './back-end.ts'

export class TestCloud implements BackEnd {
  readonly kind: 'own' | 'nova'
  readonly cloud: NovaCloud
  readonly reservation: Client
  readonly compute: ComputeClient
  readonly image: Client
  readonly minutes = { lead: 10, length: 60 }
  readonly hostsMax = Infinity
  readonly #operator: Client

  constructor(kind: 'own' | 'nova', cloud: NovaCloud, root: string) {
    this.kind = kind
    this.cloud = cloud
    const { origin, nova } = cloud
    this.reservation = new Client('/reservation/v1', origin)
    this.image = new Client('/image', origin)
    this.#operator = new Client('/holdfast/v1', origin)
    this.compute =
      kind === 'own'
        ? new ComputeClient('/compute/v2.1', '2.38', origin)
        : new ComputeClient('/v2.1', '2.38', nova.origin)
    for (const client of [this.reservation, this.image, this.#operator, this.compute]) client.defaultToken = root
  }

  get placement() {
    return this.cloud.placement
  }

  async as(person: Person): Promise<Options> {
    return { token: await this.cloud.token(person) }
  }

  async hosts(count: number, { vcpus, memory_mb, disk_gb }: Size): Promise<string[]> {
    if (this.kind === 'nova') {
      return (await this.cloud.nova.addHosts(count, { vcpus, memory_mb, disk_gb })).map(({ name }) => name)
    }
    const names = Array.from({ length: count }, () => `compute-${crypto.randomUUID().slice(0, 8)}`)
    for (const name of names) {
      await this.placement.provider({ VCPU: vcpus, MEMORY_MB: memory_mb, DISK_GB: disk_gb }, { name })
    }
    return names
  }

  /** Disabled, so that no other test gets a place there. */
  async giveBack(hosts: readonly string[]): Promise<void> {
    for (const host of hosts) {
      if (this.kind === 'nova') this.cloud.nova.host(host).isEnabled = false
      else expectStatus(await this.compute.put('/os-services/disable', { host, binary: 'nova-compute' }), 200)
    }
  }

  async turn(host: string, state: 'up' | 'down'): Promise<void> {
    if (this.kind === 'own') {
      expectStatus(await this.#operator.post('/hypervisor-state', { name: host, state }), 200, 202, 204)
    } else if (state === 'down') this.cloud.nova.host(host).crash()
    else await this.cloud.nova.start(host)
  }

  async now(): Promise<number> {
    return Date.parse(expectStatus(await this.#operator.get('/clock'), 200).body.now)
  }

  async passTo(time: number): Promise<void> {
    const seconds = Math.ceil((time - (await this.now())) / 1000)
    expectStatus(await this.#operator.post('/clock', { advance: Math.max(0, seconds) }), 200)
  }

  async check(): Promise<void> {
    if (this.kind === 'nova') await this.cloud.nova.settled()
    await this.placement.fsck()
  }

  async stop(): Promise<void> {
    for (const client of [this.reservation, this.image, this.#operator, this.compute]) client.close()
    await this.cloud.stop()
  }
}

export async function startTestCloud(kind: 'own' | 'nova', database: string, settings: Partial<Config> = {}) {
  const cloud = await startCloud(database, { compute: kind, ...settings })
  return new TestCloud(kind, cloud, await cloud.token('root'))
}

/** One group of tests for each kind of database, over one kind of compute. */
export function eachTestCloud(name: string, kind: 'own' | 'nova', body: (over: () => TestCloud) => void): void {
  eachDatabase(name, databases => {
    void describe('', () => {
      let over: TestCloud
      before(async () => {
        over = await startTestCloud(kind, await databases.create())
      })
      body(() => over)
      after(async () => {
        try {
          await over.check()
        } finally {
          await over.stop()
        }
      })
    })
  })
}
