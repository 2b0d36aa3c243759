// One change of the fleet after another, picked at random: nodes, allocations, holds, claims, leases, and the time.
import { randomUUID } from 'node:crypto'
import { type Baremetal, NEWEST } from '../support/baremetal.ts'
import { dateAt, type Reservation } from '../support/reservation.ts'

let count = 0

const MINE = { ...NEWEST, token: 'alice:p1', headers: { 'x-roles': 'member' } }

interface World {
  metal: Baremetal
  leases: Reservation
  /** The uuids of nodes of class `some`. */
  nodes: string[]
}

/** A function that makes one change, which may be refused: what matters is that all say the same afterwards. */
export function randomChanges({ metal, leases, nodes }: World): (random: () => number) => Promise<void> {
  const made = { allocations: [] as string[], holds: [] as string[], leases: [] as string[], consumers: [] as string[] }

  return async function change(random: () => number): Promise<void> {
    const pick = <T>(some: readonly T[]): T => some[Math.floor(random() * some.length)]!
    const node = pick(nodes)
    const name = `thing-${++count}`
    const at = await metal.now()
    const later = new Date(at + 3_600_000).toISOString()
    const ops: (() => Promise<unknown>)[] = [
      async () => {
        const wish = { resource_class: 'some', name, expires_at: later, ...(random() < 0.3 && { owner: 'p1' }) }
        const { body, status } = await metal.post('/v1/allocations', wish, random() < 0.5 ? MINE : NEWEST)
        if (status === 201) made.allocations.push(body.uuid)
      },
      () => metal.del(`/v1/allocations/${pick(made.allocations) ?? name}`, NEWEST),
      () =>
        metal.patch(
          `/v1/allocations/${pick(made.allocations) ?? name}`,
          [{ op: 'add', path: '/name', value: name }],
          NEWEST,
        ),
      async () => {
        const body = { instance_uuid: randomUUID(), node_uuid: [node], expires_at: later }
        const { body: shown, status } = await metal.post('/v1/reservations', body, NEWEST)
        if (status === 201) made.holds.push(shown.reservation.uuid)
      },
      () => metal.del(`/v1/reservations/${pick(made.holds) ?? randomUUID()}`, NEWEST),
      () => metal.put(`/v1/nodes/${node}/maintenance`, { reason: name }),
      () => metal.del(`/v1/nodes/${node}/maintenance`),
      () => metal.change(node, 'description', name),
      () => metal.change(node, 'lessee', pick(['p1', 'p3'])),
      () => metal.change(node, 'name', name),
      () => metal.put(`/v1/nodes/${node}/traits`, { traits: [`CUSTOM_T${Math.floor(random() * 4)}`] }),
      async () => {
        const consumer = randomUUID()
        const { status } = await metal.placement.claim(consumer, { [node]: { CUSTOM_SOME: 1 } })
        if (status === 204) made.consumers.push(consumer)
      },
      () => metal.placement.del(`/allocations/${pick(made.consumers) ?? randomUUID()}`),
      async () => {
        const reservations = [{ resource_type: 'physical:node', resource_class: 'some', min: 1, max: 2 }]
        const dates = { start_date: dateAt(at, 5 + Math.floor(random() * 60)), end_date: dateAt(at, 120) }
        const { body, status } = await leases.post('/leases', { name, ...dates, reservations })
        if (status === 201) made.leases.push(body.lease.id)
      },
      () => leases.del(`/leases/${pick(made.leases) ?? randomUUID()}`),
      () => leases.put(`/leases/${pick(made.leases) ?? randomUUID()}`, { name }),
      () => metal.provision(node, pick(['active', 'deleted', 'manage', 'provide'])),
      async () => nodes.push(await metal.node({ name, resource_class: 'some' })),
      () => metal.del(`/v1/nodes/${node}`),
      () => leases.advance(Math.floor(random() * 20)),
    ]
    await pick(ops)()
  }
}
