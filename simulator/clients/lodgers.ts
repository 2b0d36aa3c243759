// People with a lease of two nodes, of which both break: the one with their machine must stay theirs, and the other one be
// exchanged while another is free.
import { type Actor, Client, instant, wholeSecond } from './actor.ts'
import { active } from './heirs.ts'
import { rest, untilDone } from './nodes.ts'

const LEASES = '/reservation/v1/leases'
const LEASE_MS = 120_000
/** Within this time healing has looked. */
const HEALED_MS = 15_000

interface Options {
  who: string
  resourceClass: string
  until: number
}

export function lodger({ who, resourceClass, until }: Options): Actor {
  return async (service, _, told) => {
    const client = new Client(service, told)
    for (let i = 0; service.now() < until; i++) {
      const start = wholeSecond(service.now() + 500)
      const body = {
        name: `${who}-${i}`,
        start_date: instant(start),
        end_date: instant(start + LEASE_MS),
        reservations: [{ resource_type: 'physical:node', resource_class: resourceClass, min: 2, max: 2 }],
      }
      const { outcome, body: said } = await client.post(LEASES, body)
      if (outcome === 'done') await live(said.lease.id, start)
      await service.sleep(500)
    }

    async function live(id: string, start: number): Promise<void> {
      const nodes = await nodesOf(id, start + 20_000)
      if (nodes.length === 2) {
        const [home, other] = nodes as [string, string]
        await client.put(`/baremetal/v1/nodes/${home}/states/provision`, { target: 'active' })
        const shown = await rest(client, home, start + LEASE_MS / 3)
        if (shown?.provision_state === 'active') await breakBoth(id, home, other)
      }
      await untilDone(client, () => client.del(`${LEASES}/${id}`))
    }

    async function breakBoth(id: string, home: string, other: string): Promise<void> {
      const maintenance = (node: string) => `/baremetal/v1/nodes/${node}/maintenance`
      const broken = new Set<string>()
      for (const node of [home, other]) {
        const { outcome } = await client.put(maintenance(node), { reason: 'it broke' })
        // Without an answer nobody knows whether it is in maintenance.
        if (outcome === 'done') broken.add(node)
      }
      await service.sleep(HEALED_MS)
      const [has, { body: node }] = [
        await nodesOf(id, service.now() + 1_000),
        await client.get(`/baremetal/v1/nodes/${home}`),
      ]
      if (has.length > 0 && !has.includes(home))
        client.found('healing', `lease ${id} lost node ${home}, with its machine on it`)
      if (node !== null && node.provision_state === 'active' && node.instance_uuid === null)
        client.found('healing', `node ${home} has the machine of lease ${id}, and belongs to nobody`)
      if (broken.has(other) && has.includes(other) && (await isAnyFree()))
        client.found('healing', `lease ${id} still has ${other}, which is in maintenance`)
      for (const one of [home, other]) await untilDone(client, () => client.del(maintenance(one)))
    }

    /** A crash while a node is cleaned leaves one less. */
    async function isAnyFree(): Promise<boolean> {
      const filter = `resource_class=${resourceClass}&provision_state=available&maintenance=false`
      const { body } = await client.get(`/baremetal/v1/nodes?${filter}&fields=uuid,instance_uuid`)
      return body !== null && body.nodes.some((node: { instance_uuid: string | null }) => node.instance_uuid === null)
    }

    async function nodesOf(id: string, by: number): Promise<string[]> {
      const reservations = await active(client, id, by)
      return (reservations?.[0].nodes ?? []).map(({ node }: { node: string }) => node)
    }
  }
}
