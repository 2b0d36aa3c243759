// What a query, a filter, a marker or a body names of others is as what is missing.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { as } from '../support/callers.ts'
import { expectStatus } from '../support/placement.ts'
import { FIXTURE, lease } from './routes.ts'
import { CALLERS, eachSetting, missingId, OWNERS, type Setting, told } from './setting.ts'

const own = OWNERS['of its project']
const theirs = OWNERS['of others']

/** The id of something of others, and a request that names it where ID stands. */
type Reference = [id: string, method: string, path: string, body?: (id: string) => unknown]
/** Likewise by something else than an id; and one of that kind that is not there. */
type Named = [name: string, missing: string, method: string, path: string]

async function requireAlike(setting: Setting, uuids: readonly Reference[], others: readonly Named[]): Promise<void> {
  const all = [
    ...uuids.map(([id, method, path, body]) => ({ id, missing: missingId(), method, path, body })),
    ...others.map(([id, missing, method, path]) => ({ id, missing, method, path, body: undefined })),
  ]
  await setting.quiet()
  const hash = await setting.hash()
  for (const role of ['a reader', 'a member']) {
    const { options } = CALLERS[role]!
    const headers = { 'x-openstack-ironic-api-version': '1.83', ...options.headers }
    for (const { id, missing, method, path, body } of all) {
      const ask = async (name: string) => {
        const url = path.replace('ID', encodeURIComponent(name))
        return told(
          await setting.client.request(method, url, body?.(name), { ...options, version: null, headers }),
          name,
        )
      }
      assert.equal(await ask(id), await ask(missing), `${role}: ${method} ${path}`)
    }
  }
  assert.equal(await setting.hash(), hash, 'a refusal has changed something')
}

eachSetting('what is named of others', setting => {
  const { metal, compute, reservation } = setting.things

  void test('in bare metal', async () => {
    const [mine, ownPort] = [await setting.make('node', own), await setting.make('port', own)]
    const node = await setting.make('node', theirs)
    const port = await setting.make('port', theirs)
    const { body: shown } = await metal.get(`/v1/ports/${port}`)
    const name = `n-${randomUUID()}`
    const instance = randomUUID()
    const named = await metal.node({ owner: theirs.owner, name })
    const taken = [{ op: 'add', path: '/instance_uuid', value: instance }]
    expectStatus(await metal.patch(`/v1/nodes/${named}`, taken), 200)
    const chassis = expectStatus(await metal.post('/v1/chassis', {}), 201).body.uuid as string
    const portgroup = await setting.make('portgroup', theirs)
    const allocation = await setting.make('allocation', theirs)
    const reservation = await setting.make('reservation', theirs)
    const uuids: Reference[] = [
      [node, 'GET', '/baremetal/v1/nodes?marker=ID'],
      [node, 'GET', '/baremetal/v1/nodes?marker=ID&sort_key=name&sort_dir=desc'],
      [node, 'GET', '/baremetal/v1/nodes/validate?node_uuid=ID'],
      [node, 'GET', '/baremetal/v1/ports?node=ID'],
      [node, 'GET', '/baremetal/v1/ports?node_uuid=ID'],
      [node, 'GET', '/baremetal/v1/portgroups?node=ID'],
      [node, 'GET', '/baremetal/v1/allocations?node=ID'],
      [node, 'GET', '/baremetal/v1/reservations?node=ID'],
      [node, 'GET', '/baremetal/v1/nodes/ID/allocation'],
      [node, 'DELETE', '/baremetal/v1/nodes/ID/allocation'],
      [node, 'POST', '/baremetal/v1/ports', id => ({ node_uuid: id, address: '52:54:00:cc:00:01' })],
      [node, 'POST', '/baremetal/v1/portgroups', id => ({ node_uuid: id })],
      [node, 'POST', '/baremetal/v1/allocations', id => ({ resource_class: 'x', candidate_nodes: [id] })],
      [node, 'POST', '/baremetal/v1/allocations', id => ({ node: id })],
      [node, 'POST', '/baremetal/v1/reservations', id => ({ instance_uuid: mine, node_uuid: [id] })],
      [node, 'PATCH', `/baremetal/v1/ports/${ownPort}`, id => [{ op: 'add', path: '/node_uuid', value: id }]],
      [instance, 'GET', '/baremetal/v1/nodes?instance_uuid=ID'],
      [instance, 'GET', '/baremetal/v1/reservations?instance_uuid=ID'],
      [chassis, 'GET', '/baremetal/v1/nodes?chassis_uuid=ID'],
      [chassis, 'GET', '/baremetal/v1/chassis/ID'],
      [chassis, 'GET', '/baremetal/v1/chassis/ID/nodes'],
      [chassis, 'PATCH', `/baremetal/v1/nodes/${mine}`, id => [{ op: 'add', path: '/chassis_uuid', value: id }]],
      [port, 'GET', '/baremetal/v1/ports?marker=ID'],
      [portgroup, 'GET', '/baremetal/v1/portgroups?marker=ID'],
      [portgroup, 'GET', '/baremetal/v1/ports?portgroup=ID'],
      [portgroup, 'GET', '/baremetal/v1/portgroups/ID/ports'],
      [portgroup, 'PATCH', `/baremetal/v1/ports/${ownPort}`, id => [{ op: 'add', path: '/portgroup_uuid', value: id }]],
      [allocation, 'GET', '/baremetal/v1/allocations?marker=ID'],
      [allocation, 'GET', '/baremetal/v1/allocations?marker=ID&sort_key=state'],
      [reservation, 'GET', '/baremetal/v1/reservations?marker=ID'],
      [
        reservation,
        'PUT',
        `/baremetal/v1/nodes/${mine}/states/provision`,
        id => ({ target: 'active', reservation_uuid: id }),
      ],
    ]
    const others: Named[] = [
      [name, 'no-such-name', 'GET', '/baremetal/v1/nodes/ID'],
      [name, 'no-such-name', 'GET', '/baremetal/v1/ports?node=ID'],
      [name, 'no-such-name', 'DELETE', '/baremetal/v1/nodes/ID'],
      [shown.address, '52:54:ff:ff:ff:ff', 'GET', '/baremetal/v1/ports?address=ID'],
      [shown.address, '52:54:ff:ff:ff:ff', 'GET', '/baremetal/v1/portgroups?address=ID'],
      [theirs.owner, 'nobody', 'GET', '/baremetal/v1/nodes?owner=ID'],
      [theirs.lessee, 'nobody', 'GET', '/baremetal/v1/nodes?lessee=ID'],
      [theirs.owner, 'nobody', 'GET', '/baremetal/v1/nodes?project=ID'],
      [theirs.owner, 'nobody', 'GET', '/baremetal/v1/allocations?owner=ID'],
      [theirs.owner, 'nobody', 'GET', '/baremetal/v1/reservations?owner=ID'],
    ]
    await requireAlike(setting, uuids, others)
  })

  void test('in compute', async () => {
    const mine = await setting.make('server', own)
    const server = await setting.make('server', theirs)
    const flavor = await setting.make('flavor', theirs)
    const shown = await compute.show(server)
    const leased = await reservation.show(await setting.make('lease', theirs))
    const ofLease: string = leased.reservations[0].id
    const { reservation_id } = expectStatus(
      await compute.create(FIXTURE.flavor, { return_reservation_id: true }, as('admin', theirs.project)),
      202,
    ).body
    const make = (id: string) => ({ server: { name: 'x', flavorRef: id } })
    const uuids: Reference[] = [
      [server, 'GET', '/compute/v2.1/servers?marker=ID'],
      [server, 'GET', '/compute/v2.1/servers/detail?marker=ID&limit=1'],
      [server, 'GET', '/compute/v2.1/servers?uuid=ID'],
      [server, 'GET', '/compute/v2.1/servers/ID'],
      [server, 'POST', '/compute/v2.1/servers', make],
    ]
    for (const hidden of [flavor, ofLease]) {
      uuids.push(
        [hidden, 'GET', '/compute/v2.1/flavors?marker=ID'],
        [hidden, 'GET', '/compute/v2.1/flavors/detail?is_public=none&marker=ID'],
        [hidden, 'GET', '/compute/v2.1/flavors/ID'],
        [hidden, 'GET', '/compute/v2.1/servers?flavor=ID'],
        [hidden, 'POST', '/compute/v2.1/servers', make],
        [hidden, 'POST', `/compute/v2.1/servers/${mine}/action`, id => ({ resize: { flavorRef: id } })],
      )
    }
    await requireAlike(setting, uuids, [
      [theirs.project, 'nobody', 'GET', '/compute/v2.1/servers?project_id=ID'],
      [theirs.project, 'nobody', 'GET', '/compute/v2.1/servers/detail?tenant_id=ID'],
      [theirs.project, 'nobody', 'GET', '/compute/v2.1/servers?all_tenants=1&project_id=ID'],
      [theirs.project, 'nobody', 'GET', '/compute/v2.1/os-quota-sets/ID'],
      [shown.name, 'no-such-name', 'GET', '/compute/v2.1/servers?name=ID'],
      [reservation_id, 'r-nothing', 'GET', '/compute/v2.1/servers?reservation_id=ID'],
      [FIXTURE.host, 'no-such-host', 'GET', '/compute/v2.1/servers?host=ID'],
      [FIXTURE.host, 'no-such-host', 'GET', '/compute/v2.1/servers/detail?node=ID'],
    ])
    const { body } = await compute.get('/flavors', CALLERS['a member']!.options)
    const listed = new Set(body.flavors.map(({ id }: { id: string }) => id))
    assert.deepEqual([listed.has(FIXTURE.flavor), listed.has(flavor), listed.has(ofLease)], [true, false, false])
  })

  void test('in reservation', async () => {
    const ofOthers = async () => {
      const { leases } = (await reservation.get('/leases')).body
      return leases.filter(({ project_id }: { project_id: string }) => project_id === theirs.project).length
    }
    const mine = await setting.make('lease', own)
    const foreign = await setting.make('lease', theirs)
    const { reservations } = await reservation.show(foreign)
    const change = (id: string) => ({ reservations: [{ id, amount: 2 }] })
    await requireAlike(
      setting,
      [
        [foreign, 'GET', '/reservation/v1/leases/ID'],
        [foreign, 'GET', '/reservation/v1/leases/ID.json'],
        [foreign, 'PUT', '/reservation/v1/leases/ID', () => ({ prolong_for: '1d', end_date: '2090-01-03 00:00' })],
        [reservations[0].id, 'PUT', `/reservation/v1/leases/${mine}`, change],
        [reservations[0].id, 'PUT', `/reservation/v1/leases/${foreign}`, change],
        [foreign, 'GET', '/reservation/v1/leases?id=ID'],
        [foreign, 'GET', '/reservation/v1/os-hosts/allocations?lease_id=ID'],
      ],
      [
        [theirs.project, 'nobody', 'GET', '/reservation/v1/leases?project_id=ID'],
        ['leased-host', 'no-such-host', 'GET', '/reservation/v1/os-hosts/ID'],
      ],
    )
    const { body } = await reservation.get('/leases', CALLERS['a member']!.options)
    const listed = new Set(body.leases.map(({ id }: { id: string }) => id))
    assert.deepEqual([listed.has(mine), listed.has(foreign)], [true, false])
    const before = await ofOthers()
    expectStatus(
      await reservation.post('/leases', lease({ project_id: theirs.project }), CALLERS['a member']!.options),
      201,
    )
    assert.equal(await ofOthers(), before)
  })
})
