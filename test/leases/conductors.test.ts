// Conductors that are killed while leases begin and end: each lease still does both, once, and leaves nothing.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawnConductor } from '../support/baremetal.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { expectStatus } from '../support/placement.ts'
import { classOf, instances, Reservation, type Shown } from '../support/reservation.ts'
import { type Command, runHoldfast, type Server, spawnServer } from '../support/server.ts'
import { inParallel } from '../races/clients.ts'

const LEASES = 200
const DEADLINE_MS = 60_000

describe('conductors that are killed', () => {
  const api = new Reservation()
  let [server, databases]: [Server | null, Awaited<ReturnType<typeof sharedPostgres>> | null] = [null, null]
  let database = ''
  before(async () => {
    databases = await sharedPostgres()
    database = await databases.createDatabase()
    assert.equal((await runHoldfast(['migrate', '--database', database]).exit).code, 0)
    server = await spawnServer(database, ['--test-clock'], 'api')
    api.at(server.origin)
  })
  after(async () => {
    api.close()
    await server?.stop()
    await databases?.stop()
  })

  /** Keeps two conductors running and kills one of them again and again until the work is done. */
  async function underFire(isDone: () => Promise<boolean>): Promise<number> {
    const start = (i: number) => spawnConductor(database, `c${i}`, ['--test-clock', '--take-over-ms', '1000'])
    const running: Command[] = [await start(0), await start(1)]
    let kills = 0
    try {
      const deadline = performance.now() + DEADLINE_MS
      while (!(await isDone())) {
        assert.ok(performance.now() < deadline, 'the leases are not where they should be in time')
        await sleep(150)
        running[kills % 2]!.child.kill('SIGKILL')
        running[kills % 2] = await start(kills % 2)
        kills++
      }
    } finally {
      for (const { child, exit } of running) {
        child.kill('SIGTERM')
        await exit
      }
    }
    return kills
  }

  const all = async (status: string): Promise<boolean> => {
    const { leases } = expectStatus(await api.get('/leases'), 200).body
    return leases.every((lease: Shown) => lease.status === status)
  }

  void test(`${LEASES} leases start and end, each once`, async () => {
    const pool = await api.pool(10, { vcpus: 64, memory_mb: 1_048_576, disk_gb: 10_000 })
    const wish = [instances({ amount: 2, resource_properties: pool.only })]
    const leases = await inParallel(8, LEASES, () => api.lease(wish, { from: 5, to: 60 }))
    // Only the offset: the work itself is for the conductors, so the process that is asked must not do it.
    const move = (minutes: number) => api.operate('POST', '/clock', { advance: minutes * 60, work: false })
    expectStatus(await move(6), 200)
    await underFire(() => all('ACTIVE'))
    await api.fsck()
    const totals = new Map<string, number>()
    for (const name of pool.names) {
      for (const [resourceClass, { total }] of Object.entries(await api.inventories(name))) {
        totals.set(resourceClass, (totals.get(resourceClass) ?? 0) + total)
      }
    }
    for (const { reservations } of leases) assert.equal(totals.get(classOf(reservations[0].id)), 2)
    expectStatus(await move(60), 200)
    await underFire(() => all('TERMINATED'))
    await api.fsck()
    assert.deepEqual(await api.classes(), [])
  })
})
