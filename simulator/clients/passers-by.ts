// Clients of Placement who go from one new provider to the next: each is changed by several processes at the same time, once.
import type { Chance } from '../port.ts'
import { type Actor, Client } from './actor.ts'

/** So long all processes have had time to hear of a new provider. */
const HEARD_MS = 300

export function passerBy({ until, pauseMs }: { until: number; pauseMs: number }): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    while (service.now() < until) {
      const uuid = chance.uuid()
      const url = `/placement/resource_providers/${uuid}`
      await client.post('/placement/resource_providers', { name: `host-${uuid}`, uuid })
      const inventories = { VCPU: { total: 20 } }
      const { outcome } = await client.put(`${url}/inventories`, { resource_provider_generation: 0, inventories })
      await service.sleep(HEARD_MS + chance.int(pauseMs))
      if (outcome === 'done') await Promise.all([resized(client, chance, url), ...claimed(client, chance, uuid)])
      await service.sleep(chance.int(pauseMs))
    }
  }
}

/** Mostly once: the second change shows what is missing of the first. */
const onceOrTwice = (chance: Chance): number => (chance.happens(0.25) ? 2 : 1)

async function resized(client: Client, chance: Chance, url: string): Promise<void> {
  for (let times = onceOrTwice(chance); times > 0; times--) {
    const { status, body } = await client.get(`${url}/inventories`)
    if (status !== 200) return
    const { resource_provider_generation } = body
    await client.put(`${url}/inventories/VCPU`, { resource_provider_generation, total: 30 + chance.int(30) })
  }
}

/** While it is resized, each by another consumer. */
const claimed = (client: Client, chance: Chance, uuid: string): Promise<void>[] =>
  Array.from({ length: onceOrTwice(chance) }, async () => {
    const [consumer, pauseMs] = [chance.uuid(), chance.int(60)]
    await client.service.sleep(pauseMs)
    await client.put(`/placement/allocations/${consumer}`, {
      allocations: { [uuid]: { resources: { VCPU: 1 + chance.int(3) } } },
      project_id: 'a-project',
      user_id: 'a-user',
      consumer_generation: null,
      consumer_type: 'INSTANCE',
    })
  })
