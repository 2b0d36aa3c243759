// Makes things of projects, one of each kind, as those make them who may.
import { randomUUID } from 'node:crypto'
import { Baremetal } from '../support/baremetal.ts'
import { as } from '../support/callers.ts'
import { Client } from '../support/client.ts'
import { Compute } from '../support/compute.ts'
import { expectStatus } from '../support/placement.ts'
import { Reservation } from '../support/reservation.ts'
import { FIXTURE, type Kind, lease } from './routes.ts'
import type { Whose } from './setting.ts'

const NEWEST = { version: '1.83' }
const PLENTY = 100_000

export class Things {
  readonly metal = new Baremetal()
  readonly compute = new Compute()
  readonly reservation = new Reservation()
  readonly operator = new Client('/holdfast/v1')

  async open(origin: string): Promise<void> {
    this.metal.origins = this.metal.placement.origins = [origin]
    this.compute.reach([origin])
    this.reservation.at(origin)
    this.operator.origins = [origin]
    await this.compute.hypervisor({ VCPU: PLENTY, MEMORY_MB: PLENTY, DISK_GB: PLENTY }, FIXTURE.host)
    await this.compute.flavor({ id: FIXTURE.flavor, ram: 1 })
    await this.reservation.host('leased-host', { vcpus: PLENTY, memory_mb: PLENTY, disk_gb: PLENTY })
  }

  close(): void {
    for (const client of [this.metal, this.compute, this.reservation, this.operator]) client.close()
  }

  /** Makes a thing of this kind and owner, and answers its id. */
  make(kind: Kind, whose: Whose): Promise<string> {
    const { project } = whose
    switch (kind) {
      case 'allocation':
        return this.#allocation(project)
      case 'reservation':
        return this.#reservation(project)
      case 'server':
        return this.#server(project!)
      case 'flavor':
        return this.#flavor(project)
      case 'lease':
        return this.#lease(project!)
      case 'calendar':
        return this.#calendar(project!)
      case 'webhook':
        return this.#webhook(project)
      default:
        return this.#metal(kind, whose)
    }
  }

  async #allocation(owner: string | null): Promise<string> {
    const wish = { resource_class: 'no-such-class', owner }
    return expectStatus(await this.metal.post('/v1/allocations', wish, NEWEST), 201).body.uuid
  }

  async #reservation(owner: string | null): Promise<string> {
    const node = await this.metal.node({}, 'available')
    const wish = { instance_uuid: randomUUID(), node_uuid: [node], owner }
    return expectStatus(await this.metal.post('/v1/reservations', wish, NEWEST), 201).body.reservation.uuid
  }

  async #metal(kind: Kind, { owner, lessee }: Whose): Promise<string> {
    const node = await this.metal.node({ owner, lessee })
    if (kind === 'node') return node
    const address = `52:54:${randomUUID()
      .slice(0, 8)
      .replaceAll(/(..)(?=.)/g, '$1:')}`
    const more: Partial<Record<Kind, object>> = {
      port: { address },
      'volume/connector': { type: 'iqn', connector_id: randomUUID() },
      'volume/target': { volume_type: 'iscsi', volume_id: 'v', boot_index: 0 },
    }
    const body = { node_uuid: node, ...more[kind] }
    return expectStatus(await this.metal.post(`/v1/${kind}s`, body), 201).body.uuid
  }

  async #server(project: string): Promise<string> {
    const metadata = { [FIXTURE.key]: 'value' }
    return (await this.compute.server(FIXTURE.flavor, { metadata }, as('admin', project))).id
  }

  /** A private one, which this project may use. */
  async #flavor(project: string | null): Promise<string> {
    const specs = { [FIXTURE.key]: 'value' }
    const id = await this.compute.flavor({ ram: 1, 'os-flavor-access:is_public': false }, specs)
    const grant = { addTenantAccess: { tenant: project } }
    if (project !== null) expectStatus(await this.compute.post(`/flavors/${id}/action`, grant), 200)
    return id
  }

  async #calendar(project: string): Promise<string> {
    const answer = await this.reservation.operate('POST', '/calendars', { of: { project } }, as('admin', project))
    return expectStatus(answer, 201).body.id
  }

  async #lease(project: string): Promise<string> {
    return expectStatus(await this.reservation.post('/leases', lease(), as('admin', project)), 201).body.lease.id
  }

  /** About an object that isn't there, at a port where nobody listens. */
  async #webhook(project: string | null): Promise<string> {
    const wanted = { url: 'http://127.0.0.1:1999/', project, object: 'none' }
    return expectStatus(await this.operator.post('/webhooks', wanted), 201).body.uuid
  }
}
