// Rules of the operator's own, from a file.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { eachMetal, expectFault, newClass, NEWEST, uuid } from '../support/baremetal.ts'
import { as } from '../support/callers.ts'
import { eachIdentity, inProject } from '../support/identity.ts'
import { expectStatus } from '../support/placement.ts'
import { eachSetting, OWNERS } from './setting.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-policy-'))
after(() => rmSync(folder, { recursive: true }))
const policyFile = join(folder, 'policy.yaml')
writeFileSync(
  policyFile,
  [
    'baremetal:node:create: admin or owner member',
    'baremetal:node:delete: admin or owner member',
    'baremetal:node:get:driver_info: admin or owner member',
    'baremetal:allocation:get: admin',
    'placement:traits:list: everyone',
    'holdfast:fsck: admin or reader',
    'identity:list_roles: reader',
    'os_compute_api:servers:list_all: service or reader',
    'blazar:leases:list_all: service or reader',
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

    void test('what may not be read is not told by the status and the queue either', async () => {
      const [project, resource_class] = [uuid(), newClass()]
      const member = as('member', project)
      await api.node({ resource_class, owner: project }, 'available')
      const wanted = { resource_class, name: `job-${project}`, note: 'secret' }
      const { uuid: held } = expectStatus(await api.post('/v1/allocations', wanted, { ...NEWEST, ...member }), 201).body
      await api.settled(held)
      const later = { resource_class, name: `later-${project}`, wait_until: '1h' }
      expectStatus(await api.post('/v1/allocations', later, { ...NEWEST, ...member }), 201)
      expectFault(await api.get(`/v1/allocations/${held}`, { ...NEWEST, ...member }), 403)
      const { machines, waiting } = expectStatus(await api.operator('GET', '/status', undefined, member), 200).body
      const [{ state, what, who, id, purpose }] = machines
      assert.deepEqual([state, what, who, id, purpose, waiting], ['taken', null, null, null, null, []])
      assert.deepEqual(expectStatus(await api.operator('GET', '/queue', undefined, member), 200).body.queue, [])
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

eachSetting(
  'who sees the things of all projects',
  setting => {
    const { compute, reservation } = setting.things
    const member = as('member', uuid())
    const theirs = OWNERS['of others']

    void test('may list the servers of others, but do with them only what the rules for that say', async () => {
      const server = await setting.make('server', theirs)
      const listed = expectStatus(await compute.get('/servers?all_tenants=1', member), 200).body.servers
      assert.deepEqual(
        listed.map(({ id }: { id: string }) => id),
        [server],
      )
      expectStatus(await compute.put(`/servers/${server}`, { server: { name: 'mine' } }, member), 404)
      expectStatus(await compute.action(server, 'os-stop', null, member), 404)
      expectStatus(await compute.action(server, 'forceDelete', null, member), 404)
      expectStatus(await compute.put(`/servers/${server}/metadata`, { metadata: {} }, member), 404)
      expectStatus(await compute.del(`/servers/${server}`, member), 404)
      expectStatus(await compute.del(`/servers/${server}`, as('service', uuid())), 204)
    })

    void test('likewise with leases', async () => {
      const lease = await setting.make('lease', theirs)
      const { leases } = expectStatus(await reservation.get('/leases', member), 200).body
      assert.deepEqual(
        leases.map(({ id }: { id: string }) => id),
        [lease],
      )
      expectStatus(await reservation.put(`/leases/${lease}`, { name: 'mine' }, member), 404)
      expectStatus(await reservation.del(`/leases/${lease}`, member), 404)
      expectStatus(await reservation.del(`/leases/${lease}`, as('service', uuid())), 204)
    })
  },
  { policyFile },
)

eachIdentity(
  'identity with rules of a file',
  ({ api }) => {
    void test('follows them', async () => {
      const reader = await api.token('carol', inProject('lab'))
      const service = await api.token('nova')
      expectStatus(await api.get('/v3/roles', { token: reader }), 200)
      expectStatus(await api.get('/v3/users', { token: reader }), 403)
      expectStatus(await api.get('/v3/roles', { token: service }), 403)
    })
  },
  { policyFile },
)
