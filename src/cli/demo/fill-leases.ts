// Creates the demo's leases: past ones, running ones with their servers, and future ones.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lease } from '../../client/index.ts'
import { atOnce } from '../../shared/at-once.ts'
import type { Filling } from './fill.ts'
import { SERVER_METADATA } from './marks.ts'
import type { DemoLease } from './promises.ts'
import { DemoFailure } from './state.ts'

const HOUR_MS = 3_600_000

export async function makeLeases(filling: Filling): Promise<void> {
  const { crowd, fleet, report } = filling
  const leasable = fleet.machines.filter(({ fate }) => fate === 'leasable')
  await atOnce(leasable, ({ uuid }) => crowd.admin.leasableNodes.enrol(uuid))
  const { leases } = fleet
  // One after the other, so that each gets the same host in every run.
  for (const [at, lease] of leases.entries()) {
    report('making leases', at, leases.length)
    await makeLease(filling, lease)
  }
}

async function makeLease(filling: Filling, lease: DemoLease): Promise<void> {
  const { crowd, now } = filling
  const { name, who, when, hours, reservations } = lease
  const server = await crowd.as(who)
  const start = startOf(lease, now())
  const made = await server.leases.create({
    name,
    start_date: when === 'coming' ? dateOf(start) : 'now',
    end_date: dateOf(start + hours * HOUR_MS),
    reservations,
  })
  if (when === 'coming') return
  await untilStatus(filling, made, 'ACTIVE')
  if (when === 'over') {
    await server.leases.update(made.id, { end_date: 'now' })
    await untilStatus(filling, made, 'TERMINATED')
  }
  const [reservation] = made.reservations as [{ id: string }]
  for (const name of lease.servers) {
    await server.servers.create({ name, flavorRef: reservation.id, metadata: SERVER_METADATA })
  }
}

/** Future leases begin at a full hour. */
const startOf = ({ when, startsInHours }: DemoLease, now: number) =>
  when === 'coming' ? (Math.ceil(now / HOUR_MS) + startsInHours) * HOUR_MS : now

/** The server counts in whole minutes. */
export const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ')

const LOOK_MS = 50
const STATUS_MS_MAX = 60_000

async function untilStatus({ crowd, now }: Filling, { id, name }: Lease, status: string): Promise<void> {
  const deadline = now() + STATUS_MS_MAX
  for (;;) {
    const lease = await crowd.admin.leases.show(id)
    if (lease.status === status) return
    if (now() > deadline) throw new DemoFailure(`lease ${name} is ${lease.status}, not ${status}`)
    await sleep(LOOK_MS)
  }
}
