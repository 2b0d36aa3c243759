// What operators see of the service as a whole: what providers have and use, and how the service is.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { Baremetal } from '../support/baremetal.ts'
import type { Options } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'
import { as, eachReservation, type Shown, wholeHosts } from '../support/reservation.ts'

const ann = as('ann', 'vision')

eachReservation('the service', api => {
  const metal = new Baremetal()
  before(() => (metal.origins = metal.placement.origins = api.origins))
  after(() => metal.close())

  const operated = async (path: string, who?: Options): Promise<Shown> =>
    expectStatus(await api.operate('GET', path, undefined, who), 200).body

  void test('says what providers have and use: trees together, by name', async () => {
    const host = await api.placement.provider({ VCPU: 8, MEMORY_MB: 1_024, DISK_GB: 10 }, { name: 'host-10' })
    const card = await api.placement.provider({ VGPU: 4 }, { name: 'a-card', parent: host })
    expectStatus(await api.placement.put('/traits/CUSTOM_NVLINK'), 201, 204)
    const { generation } = expectStatus(await api.placement.get(`/resource_providers/${card}`), 200).body
    const traits = { resource_provider_generation: generation, traits: ['CUSTOM_NVLINK'] }
    expectStatus(await api.placement.put(`/resource_providers/${card}/traits`, traits), 200)
    await api.host('host-9')
    const lease = await api.lease([wholeHosts({ hypervisor_properties: '["=", "$hypervisor_hostname", "host-9"]' })])
    expectStatus(await api.placement.claim(randomUUID(), { [host]: { VCPU: 3 }, [card]: { VGPU: 1 } }), 204)
    const node = await metal.node({ name: 'node-1', resource_class: 'some' }, 'available')

    await api.advance(61)
    const { providers } = await operated('/capacity')
    const names = providers.map(({ name }: Shown) => name).filter((name: string) => !name.startsWith('blazar_'))
    const at = names.indexOf('host-9')
    assert.deepEqual(names.slice(at, at + 4), ['host-9', 'host-10', 'a-card', 'node-1'])
    const named = (name: string) => providers.find((one: Shown) => one.name === name)
    assert.deepEqual(named('host-10').inventories['VCPU'], [3, 8])
    assert.deepEqual([named('a-card').parent, named('a-card').traits], [host, ['CUSTOM_NVLINK']])
    assert.deepEqual(named('a-card').inventories, { VGPU: [1, 4] })
    assert.deepEqual([named('host-10').lease, named('host-9').lease.id], [null, lease.id])
    assert.equal(named('node-1').uuid, node)
    expectStatus(await api.operate('GET', '/capacity', undefined, ann), 403)
  })

  void test('says how it is, to operators', async () => {
    expectStatus(await api.operate('PUT', '/quotas/vision', { limits: { nodes: 3 } }), 200)
    const before = await operated('/health')
    assert.equal(before.conductors.length, 1)
    const [conductor] = before.conductors
    assert.deepEqual([conductor.alive, typeof conductor.at_work], [true, 'number'])
    assert.match(before.database.version, /^\d+\.\d+/)
    assert.ok(before.database.commits > 0 && before.database.writes >= before.database.commits)
    assert.equal(before.database.pool === null, before.database.kind === 'sqlite')
    assert.equal(before.feed === null, before.database.kind === 'sqlite')
    const duties = new Set(before.duties.map(({ name }: Shown) => name))
    for (const name of ['allocations', 'expiry', 'lease events', 'audit']) assert.ok(duties.has(name), name)
    assert.ok(before.duties.every(({ failing }: Shown) => !failing))
    const vision = before.quotas.find(({ project }: Shown) => project === 'vision')
    assert.deepEqual(
      vision.limits.find(({ name }: Shown) => name === 'nodes'),
      { name: 'nodes', max: 3, used: 0, is_default: false },
    )
    assert.equal(before.fsck, null)
    await operated('/fsck')
    assert.equal((await operated('/health')).fsck.violations, 0)
    expectStatus(await api.operate('GET', '/health', undefined, ann), 403)
  })
})
