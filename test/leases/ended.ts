// A lease that has ended while someone still uses one of its slots, and servers to have it on.
import { after, before, describe } from 'node:test'
import type { Amounts } from '../support/placement.ts'
import { classOf, instances, Reservation } from '../support/reservation.ts'
import { type Server, spawnServer, startServer } from '../support/server.ts'
import type { Databases } from '../support/stores.ts'

/** On PostgreSQL with two processes, which get the requests in turn. */
export function served({ kind, create }: Databases, body: (api: Reservation) => void): void {
  void describe('', () => {
    const api = new Reservation()
    const servers: Server[] = []
    before(async () => {
      const database = await create()
      if (kind === 'sqlite') servers.push(await startServer(database, { testClock: true }))
      else {
        servers.push(await spawnServer(database, ['--test-clock']))
        servers.push(await spawnServer(database, ['--test-clock'], 'api'))
      }
      api.at(...servers.map(({ origin }) => origin))
    })
    body(api)
    after(async () => {
      try {
        await api.fsck()
      } finally {
        api.close()
        for (const server of servers) await server.stop()
      }
    })
  })
}

export interface Closed {
  lease: string
  server: string
  root: string
  child: string
  resourceClass: string
  /** What the server has; of the four slots one is used. */
  has: Record<string, Amounts>
}

/** A lease that has ended, while a server of someone else's has one of its four slots. */
export async function closed(api: Reservation): Promise<Closed> {
  const { only, names } = await api.pool(1)
  const lease = await api.lease([instances({ amount: 4, resource_properties: only })], { from: 10, to: 70 })
  await api.advance(11)
  await api.until(lease.id, 'ACTIVE')
  const reservation = lease.reservations[0].id
  const server = await api.takeSlot(names[0]!, reservation)
  await api.advance(60)
  await api.until(lease.id, 'TERMINATING')
  const [root, child] = [await api.provider(names[0]!), await api.provider(`blazar_${names[0]}`)]
  const resourceClass = classOf(reservation)
  const has = { [root.uuid]: { VCPU: 1 }, [child.uuid]: { [resourceClass]: 1 } }
  return { lease: lease.id, server, root: root.uuid, child: child.uuid, resourceClass, has }
}
