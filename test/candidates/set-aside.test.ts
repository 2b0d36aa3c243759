// Hosts of leases and nodes enrolled for leases: candidates show exactly what a claim would be granted.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Baremetal } from '../support/baremetal.ts'
import { type Amounts, expectStatus } from '../support/placement.ts'
import { classOf, eachReservation, instances } from '../support/reservation.ts'
import { candidates, claimsOf, providersIn } from './questions.ts'

const SIZE = { VCPU: 1, MEMORY_MB: 512, DISK_GB: 1 }
const asked = (amounts: Amounts) =>
  `resources=${Object.entries(amounts)
    .map(([name, n]) => `${name}:${n}`)
    .join()}`

eachReservation('what is set aside for leases', api => {
  /** Whether the claim is granted; it is released at once. */
  async function isGranted(claims: Record<string, Amounts>): Promise<boolean> {
    const consumer = randomUUID()
    const answer = expectStatus(await api.placement.claim(consumer, claims), 204, 409)
    if (answer.status === 204) expectStatus(await api.placement.del(`/allocations/${consumer}`), 204)
    return answer.status === 204
  }
  /** The roots among these that candidates show for the amounts. Whatever is shown can be claimed. */
  async function shown(amounts: Amounts, roots: readonly string[], more = ''): Promise<string[]> {
    const found = await candidates(api.placement, `${asked(amounts)}&limit=1000${more}`)
    for (const request of found.requests) assert.ok(await isGranted(claimsOf(request)), JSON.stringify(request))
    return providersIn(found).filter(uuid => roots.includes(uuid))
  }

  void test('hosts are shown to those who ask for a class of a lease on them, and to nobody else', async () => {
    const { only, names, ids } = await api.pool(2)
    const hosts = await Promise.all(names.map(async name => (await api.provider(name)).uuid as string))
    const plain: string = await api.computeNode('plain')
    const roots = [...hosts, plain]
    const lease = await api.lease([instances({ resource_properties: only })], { from: 10, to: 70 })
    await api.advance(11)
    await api.until(lease.id, 'ACTIVE')
    const name = classOf(lease.reservations[0].id)
    const [slot] = (await candidates(api.placement, asked({ [name]: 1 }))).requests
    const child = Object.keys(slot!.allocations)[0]!

    assert.deepEqual(await shown(SIZE, roots), [plain])
    for (const host of hosts) {
      assert.equal(await isGranted({ [host]: SIZE }), false)
      assert.deepEqual(await shown(SIZE, roots, `&in_tree=${host}`), [])
    }
    const [leased] = await shown({ ...SIZE, [name]: 1 }, roots)
    assert.ok(await isGranted({ [leased!]: SIZE, [child]: { [name]: 1 } }))
    await api.advance(60)
    await api.until(lease.id, 'TERMINATED')
    assert.deepEqual(await shown(SIZE, roots), [plain])
    for (const [i, id] of ids.entries()) {
      expectStatus(await api.del(`/os-hosts/${id}`), 204)
      assert.deepEqual((await shown(SIZE, roots)).toSorted(), [plain, ...hosts.slice(0, i + 1)].toSorted())
    }
  })

  void test('an enrolled node is never shown, and is again when it is withdrawn', async () => {
    const metal = new Baremetal(...api.origins)
    try {
      const nodes = await metal.nodes(2, { resource_class: 'gold' })
      const one = { CUSTOM_GOLD: 1 }
      assert.deepEqual((await shown(one, nodes)).toSorted(), nodes.toSorted())
      expectStatus(await api.operate('PUT', `/leasable-nodes/${nodes[0]}`), 200)
      assert.deepEqual(await shown(one, nodes), [nodes[1]])
      assert.equal(await isGranted({ [nodes[0]!]: one }), false)
      assert.deepEqual(await shown(one, nodes, `&in_tree=${nodes[0]}`), [])
      expectStatus(await api.operate('DELETE', `/leasable-nodes/${nodes[0]}`), 204)
      assert.deepEqual((await shown(one, nodes)).toSorted(), nodes.toSorted())
    } finally {
      metal.close()
    }
  })
})
