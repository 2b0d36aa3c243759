// The duty that works off lease events, without a server around it, and a lease of a node for it.
import { pino } from 'pino'
import { witnessOf } from '../../src/audit/witness.ts'
import { systemClock } from '../../src/clock/clock.ts'
import { loadConfig } from '../../src/config/config.ts'
import { ownCompute } from '../../src/leases/compute/own.ts'
import { eventsDuty } from '../../src/leases/lifecycle/duty.ts'
import { driversOf } from '../../src/metal/drivers/registry.ts'
import type { Store } from '../../src/store/store.ts'
import { Baremetal } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'
import { Reservation } from '../support/reservation.ts'
import { startServer } from '../support/server.ts'

/** When the leases begin and end. */
const WINDOW = { from: 5, to: 30 }

/** Books a node from the fifth minute to the thirtieth, and whatever else is asked for. */
export async function book(database: string, more: (api: Reservation, window: typeof WINDOW) => Promise<void>) {
  const server = await startServer(database, { testClock: true })
  const api = new Reservation(server.origin)
  const metal = new Baremetal(server.origin)
  try {
    await more(api, WINDOW)
    const node = await metal.node({ resource_class: 'booked' }, 'available')
    expectStatus(await api.operate('PUT', `/leasable-nodes/${node}`), 200)
    const nodes = { resource_type: 'physical:node', resource_class: 'booked', min: 1, max: 1 }
    await api.lease([nodes], WINDOW)
  } finally {
    metal.close()
    api.close()
    await server.stop()
  }
}

export function dutyOn(store: Store, now: () => number) {
  const clock = { ...systemClock, now }
  return eventsDuty({
    store,
    clock,
    log: pino({ level: 'silent' }),
    config: loadConfig({}, {}, undefined),
    drivers: driversOf(),
    compute: ownCompute,
    witness: witnessOf({ clock, isAudited: true }, () => 'here'),
    metrics: { leaseEvent: () => {} },
  })
}
