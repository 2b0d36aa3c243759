// People who book the same hosts or nodes one right after the other, and don't leave in time.
import type { Chance } from '../port.ts'
import { type Actor, Client, instant, wholeSecond } from './actor.ts'
import { rest, untilDone } from './nodes.ts'

const LEASES = '/reservation/v1/leases'
/** The last one has it for so long that it would be seen waiting. */
const LAST_MS = 600_000
const PATIENCE_MS = 20_000

/** Until when it is booked. */
export interface Estate {
  bookedUntil: number
}

interface Options {
  estate: Estate
  who: string
  wish: (chance: Chance) => Record<string, unknown>
  /** Keeps what the lease has given beyond its end. */
  stays: (lease: Lease, client: Client) => Promise<void>
  until: number
}

export interface Lease {
  id: string
  reservation: string
  start: number
  end: number
  /** The machines, by the uuids of their nodes. */
  nodes: readonly string[]
}

export function heir({ estate, who, wish, stays, until }: Options): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    for (let i = 0; service.now() < until; i++) {
      const start = Math.max(wholeSecond(service.now() + 500), estate.bookedUntil)
      if (start > until + LAST_MS / 2) return
      const isLast = start > until - 3_000
      const end = start + (isLast ? LAST_MS : 2_000 + 1_000 * chance.int(2))
      const dates = { start_date: instant(start), end_date: instant(end) }
      const body = { name: `${who}-${i}`, ...dates, reservations: [wish(chance)] }
      estate.bookedUntil = end
      const made = await client.post(LEASES, body)
      if (made.outcome === 'done') await have(made.body.lease.id, start, end)
      if (isLast) return
      await service.sleep(chance.int(300))
    }

    async function have(id: string, start: number, end: number): Promise<void> {
      await service.sleep(Math.max(0, start - service.now()))
      const shown = await active(client, id, Math.min(end, service.now() + PATIENCE_MS))
      if (!shown) return
      const [{ id: reservation, nodes = [] }] = shown
      const uuids = nodes.map(({ node }: { node: string }) => node)
      if (end - start < LAST_MS) await stays({ id, reservation, start, end, nodes: uuids }, client)
    }
  }
}

/** The reservations of the lease, once it has begun; null if it has not by then. */
export async function active(client: Client, id: string, by: number) {
  const { service } = client
  while (service.now() < by) {
    const { status, body } = await client.get(`${LEASES}/${id}`)
    if (status === 200 && body.lease.status === 'ACTIVE') return body.lease.reservations
    if (status === 404) return null
    await service.sleep(250)
  }
  return null
}

/** Has a machine on the first node, which must be torn down when the lease is over. */
export async function leavesMachine({ end, nodes: [node] }: Lease, client: Client): Promise<void> {
  if (!node) return
  await client.put(`/baremetal/v1/nodes/${node}/states/provision`, { target: 'active' })
  await rest(client, node, end)
}

/** Has a slot on the host until some time after the end. */
export const keepsSlot =
  (host: string, chance: Chance) =>
  async ({ reservation, end }: Lease, client: Client): Promise<void> => {
    const { service } = client
    const [root, child] = [await provider(host), await provider(`blazar_${host}`)]
    if (!root || !child) return
    const consumer = chance.uuid()
    const name = `CUSTOM_RESERVATION_${reservation.toUpperCase().replaceAll('-', '_')}`
    const { outcome } = await client.put(`/placement/allocations/${consumer}`, {
      allocations: { [root]: { resources: { VCPU: 1 } }, [child]: { resources: { [name]: 1 } } },
      project_id: 'p',
      user_id: 'u',
      consumer_generation: null,
      consumer_type: 'INSTANCE',
    })
    if (outcome === 'refused') return
    await service.sleep(Math.max(0, end - service.now()) + chance.int(2_500))
    await untilDone(client, () => client.del(`/placement/allocations/${consumer}`))

    async function provider(named: string): Promise<string | null> {
      const { status, body } = await client.get(`/placement/resource_providers?name=${named}`)
      return status === 200 ? (body.resource_providers[0]?.uuid ?? null) : null
    }
  }
