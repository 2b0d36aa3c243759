// People who prolong what they have at the last moment, when the service is about to end it.
import type { Model } from '../model.ts'
import { type Actor, Client, instant, wholeSecond } from './actor.ts'
import { allocate, decided, giveBack, prolong } from './allocations.ts'

/** Before the end, at most. */
const CLOSE_MS = 80
/** After the end that was, it would have been ended. */
const LOOK_MS = 900
const TIMES = 4

interface Options {
  model: Model
  who: string
  until: number
  toleranceMs: number
}

export function clinger({ model, who, until, toleranceMs, resourceClass }: Options & { resourceClass: string }): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    for (let i = 0; service.now() < until; i++) {
      const wish = { resource_class: resourceClass, until: service.now() + 1_200, waitMs: null }
      const { allocation, reply } = await allocate({ model, client, name: `${who}-${i}`, toleranceMs }, wish)
      if (reply.outcome !== 'done' || (await decided(client, allocation, allocation.until!)) !== 'active') {
        await service.sleep(300)
        continue
      }
      for (let left = TIMES; left > 0 && service.now() < until; left--) {
        const end = allocation.until!
        await service.sleep(Math.max(0, end - chance.int(CLOSE_MS) - service.now()))
        await prolong(client, allocation, end + 2_000)
        if (allocation.until === end) break
        await service.sleep(Math.max(0, end + LOOK_MS - service.now()))
        if (allocation.known.isSure) await model.look(allocation.known, client)
      }
      await giveBack(model, client, allocation)
    }
  }
}

/** Prolongs leases of hosts. */
export function lastMinuteLessee({ who, until }: Omit<Options, 'model' | 'toleranceMs'>): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    const url = '/reservation/v1/leases'
    for (let i = 0; service.now() < until; i++) {
      const start = wholeSecond(service.now())
      const slots = { resource_type: 'virtual:instance', vcpus: 1, memory_mb: 64, disk_gb: 1, amount: 1 }
      const body = {
        name: `${who}-${i}`,
        start_date: instant(start),
        end_date: instant(start + 1_000),
        reservations: [slots],
      }
      const made = await client.post(url, body)
      if (made.outcome === 'done') await keep(made.body.lease.id, start + 1_000)
      else await service.sleep(300)
    }

    async function keep(id: string, end: number): Promise<void> {
      for (let left = TIMES; left > 0 && service.now() < until; left--) {
        await service.sleep(Math.max(0, end - chance.int(CLOSE_MS) - service.now()))
        const { outcome } = await client.put(`${url}/${id}`, { end_date: instant(end + 2_000) })
        if (outcome !== 'done') break
        end += 2_000
        await service.sleep(Math.max(0, end - 2_000 + LOOK_MS - service.now()))
        const at = service.now()
        const { status, body } = await client.get(`${url}/${id}`)
        const isOver = status === 404 || (status === 200 && body.lease.status.startsWith('TERMINAT'))
        // Long before: clocks differ.
        if (isOver && at < end - LOOK_MS)
          client.found('leases', `lease ${id} was prolonged, and is over ${end - at} ms before its end`)
      }
      await client.del(`${url}/${id}`)
    }
  }
}
