// Rules of the operator's own, from a file.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { eachMetal, expectFault, uuid } from '../support/baremetal.ts'
import { as } from '../support/callers.ts'
import { expectStatus } from '../support/placement.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-policy-'))
after(() => rmSync(folder, { recursive: true }))
const policyFile = join(folder, 'policy.yaml')
writeFileSync(
  policyFile,
  [
    'baremetal:node:create: admin or owner member',
    'baremetal:node:delete: admin or owner member',
    'baremetal:node:get:driver_info: admin or owner member',
    'placement:traits:list: everyone',
    'holdfast:fsck: admin or reader',
  ].join('\n'),
)

eachMetal(
  'rules of a file',
  api => {
    void test('projects bring their own nodes, see how they are driven, and take them away', async () => {
      const project = uuid()
      const member = as('member', project)
      const node = { driver: 'fake-hardware', driver_info: { a: 1 } }
      expectFault(await api.post('/v1/nodes', node, member), 403)
      expectFault(await api.post('/v1/nodes', { ...node, owner: uuid() }, member), 403)
      expectFault(await api.post('/v1/nodes', { ...node, owner: project, chassis_uuid: uuid() }, member), 403)
      const { body } = expectStatus(await api.post('/v1/nodes', { ...node, owner: project }, member), 201)
      assert.deepEqual(body.driver_info, { a: 1 })
      assert.deepEqual((await api.get(`/v1/nodes/${body.uuid}`, as('reader', project))).body.driver_info, {})
      expectFault(await api.del(`/v1/nodes/${body.uuid}`, as('reader', project)), 403)
      expectStatus(await api.del(`/v1/nodes/${body.uuid}`, member), 204)
    })

    void test('the other APIs have their rules from it too', async () => {
      const reader = as('reader', uuid())
      expectStatus(await api.placement.get('/traits', reader), 200)
      expectStatus(await api.placement.get('/resource_providers', reader), 403)
      const headers = { 'x-auth-token': String(reader.token), 'x-roles': 'reader' }
      assert.equal((await fetch(`${api.origin}/holdfast/v1/fsck`, { headers })).status, 200)
      assert.equal((await fetch(`${api.origin}/holdfast/v1/audit`, { headers })).status, 403)
    })
  },
  { policyFile },
)
