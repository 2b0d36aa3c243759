// Those who wait in line for the one node of a class. Who came first must not see a later one with the node.
import type { Model } from '../model.ts'
import { type Actor, Client } from './actor.ts'
import { type Allocation, allocate, giveBack } from './allocations.ts'

interface Standing {
  allocation: Allocation
  askedAt: number
  answeredAt: number
  /** When it was first seen with the node; null before. */
  activeAt: number | null
  isOver: boolean
}

/** What all who wait for a class have seen. */
export class Line {
  readonly #standing: Standing[] = []

  join(allocation: Allocation, askedAt: number, answeredAt: number): Standing {
    const one = { allocation, askedAt, answeredAt, activeAt: null, isOver: false }
    this.#standing.push(one)
    return one
  }

  /** One that was sure to be there before this one was asked for, and is seen waiting after this one had the node. */
  overtaker({ answeredAt }: Standing, askedNowAt: number, toleranceMs: number): Standing | undefined {
    return this.#standing.find(
      other => other.activeAt !== null && other.activeAt < askedNowAt && answeredAt + toleranceMs < other.askedAt,
    )
  }
}

/** So long after the load everyone has been served. */
const PATIENCE_MS = 25_000

interface Options {
  model: Model
  line: Line
  who: string
  resourceClass: string
  until: number
  pauseMs: number
  toleranceMs: number
}

export function waiter({ model, line, who, resourceClass, until, pauseMs, toleranceMs }: Options): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    for (let i = 0; service.now() < until; i++) {
      const askedAt = service.now()
      // A newcomer may not wait: it gets the node only if nobody stands in line.
      const waitMs = chance.happens(0.7) ? 120_000 : null
      const wish = { resource_class: resourceClass, until: null, waitMs }
      const { allocation, reply } = await allocate({ model, client, name: `${who}-${i}`, toleranceMs }, wish)
      if (reply.outcome === 'done') {
        const standing = line.join(allocation, askedAt, service.now())
        await stand(client, standing, waitMs !== null)
        standing.isOver = true
      }
      // Without an answer it may be there all the same, and others wait for the node.
      if (reply.outcome !== 'refused') await untilGone(client, allocation)
      await service.sleep(chance.int(pauseMs))
    }

    async function stand(client: Client, standing: Standing, waits: boolean): Promise<void> {
      while (service.now() < until + PATIENCE_MS) {
        const at = service.now()
        const { status, body } = await client.get(`/baremetal/v1/allocations/${standing.allocation.name}`)
        if (status === 404 || body?.state === 'error') return
        if (body?.state === 'active') {
          standing.activeAt = service.now()
          await service.sleep(chance.int(pauseMs))
          return
        }
        const other = waits && body?.state === 'allocating' ? line.overtaker(standing, at, toleranceMs) : undefined
        if (other) {
          return client.found(
            'fairness',
            `${standing.allocation.name} still waits, but ${other.allocation.name}, which came later, had the node`,
          )
        }
        await service.sleep(250)
      }
      client.found(
        'liveness',
        `${standing.allocation.name} still waits, although those before it have long given the node back`,
      )
    }

    async function untilGone(client: Client, allocation: Allocation): Promise<void> {
      for (let tries = 0; tries < 50; tries++) {
        const { outcome } = await giveBack(model, client, allocation)
        if (outcome !== 'unknown') return
        await service.sleep(300)
      }
    }
  }
}
