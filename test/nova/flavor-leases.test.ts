// Leases by a flavor of a Nova: the flavor is read before the booking and copied, and its servers claim all of it.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { classOf, expectError, type Shown } from '../support/reservation.ts'
import { eachLab, soon } from './lab.ts'

eachLab('leases by a flavor of a Nova', lab => {
  const TRAIT = 'CUSTOM_WITH_GPU'
  const SPECS = { 'resources:CUSTOM_GPU': '1', [`trait:${TRAIT}`]: 'required', 'hw:mem_page_size': 'large' }
  let hosts: string[] = []

  before(async () => {
    hosts = await lab().hosts(2)
    const { placement } = lab().api
    expectStatus(await placement.put('/resource_classes/CUSTOM_GPU'), 201)
    expectStatus(await placement.put(`/traits/${TRAIT}`), 201)
    const { uuid } = await lab().api.provider(hosts[1]!)
    const inventories = expectStatus(await placement.get(`/resource_providers/${uuid}/inventories`), 200).body
    inventories.inventories.CUSTOM_GPU = { total: 3 }
    expectStatus(await placement.put(`/resource_providers/${uuid}/inventories`, inventories), 200)
    const traits = expectStatus(await placement.get(`/resource_providers/${uuid}/traits`), 200).body
    traits.traits.push(TRAIT)
    expectStatus(await placement.put(`/resource_providers/${uuid}/traits`, traits), 200)
  })

  const by = (flavor_id: string, more: object = {}) => ({
    resource_type: 'flavor:instance',
    flavor_id,
    amount: 1,
    ...more,
  })

  async function novaFlavor(id: string, extra_specs: object = SPECS, more: object = {}) {
    const { compute } = lab()
    const flavor = { id, name: `name-of-${id}`, vcpus: 2, ram: 512, disk: 1, ...more }
    expectStatus(await compute.post('/flavors', { flavor }), 200)
    if (Object.keys(extra_specs).length > 0) {
      expectStatus(await compute.post(`/flavors/${id}/os-extra_specs`, { extra_specs }), 200)
    }
    return id
  }

  test('from create to end: a copy in Nova, servers that claim its other resources, one too many refused', async () => {
    const { api, nova, alice, compute } = lab()
    const source = await novaFlavor('gpu', SPECS, { 'OS-FLV-EXT-DATA:ephemeral': 4, swap: 1500 })
    const lease: Shown = await api.lease([by(source, { amount: 2 })], { from: 5, to: 60 }, alice)
    const { id, resource_properties, disk_gb } = lease.reservations[0]
    assert.deepEqual([JSON.parse(resource_properties).name, disk_gb], ['name-of-gpu', 1])
    expectStatus(await compute.del(`/flavors/${source}`), 202)
    await soon(() => assert.deepEqual(nova.flavors.get(id)?.specs, { ...SPECS, [`resources:${classOf(id)}`]: '1' }))
    const { name, vcpus, ram, disk, ephemeral, swap } = nova.flavors.get(id)!
    assert.deepEqual([name, vcpus, ram, disk, ephemeral, swap], [`reservation:${id}`, 2, 512, 1, 4, 1500])
    await api.advance(6)
    await soon(() => assert.deepEqual(lab().access(id), [lab().project]))
    for (let i = 0; i < 2; i++) {
      const server = await lab().boot(id)
      assert.deepEqual([server.status, server['OS-EXT-SRV-ATTR:host']], ['ACTIVE', hosts[1]])
    }
    assert.equal((await lab().boot(id)).status, 'ERROR')
    const { uuid } = await api.provider(hosts[1]!)
    assert.deepEqual(await api.placement.usages(uuid), { VCPU: 4, MEMORY_MB: 1024, DISK_GB: 14, CUSTOM_GPU: 2 })
    // Three GPUs in all: one is left at that time, and all of them later.
    const other = await novaFlavor('gpu-2')
    expectError(await api.tryLease([by(other, { amount: 2 })], { from: 10, to: 20 }, alice), 409)
    await api.end((await api.lease([by(other, { amount: 3 })], { from: 100, to: 110 }, alice)).id)
    await api.advance(60)
    await soon(async () => {
      await api.advance(0.1)
      assert.equal((await api.show(lease.id)).status, 'TERMINATED')
      assert.equal(nova.flavors.get(id), undefined)
    })
    assert.equal((await api.placement.usages(uuid))['CUSTOM_GPU'], 0)
  })

  test('a private flavor is for those who may use it; what there is not is not found', async () => {
    const { api, alice, compute, project } = lab()
    const source = await novaFlavor('private', {}, { 'os-flavor-access:is_public': false })
    expectError(await api.tryLease([by(source)], {}, alice), 400, /Flavor private could not be found/)
    expectError(await api.tryLease([by('never-made')], {}, alice), 400, /Flavor never-made could not be found/)
    expectError(await api.tryLease([by('../servers')], {}, alice), 400, /could not be found/)
    expectStatus(await compute.post(`/flavors/${source}/action`, { addTenantAccess: { tenant: project } }), 200)
    await api.end((await api.lease([by(source)], {}, alice)).id)
    const mixed = await novaFlavor('mixed', { 'hw:cpu_policy': 'mixed' })
    expectError(await api.tryLease([by(mixed)], {}, alice), 400, /can not be booked: extra spec hw:cpu_policy=mixed/)
    const dedicated = await novaFlavor('dedicated', { 'hw:cpu_policy': 'dedicated' })
    expectError(await api.tryLease([by(dedicated)]), 409, /it has no PCPU/)
  })

  test('a Nova that is away: 503, and nothing is booked; once booked, the flavor is not asked for again', async () => {
    const { api, nova, alice } = lab()
    const source = await novaFlavor('asked')
    const lease = await api.lease([by(source)], { from: 5, to: 60 }, alice)
    const before = (await api.get('/leases')).body.leases.length
    await nova.away()
    expectError(await api.tryLease([by(source)], {}, alice), 503, /Nova can't be asked for flavor asked now/)
    assert.equal((await api.get('/leases')).body.leases.length, before)
    const change = { reservations: [{ id: lease.reservations[0].id, amount: 2 }] }
    assert.equal((await api.update(lease.id, change, alice)).reservations[0].amount, 2)
    await nova.back()
    nova.fail({ kind: 'status', status: 403, method: 'GET', path: /^\/flavors\/asked/, times: 1 })
    expectError(await api.tryLease([by(source)], {}, alice), 503)
    await api.end(lease.id)
    await soon(() => assert.equal(nova.flavors.get(lease.reservations[0].id), undefined))
  })
})
