// Healing with servers in the way, hosts that shrink, and the schema as the last line.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { classOf, eachReservation, instances, type Shown } from '../support/reservation.ts'

eachReservation('reservations that lose their host', api => {
  const idOf = (lease: Shown): string => lease.reservations[0].id
  const turn = async (name: string, state: 'up' | 'down') => {
    expectStatus(await api.operate('POST', '/hypervisor-state', { name, state }), 200)
    await api.advance(0)
  }
  const total = async (host: string, reservation: string): Promise<number | undefined> =>
    (await api.inventories(host))[classOf(reservation)]?.total
  const slotsOn = async (host: string, reservation: string) => (await api.slots())[host]?.[reservation] ?? 0

  void test('slots that servers run on stay theirs, and come after the others when the servers are gone', async () => {
    const pool = await api.pool(2)
    const lease = await api.lease([instances({ amount: 2, affinity: true, resource_properties: pool.only })], {
      from: 1,
      to: 600,
    })
    await api.advance(2)
    await api.until(lease.id, 'ACTIVE')
    const id = idOf(lease)
    const server = await api.server(id)
    assert.equal(server.status, 'ACTIVE')
    const down: string = server['OS-EXT-SRV-ATTR:hypervisor_hostname']
    const up = pool.names.find(name => name !== down)!
    await turn(down, 'down')
    // Never more than were booked.
    assert.deepEqual([await total(up, id), await slotsOn(up, id)], [1, 1])
    assert.deepEqual([await total(down, id), await slotsOn(down, id)], [1, 1])
    assert.equal((await api.show(lease.id)).reservations[0].missing_resources, false)
    await api.fsck()
    expectStatus(await api.compute.del(`/servers/${server.id}`, { version: null }), 204)
    await api.advance(0)
    assert.deepEqual([await total(down, id), await slotsOn(down, id)], [undefined, 0])
    assert.deepEqual([await total(up, id), await slotsOn(up, id)], [2, 2])
    await api.fsck()
    await turn(down, 'up')
    await api.end(lease.id)
  })

  void test('when the host comes back in time, all is as it was', async () => {
    const pool = await api.pool(2)
    const lease = await api.lease([instances({ amount: 1, resource_properties: pool.only })], { from: 1, to: 600 })
    await api.advance(2)
    await api.until(lease.id, 'ACTIVE')
    const id = idOf(lease)
    const server = await api.server(id)
    const down: string = server['OS-EXT-SRV-ATTR:hypervisor_hostname']
    const other = pool.names.find(name => name !== down)!
    await turn(down, 'down')
    assert.equal(await total(other, id), undefined)
    await turn(down, 'up')
    assert.deepEqual([await total(down, id), await total(other, id)], [1, undefined])
    await api.fsck()
    await api.end(lease.id)
    await api.fsck()
  })

  void test('have an entry in the audit for what was done about it', async () => {
    const pool = await api.pool(2)
    const lease = await api.lease([instances({ resource_properties: pool.only })], { from: 10, to: 600 })
    const slots = await api.slots()
    const down = pool.names.find(name => slots[name]?.[idOf(lease)] === 1)!
    const told = async (object: string): Promise<string[]> => {
      const { entries } = expectStatus(await api.operate('GET', `/audit?object=${object}`), 200).body
      return entries.map(({ user, project, action }: Shown) => `${user} ${project} ${action}`)
    }
    const { project_id } = await api.show(lease.id)
    assert.deepEqual(
      (await told(lease.id)).filter(entry => entry.includes('conductor')),
      [],
    )
    await turn(down, 'down')
    await turn(down, 'up')
    await api.advance(0)
    assert.deepEqual(
      (await told(lease.id)).filter(entry => entry.includes('conductor')),
      [`conductor ${project_id} conductor:heal_lease`],
    )
    const host = pool.ids[pool.names.indexOf(down)]!
    assert.deepEqual((await told(host)).slice(0, 2), [
      'conductor null conductor:open_host',
      'conductor null conductor:close_host',
    ])
    await api.end(lease.id)
  })

  void test('of a host that shrinks, what no longer fits moves away', async () => {
    const pool = await api.pool(2, { vcpus: 4 })
    const wish = [instances({ vcpus: 2, resource_properties: pool.only })]
    const leases = [await api.lease(wish, { from: 10, to: 60 }), await api.lease(wish, { from: 10, to: 60 })]
    const slots = await api.slots()
    const full = pool.names.find(name => leases.every(lease => slots[name]?.[idOf(lease)] === 1))!
    assert.ok(full, 'both are packed onto one host')
    const { uuid } = await api.provider(full)
    const smaller = { VCPU: 2, MEMORY_MB: 16_384, DISK_GB: 200 }
    expectStatus(await api.placement.setInventories(uuid, smaller), 200)
    await api.fsck()
    await api.advance(0)
    const after = await api.slots()
    assert.deepEqual(
      pool.names.map(name => Object.values(after[name] ?? {}).reduce((sum, count) => sum + count, 0)),
      [1, 1],
    )
    await api.fsck()
    for (const { id } of leases) await api.end(id)
  })

  void test('a host that grew has room for more at once', async () => {
    const pool = await api.pool(1, { vcpus: 2 })
    const wish = [instances({ vcpus: 4, resource_properties: pool.only })]
    expectStatus(await api.tryLease(wish), 409)
    const { uuid } = await api.provider(pool.names[0]!)
    expectStatus(await api.placement.setInventories(uuid, { VCPU: 4, MEMORY_MB: 16_384, DISK_GB: 200 }), 200)
    await api.end((await api.lease(wish)).id)
  })
})
