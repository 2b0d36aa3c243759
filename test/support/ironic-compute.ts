// A nova-compute with the ironic driver, as it was recorded (Nova 26): the same requests, versions and order, and the
// same memory of what Placement has. It looks after all nodes of one class.
import type { Answer } from './client.ts'
import type { Baremetal } from './baremetal.ts'
import { expectStatus } from './placement.ts'

const FIELDS =
  'fields=uuid%2Cpower_state%2Ctarget_power_state%2Cprovision_state%2Ctarget_provision_state%2Clast_error%2Cmaintenance' +
  '%2Cproperties%2Cinstance_uuid%2Ctraits%2Cresource_class'
const CAPABILITIES = [
  'COMPUTE_NET_ATTACH_INTERFACE',
  'COMPUTE_IMAGE_TYPE_RAW',
  'COMPUTE_IMAGE_TYPE_QCOW2',
  'COMPUTE_NODE',
  'COMPUTE_IMAGE_TYPE_AMI',
]
const PROJECT = '49357e26fd94cb9aecc6b19e8cdc2849'
const USER = '905b931dac2c46fea5257464a31284fc'
/** The SDK sends both headers, python-ironicclient an older version in one. */
const SDK = { version: '1.76', headers: { 'openstack-api-version': 'baremetal 1.76' } }
const OLD = { version: '1.46' }
const RETRIES = 4

interface Node {
  uuid: string
  provision_state: string
  maintenance: boolean
  power_state: string | null
  instance_uuid: string | null
  traits: string[]
  resource_class: string
}
interface Known {
  generation: number
  traits: string[]
  /** As text, to compare. */
  inventories: string
}

export class IronicCompute {
  isDisabled = false
  /** What was sent that writes, and its status, in order. */
  readonly writes: string[] = []
  readonly #known = new Map<string, Known>()
  readonly #servers = new Set<string>()
  readonly #api: Baremetal
  readonly #resourceClass: string

  constructor(api: Baremetal, resourceClass: string) {
    this.#api = api
    this.#resourceClass = resourceClass
  }

  /** At its start, and every minute. */
  async period(): Promise<void> {
    expectStatus(await this.#api.get('/v1/nodes?associated=True&fields=instance_uuid', SDK), 200)
    const mine = (await this.#nodes()).filter(
      ({ instance_uuid }) => instance_uuid === null || this.#servers.has(instance_uuid),
    )
    for (const uuid of this.#known.keys()) if (!mine.some(node => node.uuid === uuid)) await this.#drop(uuid)
    for (const node of mine) await this.#report(node)
  }

  async #nodes(): Promise<Node[]> {
    const { nodes } = expectStatus(await this.#api.get(`/v1/nodes?${FIELDS}`, SDK), 200).body as { nodes: Node[] }
    return nodes.filter(node => node.resource_class === this.#resourceClass)
  }

  /** Whoever else has the node: it is no hypervisor of ours any more. */
  async #drop(uuid: string): Promise<void> {
    this.#known.delete(uuid)
    this.#wrote(`DELETE ${uuid}`, await this.#api.placement.del(`/resource_providers/${uuid}`, { version: null }))
  }

  async #report(node: Node): Promise<void> {
    for (let tries = 1; ; tries++) {
      const answer = await this.#update(node)
      if (answer === null) return
      if (answer.status !== 409 || tries === RETRIES) expectStatus(answer, 200)
      this.#known.delete(node.uuid)
    }
  }

  /** Sends what differs from what Placement was seen to have; returns a refusal. */
  async #update(node: Node): Promise<Answer | null> {
    const known = this.#known.get(node.uuid) ?? (await this.#learn(node.uuid))
    const claims = await this.#get(`/resource_providers/${node.uuid}/allocations`, null)
    for (const consumer of Object.keys(claims.allocations)) await this.#get(`/allocations/${consumer}`, '1.28')
    const inventories = this.#inventoriesOf(node)
    if (JSON.stringify(inventories) !== known.inventories) {
      expectStatus(await this.#put(`/resource_classes/${this.#class}`, undefined, '1.7'), 201, 204)
      const body = { resource_provider_generation: known.generation, inventories }
      const answer = await this.#put(`/resource_providers/${node.uuid}/inventories`, body, '1.26')
      if (answer.status !== 200) return answer
      known.inventories = JSON.stringify(answer.body.inventories)
      known.generation = answer.body.resource_provider_generation
    }
    const traits = [...node.traits, ...CAPABILITIES, ...(this.isDisabled ? ['COMPUTE_STATUS_DISABLED'] : [])].sort()
    if (traits.join() === known.traits.join()) return null
    await this.#get(`/traits?name=in:${traits.join()}`, '1.6')
    const body = { resource_provider_generation: known.generation, traits }
    const answer = await this.#put(`/resource_providers/${node.uuid}/traits`, body, '1.6')
    if (answer.status !== 200) return answer
    known.traits = answer.body.traits.sort()
    known.generation = answer.body.resource_provider_generation
    return null
  }

  async #learn(uuid: string): Promise<Known> {
    const path = `/resource_providers/${uuid}`
    await this.#get(`/resource_providers?in_tree=${uuid}`, '1.14')
    const { inventories } = await this.#get(`${path}/inventories`, null)
    await this.#get(`${path}/aggregates`, '1.19')
    const { traits, resource_provider_generation: generation } = await this.#get(`${path}/traits`, '1.6')
    const known = { generation, traits: traits.sort(), inventories: JSON.stringify(inventories) }
    this.#known.set(uuid, known)
    return known
  }

  get #class(): string {
    return `CUSTOM_${this.#resourceClass.toUpperCase()}`
  }

  #inventoriesOf({ maintenance, power_state, provision_state, instance_uuid }: Node): object {
    const isAway = maintenance || power_state === null || provision_state !== 'available' || instance_uuid !== null
    const one = { total: 1, reserved: isAway ? 1 : 0, min_unit: 1, max_unit: 1, step_size: 1, allocation_ratio: 1 }
    return { [this.#class]: one }
  }

  /** What nova-scheduler and nova-compute do for `server create`. Returns the node, or null if there is none. */
  async boot(server: string, traits: readonly string[] = []): Promise<string | null> {
    const required = traits.length > 0 ? `&required=${traits.join()}` : ''
    const query = `limit=1000${required}&resources=${this.#class}%3A1&root_required=%21COMPUTE_STATUS_DISABLED`
    const { allocation_requests } = await this.#get(`/allocation_candidates?${query}`, '1.36')
    for (const { allocations, mappings } of allocation_requests) {
      await this.#get(`/allocations/${server}`, '1.28')
      const owner = { project_id: PROJECT, user_id: USER, consumer_generation: null }
      const claimed = await this.#put(`/allocations/${server}`, { allocations, mappings, ...owner }, '1.36')
      if (claimed.status === 204) return this.#deploy(server, Object.keys(allocations)[0]!, traits)
    }
    return null
  }

  async #deploy(server: string, node: string, traits: readonly string[]): Promise<string> {
    const path = `/v1/nodes/${node}`
    this.#servers.add(server)
    await this.#get(`/allocations/${server}`, '1.28')
    expectStatus(await this.#api.get(`${path}?${FIELDS}`, SDK), 200)
    const instance = [{ op: 'replace', path: '/instance_uuid', value: server }]
    expectStatus(await this.#api.patch(path, instance, SDK), 200)
    const info = {
      image_source: 'c14405a4-0000-4000-8000-000000000001',
      root_gb: '20',
      swap_mb: '0',
      display_name: 's1',
      vcpus: '4',
      nova_host_id: 'ironic-1',
      memory_mb: '4096',
      local_gb: '20',
      traits,
    }
    const patch = Object.entries(info).map(([name, value]) => ({ path: `/instance_info/${name}`, op: 'add', value }))
    expectStatus(await this.#api.patch(path, patch, OLD), 200)
    const { deploy, power, storage } = expectStatus(await this.#api.get(`${path}/validate`, OLD), 200).body
    for (const part of [deploy, power, storage]) if (part.result !== true) throw new Error(JSON.stringify(part))
    expectStatus(await this.#api.put(`${path}/states/provision`, { target: 'active' }, OLD), 202)
    return node
  }

  /** Which node the server has, as nova-compute asks again and again. */
  async nodeOf(server: string): Promise<Node | null> {
    const { nodes } = expectStatus(await this.#api.get(`/v1/nodes?${FIELDS}&instance_uuid=${server}`, SDK), 200).body
    return nodes[0] ?? null
  }

  /** The end of `server delete`: `gone` waits until the node isn't the server's any more. */
  async destroy(server: string, gone: () => Promise<unknown>): Promise<void> {
    const node = (await this.nodeOf(server))!
    expectStatus(await this.#api.put(`/v1/nodes/${node.uuid}/states/provision`, { target: 'deleted' }, OLD), 202)
    await gone()
    expectStatus(await this.#api.get(`/v1/nodes/${node.uuid}/volume/targets?detail=True`, OLD), 200)
    // Freed with the node.
    expectStatus(await this.#api.placement.del(`/allocations/${server}`, { version: null }), 404)
    this.#servers.delete(server)
  }

  async #get(path: string, version: string | null) {
    return expectStatus(await this.#api.placement.get(path, { version }), 200).body
  }

  async #put(path: string, body: unknown, version: string): Promise<Answer> {
    const answer = await this.#api.placement.put(path, body, { version })
    this.#wrote(`PUT ${path.split('/').at(-1)}`, answer)
    return answer
  }

  #wrote(what: string, { status }: Answer): void {
    this.writes.push(`${what} ${status}`)
  }

  /** What was written since the last time. */
  lately(): string[] {
    return this.writes.splice(0)
  }
}
