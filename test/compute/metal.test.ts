// A server on bare metal: the flavor asks for a node's class, and the node becomes the server's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Compute, eachCompute, expectFault, member } from '../support/compute.ts'
import { expectStatus } from '../support/placement.ts'

const NOTHING_ELSE = { 'resources:VCPU': '0', 'resources:MEMORY_MB': '0', 'resources:DISK_GB': '0' }

const metalFlavor = (api: Compute, resourceClass: string, more: Record<string, string> = {}) =>
  api.flavor({}, { ...NOTHING_ELSE, [`resources:CUSTOM_${resourceClass.toUpperCase()}`]: '1', ...more })

eachCompute('servers on bare metal', api => {
  test('the server takes a node with the traits it wants, is active when the node is, and gives it back empty', async () => {
    await api.baremetal.node({ resource_class: 'gpu' }, 'available')
    const node = await api.baremetal.node({ resource_class: 'gpu' }, 'available')
    expectStatus(await api.baremetal.put(`/v1/nodes/${node}/traits/CUSTOM_NVLINK`), 204)
    const flavor = await metalFlavor(api, 'gpu', { 'trait:CUSTOM_NVLINK': 'required' })

    const { id } = await api.server(flavor, { name: 'trainer' }, member('lab'))
    const active = await api.untilStatus(id, 'ACTIVE')
    assert.equal(active['OS-EXT-SRV-ATTR:host'], node)
    const shown = await api.baremetal.show(node)
    assert.deepEqual([shown.instance_uuid, shown.provision_state], [id, 'active'])
    assert.deepEqual(shown.instance_info.traits, ['CUSTOM_NVLINK'])
    assert.equal(shown.instance_info.display_name, 'trainer')
    assert.deepEqual(await api.placement.claims(id), { [node]: { CUSTOM_GPU: 1 } })
    const { body } = await api.placement.get(`/allocations/${id}`)
    assert.deepEqual([body.consumer_type, body.project_id], ['INSTANCE', 'lab'])
    await api.fsck()

    assert.equal((await api.server(flavor)).status, 'ERROR', 'the other one lacks the trait')
    expectFault(await api.action(id, 'migrate'), 400, /bare metal/)
    expectStatus(await api.del(`/servers/${id}`, member('lab')), 204)
    await api.untilGone(id)
    const back = await api.baremetal.until(node, 'available')
    assert.deepEqual([back.instance_uuid, back.instance_info], [null, {}])
    expectStatus(await api.placement.get(`/allocations/${id}`), 200)
    assert.deepEqual(await api.placement.claims(id), {})
    const response = await fetch(`${api.origin}/holdfast/v1/audit?object=${id}`, {
      headers: { 'x-auth-token': 'admin' },
    })
    const { entries } = (await response.json()) as { entries: Record<string, string>[] }
    const byItself = entries.filter(({ action }) => /^conductor:(start|delete)_server$/.test(action!)).toReversed()
    assert.deepEqual(
      byItself.map(({ user, project, action, outcome }) => [user, project, action, outcome]),
      [
        ['conductor', 'lab', 'conductor:start_server', 'done'],
        ['conductor', 'lab', 'conductor:delete_server', 'accepted'],
        ['conductor', 'lab', 'conductor:delete_server', 'done'],
      ],
    )
  })

  test('while the node is being deployed the server is built', async () => {
    await api.baremetal.node({ resource_class: 'slow', driver_info: { fake_delay: { deploy: 0.5 } } }, 'available')
    const { id, status, ...server } = await api.server(await metalFlavor(api, 'slow'))
    assert.deepEqual([status, server['OS-EXT-STS:task_state']], ['BUILD', 'spawning'])
    await api.untilStatus(id, 'ACTIVE')
  })

  test('when the deployment fails the server says why, and deleting it frees the node', async () => {
    const node = await api.baremetal.node({ resource_class: 'bad', driver_info: { fake_fail: 'deploy' } }, 'available')
    const { id } = await api.server(await metalFlavor(api, 'bad'))
    const failed = await api.untilStatus(id, 'ERROR')
    assert.equal((failed['fault'] as { message: string }).message, (await api.baremetal.show(node)).last_error)
    expectStatus(await api.del(`/servers/${id}`), 204)
    await api.untilGone(id)
    await api.baremetal.until(node, 'available')
  })

  test('deleted while it is being built, it goes as soon as the node can be emptied', async () => {
    const slow = { driver_info: { fake_delay: { deploy: 0.3 } } }
    const node = await api.baremetal.node({ resource_class: 'brief', ...slow }, 'available')
    const { id } = await api.server(await metalFlavor(api, 'brief'))
    expectStatus(await api.del(`/servers/${id}`), 204)
    assert.equal((await api.show(id))['OS-EXT-STS:task_state'], 'deleting')
    expectStatus(await api.del(`/servers/${id}`), 204)
    await api.untilGone(id)
    await api.baremetal.until(node, 'available')
  })

  test('a node that can not be emptied leaves the server in error, until it can', async () => {
    const node = await api.baremetal.node(
      { resource_class: 'stuck', driver_info: { fake_fail: 'tearDown' } },
      'available',
    )
    const { id } = await api.server(await metalFlavor(api, 'stuck'))
    await api.untilStatus(id, 'ACTIVE')
    expectStatus(await api.del(`/servers/${id}`), 204)
    await api.untilStatus(id, 'ERROR')
    assert.equal((await api.baremetal.show(node)).instance_uuid, id, 'the node is still its own')
    const mended = [{ op: 'remove', path: '/driver_info/fake_fail' }]
    expectStatus(await api.baremetal.patch(`/v1/nodes/${node}`, mended), 200)
    expectStatus(await api.del(`/servers/${id}`), 204)
    await api.untilGone(id)
    await api.baremetal.until(node, 'available')
  })

  test('a node that is taken away by its keepers leaves the server in error', async () => {
    const node = await api.baremetal.node({ resource_class: 'loan' }, 'available')
    const { id } = await api.server(await metalFlavor(api, 'loan'))
    await api.untilStatus(id, 'ACTIVE')
    await api.baremetal.go(node, 'deleted', 'available')
    const lost = await api.untilStatus(id, 'ERROR')
    assert.match((lost['fault'] as { message: string }).message, /taken away/)
    assert.equal(lost['OS-EXT-SRV-ATTR:host'], null)
    expectStatus(await api.del(`/servers/${id}`), 204)
    expectFault(await api.get(`/servers/${id}`), 404)
  })

  test('a node that is deleted leaves it so too', async () => {
    const node = await api.baremetal.node({ resource_class: 'gone' }, 'available')
    const { id } = await api.server(await metalFlavor(api, 'gone'))
    await api.untilStatus(id, 'ACTIVE')
    expectStatus(await api.baremetal.put(`/v1/nodes/${node}/maintenance`), 202)
    expectStatus(await api.baremetal.del(`/v1/nodes/${node}`), 204)
    await api.untilStatus(id, 'ERROR')
    expectStatus(await api.del(`/servers/${id}`), 204)
  })

  test('stopping and starting switches the node', async () => {
    const node = await api.baremetal.node({ resource_class: 'power' }, 'available')
    const { id } = await api.server(await metalFlavor(api, 'power'))
    await api.untilStatus(id, 'ACTIVE')
    expectStatus(await api.action(id, 'os-stop'), 202)
    assert.equal((await api.baremetal.until(node, 'active')).power_state, 'power off')
    assert.equal((await api.show(id)).status, 'SHUTOFF')
    expectStatus(await api.action(id, 'os-start'), 202)
    assert.equal((await api.baremetal.until(node, 'active')).power_state, 'power on')
  })

  test('nodes in maintenance or in the hands of others are no place', async () => {
    const [aside, taken] = [
      await api.baremetal.node({ resource_class: 'few' }, 'available'),
      await api.baremetal.node({ resource_class: 'few' }, 'available'),
    ]
    expectStatus(await api.baremetal.put(`/v1/nodes/${aside}/maintenance`), 202)
    expectStatus(await api.placement.claim('5e0b6a52-0000-4000-8000-000000000001', { [taken]: { CUSTOM_FEW: 1 } }), 204)
    assert.equal((await api.server(await metalFlavor(api, 'few'))).status, 'ERROR')
    expectStatus(await api.placement.del('/allocations/5e0b6a52-0000-4000-8000-000000000001'), 204)
    const { id } = await api.server(await metalFlavor(api, 'few'))
    assert.equal((await api.untilStatus(id, 'ACTIVE'))['OS-EXT-SRV-ATTR:host'], taken)
  })
})
