// A change of a server, a flavor, a lease or a hypervisor is found in the audit by what was changed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { FIXTURE } from './routes.ts'
import { eachSetting, OWNERS } from './setting.ts'

const own = OWNERS['of its project']

eachSetting('the audit of what projects have', setting => {
  const { compute, reservation } = setting.things
  const actions = async (object: string) => {
    const { body } = expectStatus(
      await setting.client.get(`/holdfast/v1/audit?object=${object}`, { version: null }),
      200,
    )
    const entries = body.entries as { action: string; user: string }[]
    return entries.filter(({ user }) => user !== 'conductor').map(({ action }) => action.replace(/^.*?:/, ''))
  }

  void test('servers', async () => {
    const server = await setting.make('server', own)
    expectStatus(await compute.put(`/servers/${server}`, { server: { name: 'renamed' } }), 200)
    expectStatus(await compute.action(server, 'os-stop'), 202)
    expectStatus(await compute.put(`/servers/${server}`, { server: { unknown: 1 } }), 400)
    expectStatus(await compute.del(`/servers/${server}`), 204)
    assert.deepEqual(await actions(server), ['servers:delete', 'servers:action', 'servers:update', 'servers:create'])
  })

  void test('flavors', async () => {
    const flavor = await setting.make('flavor', own)
    expectStatus(await compute.post(`/flavors/${flavor}/action`, { removeTenantAccess: { tenant: own.project } }), 200)
    expectStatus(await compute.del(`/flavors/${flavor}`), 202)
    assert.deepEqual(await actions(flavor), [
      'os-flavor-manage:delete',
      'os-flavor-access',
      'os-flavor-access',
      'os-flavor-extra-specs:create',
      'os-flavor-manage:create',
    ])
  })

  void test('leases', async () => {
    const lease = await setting.make('lease', own)
    expectStatus(await reservation.put(`/leases/${lease}`, { name: 'renamed' }), 200)
    expectStatus(await reservation.del(`/leases/${lease}`), 204)
    assert.deepEqual(await actions(lease), ['leases:delete', 'leases:put', 'leases:post'])
  })

  void test('hypervisors', async () => {
    expectStatus(await compute.setState(FIXTURE.host, 'down'), 200)
    expectStatus(await compute.setState(FIXTURE.host, 'up'), 200)
    // Its name also stands for the provider that it is.
    const made = ['resource_providers:inventories:update', 'resource_providers:create']
    assert.deepEqual(await actions(FIXTURE.host), ['hypervisor_state:set', 'hypervisor_state:set', ...made])
  })
})
