// Clients of all kinds, on every API process, who write down what they were told.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { chance } from '../races/clients.ts'
import { type Allocation, Baremetal, NEWEST } from '../support/baremetal.ts'
import type { Answer } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { instances, Reservation } from '../support/reservation.ts'
import { type Promises, THERE } from './promises.ts'

const NODES = 12
const HOSTS = 4
/** How many leases a client has at once. */
const LEASES = 20
const HOUR_MS = 3_600_000
export const CLASS = 'failover'
export const KINDS = ['claim', 'allocation', 'hold', 'lease'] as const
export type Kind = (typeof KINDS)[number]

/** What clients ask for: providers with room for all, one that is soon full, nodes, and hosts for leases. */
export interface World {
  roomy: string[]
  scarce: string
  nodes: string[]
}

export async function makeWorld(origin: string): Promise<World> {
  const [metal, leases] = [new Baremetal(origin), new Reservation(origin)]
  try {
    const nodes = await metal.nodes(NODES, { resource_class: CLASS })
    for (let at = 0; at < HOSTS; at++) await leases.host(`host-${at}`, { vcpus: 64 })
    const { placement } = metal
    const roomy = [await placement.provider({ VCPU: 1_000_000 }), await placement.provider({ VCPU: 1_000_000 })]
    return { roomy, scarce: await placement.provider({ VCPU: 20 }), nodes }
  } finally {
    metal.close()
    leases.close()
  }
}

/** When each kind of change was answered as done, by this process. */
export type Successes = Record<Kind, number[]>

interface Client {
  world: World
  promises: Promises
  metal: Baremetal
  leases: Reservation
  done: (kind: Kind) => void
  isOver: () => boolean
  below: (limit: number) => number
  /** About how long a client rests between two requests. */
  pauseMs: number
}

export interface Load {
  /** Of each process. */
  successes: Successes[]
  stop(): Promise<void>
}

interface LoadOptions {
  origins: readonly string[]
  world: World
  promises: Promises
  seed: number
  pauseMs?: number
}

export function startLoad({ origins, world, promises, seed, pauseMs = 10 }: LoadOptions): Load {
  let isOver = false
  const successes = origins.map((): Successes => ({ claim: [], allocation: [], hold: [], lease: [] }))
  const running = origins.map(async (origin, at) => {
    const [metal, leases] = [new Baremetal(origin), new Reservation(origin)]
    const done = (kind: Kind) => void successes[at]![kind].push(performance.now())
    const common = { world, promises, metal, leases, done, isOver: () => isOver, pauseMs }
    const all = [claims, claims, claims, allocations, allocations, holds, bookings]
    await Promise.all(all.map((work, i) => work({ ...common, below: chance(seed * 1_000 + at * 100 + i) })))
    metal.close()
    leases.close()
  })
  return {
    successes,
    async stop() {
      isOver = true
      await Promise.all(running)
    },
  }
}

const text = (amounts: object) =>
  JSON.stringify(
    Object.entries(amounts)
      .map(entry => JSON.stringify(entry))
      .toSorted(),
  )

/** Claims of new consumers, also more than there is room for, and releases. */
async function claims({ world, promises, metal: { placement }, done, isOver, below, pauseMs }: Client): Promise<void> {
  const mine: string[] = []
  while (!isOver()) {
    await sleep(below(pauseMs))
    if (mine.length > 3 && below(2) === 0) {
      const consumer = mine.shift()!
      const send = () => placement.del(`/allocations/${consumer}`)
      const { outcome } = await promises.change(`claim ${consumer}`, null, send)
      if (outcome === 'refused') mine.push(consumer)
      continue
    }
    const consumer = randomUUID()
    const amounts: Record<string, { VCPU: number }> = {}
    for (const provider of world.roomy) amounts[provider] = { VCPU: 1 + below(9) }
    if (below(4) === 0) amounts[world.scarce] = { VCPU: 1 + below(4) }
    const send = () => placement.claim(consumer, amounts)
    const { outcome } = await promises.change(`claim ${consumer}`, text(amounts), send)
    if (outcome !== 'done') continue
    mine.push(consumer)
    done('claim')
  }
}

/** Allocations of any node: waits until one is active, keeps it for a moment, and gives it back. */
async function allocations(client: Client): Promise<void> {
  const { promises, metal, done, isOver, below, pauseMs } = client
  while (!isOver()) {
    await sleep(below(pauseMs * 4))
    const uuid = randomUUID()
    const send = () => metal.post('/v1/allocations', { uuid, resource_class: CLASS }, NEWEST)
    const made = await promises.change(`allocation ${uuid}`, THERE, send)
    if (made.outcome !== 'done') continue
    const node = await nodeOf(client, uuid)
    const giveBack = node === null ? () => {} : promises.has(node, `allocation ${uuid}`)
    if (node !== null) {
      promises.told(`allocation ${uuid}`, node)
      done('allocation')
    }
    await sleep(below(pauseMs * 4))
    giveBack()
    await insist(client, `allocation ${uuid}`, () => metal.del(`/v1/allocations/${uuid}`, NEWEST))
  }
}

/** Null when there was none, or nobody said before the load was over. */
async function nodeOf({ promises, metal, isOver, below, pauseMs }: Client, uuid: string): Promise<string | null> {
  while (!isOver()) {
    const answer = await metal.get(`/v1/allocations/${uuid}`, NEWEST).catch(() => null)
    const outcome = answer && promises.judge(`look at allocation ${uuid}`, answer)
    // A node that was seen once stays, however the answers to later questions are.
    if (outcome === 'refused' && answer!.status === 404) {
      promises.faults.push(`lost: allocation ${uuid} was answered, and is unknown`)
      return null
    }
    if (outcome === 'done' && answer!.body.state === 'active') return answer!.body.node_uuid
    if (outcome === 'done' && answer!.body.state === 'error') return null
    await sleep(5 + below(pauseMs))
  }
  return null
}

/** Deletes, and goes on until there is an answer or the load is over. */
async function insist({ promises, isOver, pauseMs }: Client, name: string, send: () => Promise<Answer>): Promise<void> {
  for (;;) {
    const { outcome, answer } = await promises.change(name, null, send)
    if (outcome !== 'refused' || answer!.status !== 503 || isOver()) return
    await sleep(pauseMs)
  }
}

async function holds(client: Client): Promise<void> {
  const { world, promises, metal, done, isOver, below, pauseMs } = client
  while (!isOver()) {
    await sleep(below(pauseMs * 4))
    const instance = randomUUID()
    const named = [0, 1, 2].map(() => world.nodes[below(world.nodes.length)]!)
    const body = { instance_uuid: instance, node_uuid: [...new Set(named)] }
    const send = () => metal.post('/v1/reservations', body, NEWEST)
    const { outcome, answer } = await promises.change(`hold ${instance}`, THERE, send)
    if (outcome !== 'done') continue
    done('hold')
    const { uuid, node_uuid } = answer!.body.reservation
    promises.told(`hold ${instance}`, node_uuid)
    const giveBack = promises.has(node_uuid, `hold ${uuid}`)
    await sleep(below(pauseMs * 4))
    giveBack()
    await insist(client, `hold ${instance}`, () => metal.del(`/v1/reservations/${uuid}`, NEWEST))
  }
}

async function bookings(client: Client): Promise<void> {
  const { promises, leases, done, isOver, below, pauseMs } = client
  const mine: { name: string; id: string }[] = []
  const date = (at: number) => new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  while (!isOver()) {
    await sleep(below(pauseMs * 4))
    const name = `lease-${randomUUID()}`
    const start = Date.now() + (2 + below(200)) * HOUR_MS
    const dates = { start_date: date(start), end_date: date(start + HOUR_MS) }
    const wish = instances({ amount: 1 + below(3), affinity: null, resource_properties: '' })
    const send = () => leases.post('/leases', { name, ...dates, reservations: [wish] })
    const { outcome, answer } = await promises.change(`lease ${name}`, dates.start_date, send)
    if (outcome !== 'done') continue
    done('lease')
    mine.push({ name, id: answer!.body.lease.id })
    if (mine.length <= LEASES) continue
    const [oldest] = mine.splice(below(LEASES), 1)
    await insist(client, `lease ${oldest!.name}`, () => leases.del(`/leases/${oldest!.id}`))
  }
}

interface Hold {
  uuid: string
  instance_uuid: string
  node_uuid: string
}

/** What there is, as the service tells it. */
export async function everything(origin: string, world: World): Promise<Record<Kind, Map<string, string>>> {
  const [metal, leases] = [new Baremetal(origin), new Reservation(origin)]
  try {
    const claims = new Map<string, Record<string, object>>()
    for (const provider of [...world.roomy, world.scarce]) {
      const { body } = expectStatus(await metal.placement.get(`/resource_providers/${provider}/allocations`), 200)
      for (const [consumer, { resources }] of Object.entries<{ resources: object }>(body.allocations)) {
        claims.getOrInsertComputed(consumer, () => ({}))[provider] = resources
      }
    }
    const { allocations } = expectStatus(await metal.get('/v1/allocations', NEWEST), 200).body
    const { reservations } = expectStatus(await metal.get('/v1/reservations', NEWEST), 200).body
    const booked = expectStatus(await leases.get('/leases'), 200).body.leases
    return {
      claim: new Map([...claims].map(([consumer, amounts]) => [consumer, text(amounts)])),
      allocation: new Map(allocations.map((one: Allocation) => [one.uuid, one.node_uuid ?? THERE])),
      hold: new Map(reservations.map((one: Hold) => [one.instance_uuid, one.node_uuid])),
      lease: new Map(booked.map((one: { name: string; start_date: string }) => [one.name, minuteOf(one.start_date)])),
    }
  } finally {
    metal.close()
    leases.close()
  }
}

/** Removes all that clients left. */
export async function clear(origin: string, world: World): Promise<void> {
  const [metal, leases] = [new Baremetal(origin), new Reservation(origin)]
  try {
    const { claim, allocation } = await everything(origin, world)
    for (const consumer of claim.keys()) expectStatus(await metal.placement.del(`/allocations/${consumer}`), 204)
    for (const uuid of allocation.keys()) expectStatus(await metal.del(`/v1/allocations/${uuid}`, NEWEST), 204)
    const { reservations } = expectStatus(await metal.get('/v1/reservations', NEWEST), 200).body
    for (const { uuid } of reservations) expectStatus(await metal.del(`/v1/reservations/${uuid}`, NEWEST), 204)
    const booked = expectStatus(await leases.get('/leases'), 200).body.leases
    for (const { id } of booked) expectStatus(await leases.del(`/leases/${id}`), 204)
  } finally {
    metal.close()
    leases.close()
  }
}

const minuteOf = (date: string) => date.slice(0, 16).replace('T', ' ')
