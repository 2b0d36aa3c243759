// A server moves: in one claim its old place goes to the move, and the new one to the server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Compute, eachCompute, expectFault, member } from '../support/compute.ts'
import { expectStatus } from '../support/placement.ts'

const hostOf = (server: Record<string, unknown>) => server['OS-EXT-SRV-ATTR:host'] as string

/** Who has something of this host, by consumer type. */
async function holders(api: Compute, host: string): Promise<Record<string, string[]>> {
  const { allocations } = (await api.placement.get(`/resource_providers/${await api.providerOf(host)}/allocations`))
    .body
  const found: Record<string, string[]> = {}
  for (const consumer of Object.keys(allocations as object)) {
    const { consumer_type } = (await api.placement.get(`/allocations/${consumer}`)).body
    ;(found[consumer_type] ??= []).push(consumer)
  }
  return found
}

const move = async (api: Compute, server: string) =>
  (await api.get(`/os-migrations?instance_uuid=${server}`)).body.migrations[0]

/** Waits until the host has nothing in use. */
async function untilFree(api: Compute, host: string): Promise<void> {
  const deadline = performance.now() + 15_000
  while ((await api.usages(host))['VCPU'] !== 0) {
    if (performance.now() > deadline) assert.fail(`${host} is still in use`)
    await sleep(10)
  }
}

eachCompute('moves', api => {
  test('migrate: both hosts are held until the owner confirms, then the old one is free', async () => {
    const [source, target] = [await api.hypervisor({ VCPU: 2 }), await api.hypervisor({ VCPU: 2 })]
    const flavor = await api.flavor({ vcpus: 2 })
    const { id } = await api.server(flavor, { availability_zone: `nova:${source}` })
    expectStatus(await api.action(id, 'migrate'), 202)
    const moved = await api.show(id)
    assert.deepEqual([moved.status, hostOf(moved)], ['VERIFY_RESIZE', target])
    assert.deepEqual(await holders(api, target), { INSTANCE: [id] })
    const held = await holders(api, source)
    assert.deepEqual([Object.keys(held), held['MIGRATION']!.length], [['MIGRATION'], 1])
    assert.deepEqual(await api.placement.claims(held['MIGRATION']![0]!), {
      [await api.providerOf(source)]: { VCPU: 2, MEMORY_MB: 512, DISK_GB: 1 },
    })
    assert.equal((await api.server(flavor)).status, 'ERROR', 'nobody gets in between')
    await api.fsck()
    const { status, source_compute, dest_compute } = await move(api, id)
    assert.deepEqual([status, source_compute, dest_compute], ['finished', source, target])

    expectStatus(await api.action(id, 'confirmResize'), 204)
    assert.equal((await api.show(id)).status, 'ACTIVE')
    assert.deepEqual(await holders(api, source), {})
    assert.equal((await move(api, id)).status, 'confirmed')
    expectFault(await api.action(id, 'confirmResize'), 409)
    assert.equal((await api.server(flavor)).status, 'ACTIVE')
    for (const server of (await api.get('/servers')).body.servers) await api.del(`/servers/${server.id}`)
    for (const host of [source, target]) await api.placement.del(`/resource_providers/${await api.providerOf(host)}`)
  })

  test('revert: the server has its old place again, and the new one is free', async () => {
    const [source, target] = [await api.hypervisor({ VCPU: 1 }), await api.hypervisor({ VCPU: 1 })]
    const { id } = await api.server(await api.flavor(), { availability_zone: `nova:${source}` })
    expectStatus(await api.action(id, 'os-stop'), 202)
    const before = await api.placement.claims(id)
    expectStatus(await api.action(id, 'migrate'), 202)
    expectStatus(await api.action(id, 'revertResize'), 202)
    const back = await api.show(id)
    assert.deepEqual([back.status, hostOf(back)], ['SHUTOFF', source])
    assert.deepEqual(await api.placement.claims(id), before)
    assert.deepEqual(await holders(api, target), {})
    expectFault(await api.action(id, 'revertResize'), 409)
    expectStatus(await api.del(`/servers/${id}`), 204)
    for (const host of [source, target]) await api.placement.del(`/resource_providers/${await api.providerOf(host)}`)
  })

  test('resize: another size on another host, and reverting brings the first one back', async () => {
    const [source, target] = [await api.hypervisor({ VCPU: 1 }), await api.hypervisor({ VCPU: 4 })]
    const [small, large] = [await api.flavor(), await api.flavor({ vcpus: 4, ram: 1024 })]
    const { id } = await api.server(small, { availability_zone: `nova:${source}` })
    expectStatus(await api.action(id, 'resize', { flavorRef: large }), 202)
    assert.equal((await api.show(id)).flavor.id, large)
    assert.equal((await api.usages(target))['VCPU'], 4)
    expectStatus(await api.action(id, 'revertResize'), 202)
    assert.equal((await api.show(id)).flavor.id, small)
    assert.equal((await api.usages(target))['VCPU'], 0)
    expectStatus(await api.action(id, 'resize', { flavorRef: large }), 202)
    expectStatus(await api.action(id, 'confirmResize'), 204)
    assert.equal((await api.usages(source))['VCPU'], 0)
    expectFault(await api.action(id, 'resize', { flavorRef: 'no-such' }), 400)
    expectStatus(await api.del(`/servers/${id}`), 204)
    for (const host of [source, target]) await api.placement.del(`/resource_providers/${await api.providerOf(host)}`)
  })

  test('live migration: to the host that is named, and by itself to its end', async () => {
    const hosts = [await api.hypervisor(), await api.hypervisor(), await api.hypervisor()] as const
    const { id } = await api.server(await api.flavor(), { availability_zone: `nova:${hosts[0]}` })
    const live = (host: string | null) =>
      api.action(id, 'os-migrateLive', { host, block_migration: false, disk_over_commit: false })
    expectStatus(await live(hosts[2]), 202)
    const moved = await api.untilStatus(id, 'ACTIVE')
    assert.equal(hostOf(moved), hosts[2])
    await untilFree(api, hosts[0])
    assert.equal((await move(api, id)).status, 'completed')
    expectFault(await live('nowhere'), 400, /nowhere could not be found/)
    expectFault(await live(hosts[2]), 400, /No valid host/)
    expectStatus(await live(null), 202)
    assert.notEqual(hostOf(await api.untilStatus(id, 'ACTIVE')), hosts[2])
    expectStatus(await api.del(`/servers/${id}`), 204)
    for (const host of hosts) await untilFree(api, host)
    for (const host of hosts) await api.placement.del(`/resource_providers/${await api.providerOf(host)}`)
  })

  test('evacuate: away from a host that is down, which is free when it is back', async () => {
    const [source, target] = [await api.hypervisor(), await api.hypervisor()]
    const { id } = await api.server(await api.flavor(), { availability_zone: `nova:${source}` })
    const evacuate = () => api.action(id, 'evacuate', { onSharedStorage: 'False' })
    expectFault(await evacuate(), 400, new RegExp(`${source} is still in use`))
    expectStatus(await api.setState(source, 'down'), 200)
    assert.ok(expectStatus(await evacuate(), 200).body.adminPass)
    const moved = await api.show(id)
    assert.deepEqual([moved.status, hostOf(moved)], ['ACTIVE', target])
    assert.deepEqual(Object.keys(await holders(api, source)), ['MIGRATION'], 'nobody knows what still runs there')
    await api.fsck()
    expectStatus(await api.setState(source, 'up'), 200)
    await untilFree(api, source)
    assert.equal((await move(api, id)).status, 'completed')
    expectStatus(await api.del(`/servers/${id}`), 204)
    for (const host of [source, target]) await api.placement.del(`/resource_providers/${await api.providerOf(host)}`)
  })

  test('deleting a server in the middle of a move frees both hosts', async () => {
    const hosts = [await api.hypervisor(), await api.hypervisor()]
    const { id } = await api.server(await api.flavor())
    expectStatus(await api.action(id, 'migrate'), 202)
    expectStatus(await api.del(`/servers/${id}`), 204)
    for (const host of hosts) assert.deepEqual(await holders(api, host), {})
  })

  test('what can not be: nowhere to go, a wrong state, or no admin', async () => {
    const { id } = await api.server(await api.flavor({ vcpus: 8 }))
    const blocker = await api.server(await api.flavor())
    expectFault(await api.action(id, 'migrate'), 400, /No valid host was found/)
    assert.equal((await api.show(id)).status, 'ACTIVE')
    expectFault(await api.action(id, 'confirmResize'), 409, /Cannot 'confirmResize'/)
    const failed = await api.server(await api.flavor({ vcpus: 10_000 }))
    expectFault(await api.action(failed.id, 'migrate'), 409)
    const mine = await api.server(await api.flavor(), {}, member('mine'))
    expectFault(await api.action(mine.id, 'migrate', null, member('mine')), 403)
    expectFault(await api.get('/os-migrations', member('mine')), 403)
    for (const server of [id, blocker.id, failed.id, mine.id]) expectStatus(await api.del(`/servers/${server}`), 204)
  })
})
