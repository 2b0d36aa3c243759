// Those who change the calendar and what is in it all the time: copies in memory are read while they change.
import { type Actor, Client, instant, wholeSecond } from './actor.ts'
import { untilDone } from './nodes.ts'

const LEASES = '/reservation/v1/leases'
const HOUR_MS = 3_600_000

interface Options {
  until: number
  pauseMs: number
}

/** Books one node for some minutes in a far future, where it is free, and thinks better of it. */
export function planner({
  who,
  resourceClass,
  until,
  pauseMs,
}: Options & { who: string; resourceClass: string }): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    for (let i = 0; service.now() < until; i++) {
      const start = wholeSecond(service.now() + HOUR_MS * (1 + chance.int(1_000)))
      const { outcome, body } = await client.post(LEASES, {
        name: `${who}-${i}`,
        start_date: instant(start),
        end_date: instant(start + 60_000),
        reservations: [{ resource_type: 'physical:node', resource_class: resourceClass, min: 1, max: 1 }],
      })
      await service.sleep(chance.int(pauseMs))
      if (outcome === 'done') await untilDone(client, () => client.del(`${LEASES}/${body.lease.id}`))
    }
  }
}

/** Writes notes on nodes: that changes nothing in the calendar, but others read there again. */
export function scribbler({ nodes, until, pauseMs }: Options & { nodes: readonly string[] }): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    for (let i = 0; service.now() < until; i++) {
      await client.patch(`/baremetal/v1/nodes/${chance.pick(nodes)}`, [{ op: 'add', path: '/extra/note', value: i }])
      await service.sleep(chance.int(pauseMs))
    }
  }
}

/** Makes hosts and takes them into the pool, and some of them out again. */
export function enroller({ until, pauseMs }: Options): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    while (service.now() < until) {
      const uuid = chance.uuid()
      const name = `host-${uuid}`
      await client.post('/placement/resource_providers', { name, uuid })
      const stock = { resource_provider_generation: 0, inventories: { VCPU: { total: 4 } } }
      await client.put(`/placement/resource_providers/${uuid}/inventories`, stock)
      const { outcome, body } = await client.post('/reservation/v1/os-hosts', { name })
      await service.sleep(chance.int(pauseMs))
      if (outcome === 'done' && chance.happens(0.3)) await client.del(`/reservation/v1/os-hosts/${body.host.id}`)
    }
  }
}
