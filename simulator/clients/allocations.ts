// People who want machines: ask for a node, wait for it, have it for a while, prolong it, use it, give it back.
import { GONE, type Known, type Model } from '../model.ts'
import { type Actor, Client, instant, type Reply, wholeSecond, type Who } from './actor.ts'
import { rest, untilDone } from './nodes.ts'

const url = (ident: string) => `/baremetal/v1/allocations/${ident}`

/** An allocation as its owner knows it. */
export interface Allocation {
  name: string
  known: Known
  /** Promised until then at least; null without end. */
  until: number | null
  node: string | null
}

interface Asking {
  model: Model
  client: Client
  name: string
  /** How much earlier than promised an end may come: clocks differ. */
  toleranceMs: number
}

/** Asks for a node. The name is the client's own, so it can be looked for when the answer is lost. */
export async function allocate(
  { model, client, name, toleranceMs }: Asking,
  wish: { resource_class: string; until: number | null; waitMs: number | null },
): Promise<{ allocation: Allocation; reply: Reply }> {
  const { service } = client
  const allocation: Allocation = {
    name,
    known: model.keep(`allocation ${name}`, async one => {
      const { status, body } = await one.get(url(name))
      if (status === 404) return isOver(allocation, service.now(), toleranceMs) ? allocation.known.now : GONE
      if (status !== 200) return null
      follow(allocation, body, one)
      return 'there'
    }),
    until: wish.until === null ? null : wholeSecond(wish.until),
    node: null,
  }
  const body = {
    name,
    resource_class: wish.resource_class,
    ...(wish.until !== null && { expires_at: instant(wish.until) }),
    ...(wish.waitMs !== null && { wait_until: instant(service.now() + wish.waitMs) }),
  }
  const reply = await model.write(allocation.known, 'there', () => client.post('/baremetal/v1/allocations', body))
  return { allocation, reply }
}

const isOver = ({ until }: Allocation, now: number, toleranceMs: number) => until !== null && now > until - toleranceMs

/** Who has a node keeps it. */
function follow(
  allocation: Allocation,
  { state, node_uuid: node }: { state: string; node_uuid: string | null },
  client: Client,
): void {
  const { name, node: before } = allocation
  if (before !== null && (node !== before || state !== 'active')) {
    client.found('model', `allocation ${name} had node ${before}, and is now ${state} with ${node}`)
  }
  if (state === 'active') allocation.node = node
}

/** Polls until it is decided; null if the time is over or it is gone. */
export async function decided(
  client: Client,
  allocation: Allocation,
  until: number,
): Promise<'active' | 'error' | null> {
  const { service } = client
  for (;;) {
    const { status, body } = await client.get(url(allocation.name))
    if (status === 404) return null
    if (status === 200 && body.state !== 'allocating') {
      follow(allocation, body, client)
      return body.state
    }
    if (service.now() >= until) return null
    await service.sleep(300)
  }
}

export const giveBack = (model: Model, client: Client, { name, known }: Allocation): Promise<Reply> =>
  model.write(known, GONE, () => client.del(url(name)))

/** Moves its end. */
export async function prolong(client: Client, allocation: Allocation, until: number): Promise<void> {
  const value = instant(until)
  const { outcome } = await client.patch(url(allocation.name), [{ op: 'add', path: '/expires_at', value }])
  const [before, after] = [allocation.until ?? Infinity, wholeSecond(until)]
  if (outcome === 'done') allocation.until = after
  if (outcome === 'unknown') allocation.until = Math.min(before, after)
}

interface Options {
  model: Model
  /** Its names begin with it. */
  who: string
  as?: Who
  classes: readonly string[]
  until: number
  pauseMs: number
  toleranceMs: number
  /** Says of each how long it has the node; null for ever. */
  lasts: readonly (number | null)[]
  /** Whether it has machines deployed. */
  deploys: boolean
  /** How often it would wait for a node. */
  waits?: number
}

export function tenant({
  model,
  who,
  as,
  classes,
  until,
  pauseMs,
  toleranceMs,
  lasts,
  deploys,
  waits = 0.4,
}: Options): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told, as)
    const pause = () => service.sleep(chance.int(pauseMs))
    for (let i = 0; service.now() < until; i++) {
      const lastMs = chance.pick(lasts)
      const wish = {
        resource_class: chance.pick(classes),
        until: lastMs === null ? null : service.now() + lastMs,
        waitMs: chance.happens(waits) ? 2_000 + chance.int(20_000) : null,
      }
      const { allocation, reply } = await allocate({ model, client, name: `${who}-${i}`, toleranceMs }, wish)
      if (reply.outcome !== 'done') continue
      const state = chance.happens(0.8)
        ? await decided(client, allocation, Math.min(until, service.now() + 5_000))
        : null
      await pause()
      if (state === 'active' && allocation.until !== null && chance.happens(0.5)) await beforeEnd(allocation)
      if (state === 'active' && allocation.until !== null && chance.happens(0.5))
        await close(client, allocation, chance.int(1_500))
      // Without an end: nobody else gets the node meanwhile.
      if (state === 'active' && deploys && allocation.until === null && chance.happens(0.5))
        await use(client, allocation)
      if (state === 'active') await model.look(allocation.known, client)
      if (chance.happens(0.15) && allocation.until !== null) continue
      await giveBack(model, client, allocation)
      await pause()
    }

    async function beforeEnd(allocation: Allocation): Promise<void> {
      const ms = allocation.until! - toleranceMs - 200 - service.now()
      if (ms < 0 || service.now() + ms > until + 2_000) return
      await service.sleep(ms)
      await model.look(allocation.known, client)
    }

    /** Prolongs it shortly before its end, which is when others would end it. */
    async function close(client: Client, allocation: Allocation, beforeMs: number): Promise<void> {
      const at = allocation.until! - beforeMs
      if (at > until || at < service.now()) return
      await service.sleep(at - service.now())
      await prolong(client, allocation, allocation.until! + 1_000 * (1 + chance.int(10)))
      await service.sleep(beforeMs + 500)
      if (allocation.known.isSure) await model.look(allocation.known, client)
    }

    async function use(client: Client, allocation: Allocation): Promise<void> {
      const states = `/baremetal/v1/nodes/${allocation.node}/states/provision`
      // From here on its node may be torn down, which ends it.
      allocation.known.take('unknown', GONE)
      await client.put(states, { target: 'active' })
      await rest(client, allocation.node!, until)
      await client.put(states, { target: 'deleted' })
      allocation.node = null
    }
  }
}

/** The only one who uses its class: what it gave back is free, so it is never refused. */
export function loner({
  model,
  who,
  classes: [resource_class],
  until,
  pauseMs,
  toleranceMs,
}: Omit<Options, 'lasts' | 'deploys'>): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    for (let i = 0; service.now() < until; i++) {
      const wish = { resource_class: resource_class!, until: null, waitMs: null }
      const { allocation, reply } = await allocate({ model, client, name: `${who}-${i}`, toleranceMs }, wish)
      // It may come later, and take the node.
      if (reply.outcome === 'unknown') return
      if (reply.outcome === 'done' && (await decided(client, allocation, until)) === 'error') {
        const { body } = await client.get(url(allocation.name))
        client.found('alone', `${allocation.name} was refused, although its class has a free node: ${body?.last_error}`)
      }
      if (chance.happens(0.5)) await service.sleep(chance.int(pauseMs))
      if ((await giveBack(model, client, allocation)).outcome === 'unknown') return
      if (chance.happens(0.3)) await service.sleep(chance.int(pauseMs))
    }
  }
}

/** Gives back what it asked for before it knows whether it has it. */
export function fickle({
  model,
  who,
  resourceClass,
  until,
  toleranceMs,
}: Pick<Options, 'model' | 'who' | 'until' | 'toleranceMs'> & { resourceClass: string }): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    for (let i = 0; service.now() < until; i++) {
      const wish = { resource_class: resourceClass, until: null, waitMs: 60_000 }
      const { allocation } = await allocate({ model, client, name: `${who}-${i}`, toleranceMs }, wish)
      await service.sleep(chance.happens(0.2) ? chance.int(600) : chance.int(60))
      await untilDone(client, () => giveBack(model, client, allocation))
    }
  }
}
