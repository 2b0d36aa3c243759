// Leases over a test Nova: hosts of it that can be leased, a client as operator, and Nova's servers as a member.
import assert from 'node:assert/strict'
import { after, afterEach, before, describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../src/config/config.ts'
import type { Options } from '../support/client.ts'
import { CIRROS } from '../support/compute.ts'
import { ComputeClient } from '../support/nova-client.ts'
import { type NovaCloud, startCloud } from '../support/nova-cloud.ts'
import type { TestNova } from '../support/nova.ts'
import { expectStatus } from '../support/placement.ts'
import { instances, Reservation, type Shown } from '../support/reservation.ts'
import { eachDatabase, type Kind } from '../support/stores.ts'

const DEADLINE_MS = 30_000

/** Repeats until it doesn't throw. */
export async function soon<T>(check: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(20)
    }
  }
}

export class Lab {
  readonly api: Reservation
  readonly cloud: NovaCloud
  readonly compute: ComputeClient
  alice: Options = {}
  /** The id of alice's project. */
  project = ''

  private constructor(cloud: NovaCloud) {
    this.cloud = cloud
    this.api = new Reservation(cloud.origin)
    this.compute = new ComputeClient('/v2.1', '2.61', cloud.nova.origin)
  }

  static async open(database: string, settings: Partial<Config> = {}): Promise<Lab> {
    const lab = new Lab(await startCloud(database, settings))
    const { api, cloud, compute } = lab
    const root = await cloud.token('root')
    api.logIn(root)
    compute.defaultToken = root
    lab.alice = await cloud.as('alice')
    lab.project = await cloud.project('alice')
    return lab
  }

  get nova(): TestNova {
    return this.cloud.nova
  }

  /** Makes hosts of Nova that can be leased; returns their names. */
  async hosts(count: number, size = {}): Promise<string[]> {
    const hosts = await this.nova.addHosts(count, size)
    for (const { name } of hosts) expectStatus(await this.api.post('/os-hosts', { name }), 201)
    return hosts.map(({ name }) => name)
  }

  /** A lease of alice's. */
  lease(more: object = {}, window: { from?: number; to?: number } = {}): Promise<Shown> {
    return this.api.lease([instances(more)], window, this.alice)
  }

  /** Starts a server of alice's and waits until it is ACTIVE or in ERROR. */
  async boot(flavor: string): Promise<Shown> {
    const server = { name: 'vm', flavorRef: flavor, imageRef: CIRROS, networks: 'none' }
    const { id } = expectStatus(await this.compute.post('/servers', { server }, this.alice), 202).body.server
    return this.compute.built(id)
  }

  access(flavor: string): string[] {
    return [...(this.nova.flavors.get(flavor)?.access ?? [])]
  }

  close(): Promise<void> {
    this.api.close()
    this.compute.close()
    return this.cloud.stop()
  }
}

/** One group of tests for each kind of database, with a Nova that is whole again after each test, and fsck. */
export function eachLab(
  name: string,
  body: (lab: () => Lab, kind: Kind) => void,
  settings: Partial<Config> = {},
  kinds?: readonly Kind[],
): void {
  eachDatabase(
    name,
    databases => {
      void describe('', () => {
        let lab: Lab
        before(async () => {
          lab = await Lab.open(await databases.create(), settings)
        })
        afterEach(async () => {
          lab.nova.heal()
          await lab.nova.back()
          await lab.nova.settled()
          await lab.api.placement.fsck()
          assert.deepEqual(lab.nova.errors, [])
        })
        after(() => lab.close())
        body(() => lab, databases.kind)
      })
    },
    kinds,
  )
}
