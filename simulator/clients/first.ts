// A small client of claims, nodes and allocations.
import type { Inside } from '../checks/inside.ts'
import type { Cast, CastOptions } from '../simulation.ts'
import type { Chance, Finding, Service } from '../port.ts'

export type Actor = (service: Service, chance: Chance, told: (finding: Finding) => void) => Promise<void>

const PLACEMENT = { 'openstack-api-version': 'placement 1.39' }
const METAL = { 'x-openstack-ironic-api-version': '1.83' }

export const claims: Actor = async (service, chance) => {
  const put = (url: string, body: unknown) =>
    service.send({ method: 'PUT', url: `/placement${url}`, headers: PLACEMENT, body })
  const provider = chance.uuid()
  const made = {
    method: 'POST',
    url: '/placement/resource_providers',
    headers: PLACEMENT,
    body: { name: provider, uuid: provider },
  } as const
  while ((await service.send(made))?.status !== 200) await service.sleep(500)
  const inventories = { resource_provider_generation: 0, inventories: { VCPU: { total: 12 } } }
  while (!(await put(`/resource_providers/${provider}/inventories`, inventories))) await service.sleep(500)
  const held: string[] = []
  for (let i = 0; i < 20; i++) {
    await service.sleep(chance.int(600))
    if (held.length > 3 && chance.happens(0.5)) {
      const consumer = held.splice(chance.int(held.length), 1)[0]!
      await service.send({ method: 'DELETE', url: `/placement/allocations/${consumer}`, headers: PLACEMENT })
      continue
    }
    const consumer = chance.uuid()
    const answer = await put(`/allocations/${consumer}`, {
      allocations: { [provider]: { resources: { VCPU: 1 + chance.int(4) } } },
      project_id: 'p',
      user_id: 'u',
      consumer_type: 'INSTANCE',
      consumer_generation: null,
    })
    if (answer?.status !== 409) held.push(consumer)
  }
}

export const nodes: Actor = async (service, chance) => {
  const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: unknown) =>
    service.send({ method, url: `/baremetal/v1${url}`, headers: METAL, body })
  const name = `n-${chance.int(1e6)}`
  while (
    ![201, 409].includes(
      (await send('POST', '/nodes', { driver: 'fake-hardware', name, resource_class: 'big' }))?.status ?? 0,
    )
  ) {
    await service.sleep(500)
  }
  for (const verb of ['manage', 'provide']) {
    await send('PUT', `/nodes/${name}/states/provision`, { target: verb })
    await service.sleep(3_000)
  }
  for (let i = 0; i < 5; i++) {
    await service.sleep(chance.int(1_500))
    const allocation = `a-${chance.uuid().slice(0, 8)}`
    await send('POST', '/allocations', {
      name: allocation,
      resource_class: 'big',
      ...(chance.happens(0.5) && { wait: 30 }),
    })
    await service.sleep(chance.int(2_000))
    await send('DELETE', `/allocations/${allocation}`)
  }
}

const STUCK = `select 'a node is locked: ' || uuid as what from nodes where lock_incarnation is not null
  union all select 'a node is on its way: ' || uuid from nodes where transition is not null
  union all select 'an allocation is not decided: ' || uuid from allocations where state = 'allocating'`

export class FirstCast implements Cast {
  readonly #options: CastOptions

  constructor(options: CastOptions) {
    this.#options = options
  }

  async prepare(): Promise<void> {}

  async act(): Promise<void> {
    const { service, chance, told } = this.#options
    const actors = [claims, claims, nodes, nodes]
    await Promise.all(actors.map((actor, number) => actor(service, chance.stream(String(number)), told)))
  }

  async afterCommit(): Promise<Finding[]> {
    return []
  }

  async whenQuiet(): Promise<Finding[]> {
    return []
  }

  async examine(inside: Inside): Promise<Finding[]> {
    const stuck = await inside.rows<{ what: string }>(STUCK)
    return stuck.map(({ what }) => ({ check: 'liveness', text: what }))
  }
}

export const castFor = (options: CastOptions): Cast => new FirstCast(options)
