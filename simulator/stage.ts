// What a mix has to work with: it prepares what its clients need, while nothing fails yet, and says who acts then.
import { available } from './clients/nodes.ts'
import type { Actor, Client } from './clients/actor.ts'
import type { Model } from './model.ts'
import type { Chance } from './port.ts'

export interface Stage {
  client: Client
  chance: Chance
  model: Model
  /** How long the clients act. */
  loadMs: number
  /** The longest pause between two acts. */
  pauseMs: number
  /** How much earlier than promised something may end: clocks differ. */
  toleranceMs: number
}

export type Mix = (stage: Stage) => Promise<readonly Actor[]>

export const common = ({ client, model, loadMs, pauseMs, toleranceMs }: Stage) => ({
  model,
  until: client.service.now() + loadMs,
  pauseMs,
  toleranceMs,
})

export const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))

/** What a mix can't do without is asked for until it is there. */
async function sure<T>({ client }: Stage, what: string, attempt: () => Promise<T | null>): Promise<T> {
  for (let tries = 0; tries < 30; tries++) {
    const found = await attempt()
    if (found !== null) return found
    await client.service.sleep(300)
  }
  throw new Error(`the mix could not be prepared: ${what}`)
}

export const answered = (stage: Stage, what: string, ask: () => ReturnType<Client['ask']>) =>
  sure(stage, what, async () => {
    const reply = await ask()
    return reply.outcome === 'done' ? reply : null
  })

export async function providers(stage: Stage, count: number, total = 12): Promise<string[]> {
  const { client, chance } = stage
  const made = times(count, () => chance.uuid())
  for (const uuid of made) {
    await answered(stage, 'a provider', () =>
      client.post('/placement/resource_providers', { name: `host-${uuid}`, uuid }),
    )
    const inventories = { VCPU: { total }, MEMORY_MB: { total: 4_096 }, DISK_GB: { total: 100 } }
    const body = { resource_provider_generation: 0, inventories }
    await answered(stage, 'an inventory', () => client.put(`/placement/resource_providers/${uuid}/inventories`, body))
  }
  return made
}

/** Nodes that are available, at once. */
export function nodes(stage: Stage, count: number, resource_class: string, more: object = {}): Promise<string[]> {
  const { client } = stage
  const until = client.service.now() + 30_000
  const one = () => sure(stage, 'a node', () => available(client, { resource_class, ...more }, until))
  return Promise.all(times(count, one))
}

export async function leasable(stage: Stage, count: number, resource_class: string): Promise<string[]> {
  const made = await nodes(stage, count, resource_class)
  for (const node of made)
    await answered(stage, 'an enrolment', () => stage.client.put(`/holdfast/v1/leasable-nodes/${node}`))
  return made
}

export async function hosts(stage: Stage, count: number): Promise<string[]> {
  const made = (await providers(stage, count, 6)).map(uuid => `host-${uuid}`)
  for (const name of made)
    await answered(stage, 'a host', () => stage.client.post('/reservation/v1/os-hosts', { name }))
  return made
}
