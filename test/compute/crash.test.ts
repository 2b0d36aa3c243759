// kill -9 while servers come, move and go: each that was answered is there, with its claims, and nothing else is left.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chance, clients } from '../races/clients.ts'
import { Compute } from '../support/compute.ts'
import { expectStatus } from '../support/placement.ts'
import { rounds } from '../support/rounds.ts'
import { type ServerProcess, spawnServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const ROUNDS = { sqlite: rounds(2, 4), postgres: rounds(1, 2) }
const METAL = {
  'resources:VCPU': '0',
  'resources:MEMORY_MB': '0',
  'resources:DISK_GB': '0',
  'resources:CUSTOM_IRON': '1',
}

/** Servers whose last answer is known, and whether they were there then. */
type Known = Map<string, boolean>

async function workUntilKilled(server: ServerProcess, flavors: readonly string[], afterMs: number): Promise<Known> {
  const api = new Compute(server.origin)
  const known: Known = new Map()
  const kill = async () => {
    await sleep(afterMs)
    // On a busy machine little happens in that time.
    while (known.size < 4) await sleep(20)
    await server.kill9()
  }
  const killed = kill()
  await clients(8, async index => {
    const below = chance(index + afterMs)
    for (;;) {
      let id: string | undefined
      try {
        id = expectStatus(await api.create(flavors[below(flavors.length)]!), 202).body.server.id as string
        known.set(id, true)
        if (below(2) === 0) {
          await api.action(id, ['migrate', 'os-stop', 'confirmResize'][below(3)]!)
          await api.action(id, 'os-migrateLive', { host: null, block_migration: false, disk_over_commit: false })
        }
        if (below(3) === 0) continue
        const cut = id
        known.delete(cut)
        expectStatus(await api.del(`/servers/${cut}`), 204)
        known.set(cut, false)
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        return
      }
    }
  })
  await killed
  api.close()
  return known
}

eachDatabase('a server that is killed while it runs servers', ({ kind, create }) => {
  test(`keeps its word about each of them, in ${ROUNDS[kind]} rounds`, async () => {
    const database = await create()
    let process = await spawnServer(database)
    let seen = 0
    try {
      const api = new Compute(process.origin)
      for (let i = 0; i < 4; i++) await api.hypervisor({ VCPU: 40 })
      for (let i = 0; i < 6; i++) await api.baremetal.node({ resource_class: 'iron' }, 'available')
      const flavors = [await api.flavor(), await api.flavor({ vcpus: 2 }), await api.flavor({}, METAL)]
      api.close()
      for (let round = 0; round < ROUNDS[kind]; round++) {
        const known = await workUntilKilled(process, flavors, 300 + round * 70)
        process = await spawnServer(database)
        const after = new Compute(process.origin)
        await after.fsck()
        for (const [id, isThere] of known) {
          if (isThere) expectStatus(await after.get(`/servers/${id}`), 200)
          // On bare metal it goes by and by; the deletion was answered, so it goes without being asked again.
          else await after.untilGone(id)
        }
        seen += known.size
        for (const { id } of (await after.get('/servers')).body.servers) {
          // One on bare metal whose deletion was under way may be gone by now.
          const { status } = await after.del(`/servers/${id}`)
          assert.ok(status === 204 || status === 404, String(status))
        }
        for (const { id } of (await after.get('/servers')).body.servers) await after.untilGone(id)
        await after.fsck()
        for (const { vcpus_used } of (await after.get('/os-hypervisors/detail')).body.hypervisors) {
          assert.equal(vcpus_used, 0)
        }
        after.close()
      }
    } finally {
      await process.kill9()
    }
    assert.ok(seen > 2 * ROUNDS[kind], `only ${seen} servers were made`)
  })
})
