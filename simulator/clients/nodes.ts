// Operators of machines: make nodes, provide them, deploy and undeploy, put them into maintenance, delete them.
import { GONE, type Known, type Model } from '../model.ts'
import { type Actor, Client, type Reply } from './actor.ts'

interface Node {
  uuid: string
  known: Known
  /** Its machine fails at cleaning, so it must never be available. */
  isBad: boolean
}

const url = (uuid: string) => `/baremetal/v1/nodes/${uuid}`

/** Waits until nothing works on the node any more, or the time is over; null if it is not known. */
export async function rest(client: Client, uuid: string, until: number): Promise<Reply['body']> {
  const { service } = client
  for (;;) {
    const { status, body } = await client.get(url(uuid))
    const isAtRest =
      status === 200 &&
      body.target_provision_state === null &&
      body.reservation === null &&
      body.target_power_state === null
    if (isAtRest) return body
    if (status === 404 || service.now() >= until) return null
    await service.sleep(300)
  }
}

/** Brings a new node as far as to be available; null if that failed. */
export async function available(client: Client, attributes: object, until: number): Promise<string | null> {
  const made = await client.post('/baremetal/v1/nodes', { driver: 'fake-hardware', ...attributes })
  if (made.outcome !== 'done') return null
  const { uuid } = made.body as { uuid: string }
  for (const target of ['manage', 'provide']) {
    const { outcome } = await client.put(`${url(uuid)}/states/provision`, { target })
    if (outcome !== 'done' || !(await rest(client, uuid, until))) return null
  }
  return uuid
}

interface Options {
  model: Model
  resourceClass: string
  until: number
  pauseMs: number
  /** How often it deletes a node, and how often it makes one that it doesn't need. */
  removes?: number
  makes?: number
}

export function machinist({ model, resourceClass, until, pauseMs, removes = 0.1, makes = 0.2 }: Options): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    const nodes: Node[] = []
    const there = () => nodes.filter(({ known }) => known.isSure && known.now === 'there')
    const make = async () => {
      const uuid = chance.uuid()
      const isBad = chance.happens(0.15)
      const known = model.keep(`node ${uuid}`, async one => {
        const { status, body } = await one.get(url(uuid))
        if (isBad && body?.provision_state === 'available') {
          one.found('available', `node ${uuid} is available, although its machine fails at cleaning`)
        }
        return status === 200 ? 'there' : status === 404 ? GONE : null
      })
      const body = {
        uuid,
        driver: 'fake-hardware',
        resource_class: resourceClass,
        ...(isBad && { driver_info: { fake_fail: ['clean'] } }),
      }
      const { outcome } = await model.write(known, 'there', () => client.post('/baremetal/v1/nodes', body))
      if (outcome === 'done') nodes.push({ uuid, known, isBad })
    }
    const order = async ({ uuid, isBad }: Node) => {
      const shown = await rest(client, uuid, until)
      if (!shown) return
      const { provision_state: state, power_state: power } = shown
      if (isBad && state === 'available')
        client.found('available', `node ${uuid} is available, although it can't be cleaned`)
      const verbs: Record<string, readonly string[]> = {
        enroll: ['manage'],
        manageable: ['provide', 'provide', 'provide', 'clean', 'inspect'],
        available: ['active', 'active', 'manage'],
        active: ['deleted', 'deleted', 'rebuild'],
        'clean failed': ['manage'],
        'inspect failed': ['manage'],
        'deploy failed': ['deleted'],
        error: ['deleted'],
      }
      const target = chance.pick(verbs[state] ?? ['manage'])
      if (power !== null && chance.happens(0.1)) await client.put(`${url(uuid)}/states/power`, { target: 'power on' })
      else await client.put(`${url(uuid)}/states/provision`, { target, ...(target === 'clean' && { clean_steps: [] }) })
    }
    const remove = async ({ uuid, known }: Node) => {
      if (await rest(client, uuid, until)) await model.write(known, GONE, () => client.del(url(uuid)))
    }
    /** A list has what was answered, whichever process makes it. */
    const list = async () => {
      const before = nodes.map(one => ({ ...one, now: one.known.isSure ? one.known.now : null }))
      const { status, body } = await client.get(`/baremetal/v1/nodes?resource_class=${resourceClass}&limit=1000`)
      if (status !== 200) return
      const listed = new Set((body.nodes as { uuid: string }[]).map(one => one.uuid))
      for (const { uuid, now } of before) {
        if (now === null || listed.has(uuid) === (now === 'there')) continue
        client.found('lists', `node ${uuid} is ${now}, but a list ${listed.has(uuid) ? 'has it' : 'lacks it'}`)
      }
    }
    while (service.now() < until) {
      const some = there()
      if (some.length < 2 || (some.length < 5 && chance.happens(makes))) await make()
      else if (chance.happens(removes)) await remove(chance.pick(some))
      else if (chance.happens(0.2)) await list()
      else await order(chance.pick(some))
      await service.sleep(chance.int(pauseMs))
    }
  }
}

/** Deploys its own node and tears it down again, over and over. */
export function deployer({ node, until, pauseMs }: { node: string; until: number; pauseMs: number }): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    while (service.now() < until) {
      const shown = await rest(client, node, until)
      const target = shown?.provision_state === 'available' ? 'active' : 'deleted'
      if (shown) await client.put(`${url(node)}/states/provision`, { target })
      await service.sleep(chance.int(pauseMs))
    }
  }
}

/** Puts nodes into maintenance for a while. */
export function caretaker({
  nodes,
  until,
  pauseMs,
}: {
  nodes: readonly string[]
  until: number
  pauseMs: number
}): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    while (service.now() < until) {
      await service.sleep(chance.int(pauseMs * 4))
      const node = chance.pick(nodes)
      await client.put(`${url(node)}/maintenance`, { reason: 'looked at' })
      await service.sleep(chance.int(pauseMs * 4))
      await untilDone(client, () => client.del(`${url(node)}/maintenance`))
    }
  }
}

/** What must not stay as it is: asked for until it is answered. */
export async function untilDone(client: Client, ask: () => Promise<Reply>): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const { outcome } = await ask()
    if (outcome !== 'unknown') return
    await client.service.sleep(500)
  }
}
