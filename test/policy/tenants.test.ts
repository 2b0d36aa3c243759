// Nodes of projects: what their owners and lessees may do, and that for all others they aren't there.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Baremetal, eachMetal, expectFault, NEWEST, uuid, waitFor } from '../support/baremetal.ts'
import { as, asSystem } from '../support/callers.ts'
import type { Options } from '../support/client.ts'
import { expectStatus } from '../support/placement.ts'

const set = (path: string, value: unknown) => [{ op: 'add', path, value }]
const SECRETS = { driver_info: { ipmi_address: '10.0.0.1', ipmi_password: 'secret' } }

/** A fleet of its own for each test: one node of a project, one that is leased to it, one of others. */
async function fleet(api: Baremetal) {
  const project = uuid()
  return {
    project,
    owned: await api.node({ owner: project, ...SECRETS }),
    leased: await api.node({ owner: uuid(), lessee: project, ...SECRETS }),
    foreign: await api.node({ owner: uuid(), ...SECRETS }),
    reader: as('reader', project),
    member: as('member', project),
  }
}

eachMetal('nodes of projects', api => {
  const listed = async (options: Options, query = '') =>
    (expectStatus(await api.get(`/v1/nodes${query}`, options), 200).body.nodes as { uuid: string }[]).map(n => n.uuid)

  const shown = async (path: string, options: Options) => (await api.get(path, options)).body

  void test('a list holds what the project owns or leases, and whatever is asked for, no more', async () => {
    const { project, owned, leased, foreign, reader } = await fleet(api)
    const mine = [owned, leased]
    assert.deepEqual(await listed(reader), mine)
    for (const query of ['?sort_key=created_at', '?limit=2', '?maintenance=false', '?driver=fake-hardware']) {
      assert.deepEqual(await listed(reader, query), mine, query)
    }
    assert.deepEqual(await listed(reader, `?project=${project}`), mine)
    assert.deepEqual(await listed(reader, `?owner=${project}`), [owned])
    assert.deepEqual(await listed(reader, `?marker=${owned}`), [leased])
    assert.deepEqual(await listed(reader, '?not-traits=CUSTOM_X'), mine)
    expectFault(await api.get(`/v1/nodes?marker=${foreign}`, reader), 404)
    assert.deepEqual(await listed(as('reader', uuid())), [])
    for (const everyone of [as('admin', uuid()), as('service', uuid()), asSystem('reader')]) {
      const all = await listed(everyone)
      for (const node of [owned, leased, foreign]) assert.ok(all.includes(node))
    }
    assert.deepEqual(await listed({ token: 'm', headers: { 'x-roles': 'member', 'x-project-id': '' } }), [])
  })

  void test('a foreign node can not be told from a missing one', async () => {
    const { foreign, member } = await fleet(api)
    const missing = uuid()
    const requests: [string, string, unknown?][] = [
      ['GET', ''],
      ['PATCH', '', set('/extra/a', 1)],
      ['DELETE', ''],
      ['GET', '/states'],
      ['PUT', '/states/provision', { target: 'active' }],
      ['PUT', '/states/provision', { target: 'nonsense' }],
      ['PUT', '/states/power', { target: 'power on' }],
      ['PUT', '/maintenance', {}],
      ['GET', '/ports'],
    ]
    for (const [method, path, body] of requests) {
      const [one, other] = await Promise.all(
        [foreign, missing].map(node => api.request(method, `/v1/nodes/${node}${path}`, body, member)),
      )
      assert.equal(one!.status, 404, `${method} ${path}`)
      assert.equal(
        JSON.stringify(one!.body).replaceAll(foreign, 'X'),
        JSON.stringify(other!.body).replaceAll(missing, 'X'),
      )
    }
    assert.deepEqual((await api.show(foreign)).extra, {})
  })

  void test('readers read, and can change nothing', async () => {
    const { owned, leased, reader } = await fleet(api)
    for (const node of [owned, leased]) {
      expectStatus(await api.get(`/v1/nodes/${node}`, reader), 200)
      expectFault(await api.patch(`/v1/nodes/${node}`, set('/extra/a', 1), reader), 403)
      expectFault(await api.provision(node, 'manage', {}, reader), 403)
      expectFault(await api.put(`/v1/nodes/${node}/states/power`, { target: 'power on' }, reader), 403)
      expectFault(await api.put(`/v1/nodes/${node}/traits/CUSTOM_A`, undefined, reader), 403)
    }
  })

  void test('members of the owner look after their nodes', async () => {
    const { owned, member } = await fleet(api)
    expectStatus(await api.patch(`/v1/nodes/${owned}`, set('/properties/cpus', 4), member), 200)
    expectStatus(await api.provision(owned, 'manage', {}, member), 202)
    await api.until(owned, 'manageable')
    expectStatus(await api.put(`/v1/nodes/${owned}/maintenance`, {}, member), 202)
    expectStatus(await api.del(`/v1/nodes/${owned}/maintenance`, member), 202)
    expectStatus(await api.put(`/v1/nodes/${owned}/traits/CUSTOM_A`, undefined, member), 204)
    const { body } = expectStatus(
      await api.post('/v1/ports', { node_uuid: owned, address: '52:54:00:aa:00:01' }, member),
      201,
    )
    expectStatus(await api.del(`/v1/ports/${body.uuid}`, member), 204)
    // Whoever moves the address of a BMC gets its password.
    for (const path of [
      '/driver_info/a',
      '/owner',
      '/lessee',
      '/chassis_uuid',
      '/conductor_group',
      '/shard',
      '/power_interface',
    ]) {
      expectFault(await api.patch(`/v1/nodes/${owned}`, set(path, uuid()), member), 403)
    }
    expectFault(await api.del(`/v1/nodes/${owned}`, member), 403)
    expectFault(await api.post('/v1/nodes', { driver: 'fake-hardware', owner: uuid() }, member), 403)
  })

  void test('members of the lessee use their nodes', async () => {
    const { project, leased, member } = await fleet(api)
    await api.go(leased, 'manage', 'manageable')
    await api.go(leased, 'provide', 'available')
    for (const [path, value] of [
      ['/instance_info/image_source', 'http://images/one'],
      ['/extra/a', 1],
      ['/instance_uuid', uuid()],
    ] as const) {
      expectStatus(await api.patch(`/v1/nodes/${leased}`, set(path, value), member), 200)
    }
    expectStatus(await api.provision(leased, 'active', {}, member), 202)
    await api.until(leased, 'active')
    expectStatus(await api.put(`/v1/nodes/${leased}/states/power`, { target: 'power off' }, member), 202)
    await api.until(leased, 'active')
    expectStatus(await api.provision(leased, 'rescue', { rescue_password: 'x' }, member), 202)
    await api.until(leased, 'rescue')
    expectStatus(await api.provision(leased, 'deleted', {}, member), 202)
    await api.until(leased, 'available')
    for (const path of ['/driver_info/a', '/owner', '/lessee', '/resource_class', '/properties/cpus', '/name']) {
      expectFault(await api.patch(`/v1/nodes/${leased}`, set(path, project), member), 403)
    }
    expectFault(await api.patch(`/v1/nodes/${leased}`, [...set('/extra/a', 1), ...set('/name', 'x')], member), 403)
    expectFault(await api.provision(leased, 'manage', {}, member), 403)
    expectFault(await api.put(`/v1/nodes/${leased}/maintenance`, {}, member), 403)
    expectFault(await api.put(`/v1/nodes/${leased}/traits/CUSTOM_A`, undefined, member), 403)
    expectFault(await api.post('/v1/ports', { node_uuid: leased, address: '52:54:00:aa:00:02' }, member), 403)
  })

  void test('how a machine is driven is shown to operators only, and its secrets to nobody', async () => {
    const { owned, leased, reader } = await fleet(api)
    for (const node of [owned, leased]) {
      assert.deepEqual((await shown(`/v1/nodes/${node}`, reader)).driver_info, {})
      assert.deepEqual((await shown(`/v1/nodes/${node}`, reader)).driver_internal_info, {})
      assert.deepEqual((await shown(`/v1/nodes/${node}?fields=driver_info`, reader)).driver_info, {})
      const seen = await shown(`/v1/nodes/${node}`, as('admin', uuid()))
      assert.deepEqual(seen.driver_info, { ipmi_address: '10.0.0.1', ipmi_password: '******' })
    }
    for (const { driver_info } of (await shown('/v1/nodes/detail', reader)).nodes) assert.deepEqual(driver_info, {})
    // Whoever asked before, the same node is written anew for those who may see less.
    await shown('/v1/nodes/detail', as('admin', uuid()))
    for (const { driver_info } of (await shown('/v1/nodes/detail', reader)).nodes) assert.deepEqual(driver_info, {})
  })

  void test('where an image is got and the keys for it are shown to operators only, and can’t be guessed by a patch', async () => {
    const { owned, leased, reader, member } = await fleet(api)
    const keys = ['image_source', 'image_url', 'boot_iso', 'kernel', 'ramdisk', 'kernel_append_params', 'user_data']
    const urls = Object.fromEntries(keys.map(key => [key, `http://images/s3cret/${key}`]))
    const plain = { capabilities: 'boot_mode:uefi' }
    const secret = { ...plain, ...urls, ssh_key_contents: 'a key' }
    const hidden = { ...plain, ...Object.fromEntries([...keys, 'ssh_key_contents'].map(key => [key, '******'])) }
    for (const node of [owned, leased]) {
      const given = await api.patch(`/v1/nodes/${node}`, set('/instance_info', secret), member)
      assert.deepEqual(expectStatus(given, 200).body.instance_info, hidden)
      for (const query of ['', '?fields=instance_info']) {
        const admin = await api.get(`/v1/nodes/${node}${query}`, as('admin', uuid()))
        assert.deepEqual(admin.body.instance_info, secret)
        for (const tenant of [reader, member]) {
          assert.deepEqual((await api.get(`/v1/nodes/${node}${query}`, tenant)).body.instance_info, hidden)
        }
      }
      for (const path of ['/v1/nodes/detail', '/v1/nodes?fields=uuid,instance_info']) {
        const { nodes } = (await api.get(path, reader)).body
        assert.doesNotMatch(JSON.stringify(nodes), /s3cret|a key/)
        assert.deepEqual(nodes.find(({ uuid }: { uuid: string }) => uuid === node).instance_info, hidden)
      }
      const test = [{ op: 'test', path: '/instance_info/ssh_key_contents', value: 'a key' }]
      expectFault(await api.patch(`/v1/nodes/${node}`, test, member), 400)
      for (const value of ['a key', 'another key']) {
        const guess = [{ op: 'replace', path: '/instance_info/ssh_key_contents', value }]
        const { body } = expectStatus(await api.patch(`/v1/nodes/${node}`, guess, member), 200)
        assert.deepEqual(body.instance_info, hidden)
      }
    }
  })

  void test('why a node failed is told to its tenants without where its BMC is', async () => {
    const { owned, member, reader } = await fleet(api)
    const driver_info = {
      redfish_address: 'http://127.0.0.1:1/',
      redfish_username: 'ann',
      redfish_password: 'hush',
    }
    const changed = await api.patch(`/v1/nodes/${owned}`, [
      { op: 'add', path: '/driver', value: 'redfish' },
      { op: 'add', path: '/driver_info', value: driver_info },
    ])
    expectStatus(changed, 200)
    expectStatus(await api.provision(owned, 'manage'), 202)
    await waitFor('it has failed', async () => (await api.show(owned)).last_error !== null)
    const { last_error } = await shown(`/v1/nodes/${owned}`, reader)
    assert.match(last_error, /redfish_address/)
    const { body: verdicts } = expectStatus(await api.get(`/v1/nodes/${owned}/validate`, member), 200)
    const history = await shown(`/v1/nodes/${owned}/history/detail`, reader)
    const events = expectStatus(await api.operator('GET', '/events?limit=100', undefined, member), 200).body
    for (const told of [last_error, verdicts, history, events]) {
      assert.doesNotMatch(JSON.stringify(told), /127\.0\.0\.1:1\b|hush|\bann\b/)
    }
    const wrong = set('/driver_info/redfish_address', 'https://bmc.example/?token=hush')
    expectStatus(await api.patch(`/v1/nodes/${owned}`, wrong), 200)
    const { body } = expectStatus(await api.get(`/v1/nodes/${owned}/validate`, member), 200)
    assert.match(JSON.stringify(body), /Invalid Redfish address/)
    assert.doesNotMatch(JSON.stringify(body), /hush|bmc\.example/)
  })

  void test('secrets in the URLs of driver_info are shown to nobody', async () => {
    const driver_info = { redfish_address: 'https://root:hush@bmc/?token=hush', my_passwd: 'hush', api_key: 'hush' }
    const node = await api.node({ driver_info })
    assert.deepEqual((await api.show(node)).driver_info, {
      redfish_address: 'https://******@bmc/?token=******',
      my_passwd: '******',
      api_key: '******',
    })
  })

  void test('service does everything but delete nodes', async () => {
    const service = as('service', uuid())
    const { body } = expectStatus(await api.post('/v1/nodes', { driver: 'fake-hardware' }, service), 201)
    expectStatus(await api.patch(`/v1/nodes/${body.uuid}`, set('/owner', 'someone'), service), 200)
    expectFault(await api.del(`/v1/nodes/${body.uuid}`, service), 403)
  })

  void test('an instance of others, or with resources of theirs, is not taken along', async () => {
    const { owned, foreign, member } = await fleet(api)
    const instance = uuid()
    expectStatus(await api.patch(`/v1/nodes/${foreign}`, set('/instance_uuid', instance)), 200)
    const refusal = expectFault(await api.patch(`/v1/nodes/${owned}`, set('/instance_uuid', instance), member), 409)
    assert.doesNotMatch(JSON.stringify(refusal.body), new RegExp(foreign))
    const consumer = uuid()
    const provider = await api.placement.provider({ VCPU: 1 })
    expectStatus(await api.placement.claim(consumer, { [provider]: { VCPU: 1 } }), 204)
    expectFault(await api.patch(`/v1/nodes/${owned}`, set('/instance_uuid', consumer), member), 409)
    expectStatus(await api.placement.claim(consumer, { [provider]: { VCPU: 1 } }, 1), 204)
  })

  void test('a hold is proof for those who may see it, and for nobody else', async () => {
    const [owner, lessee] = [uuid(), uuid()]
    const node = await api.node({ owner, lessee }, 'available')
    const [host, guest] = [owner, lessee].map(project => ({ ...as('member', project), ...NEWEST })) as [
      Options,
      Options,
    ]
    const instance_uuid = uuid()
    const made = await api.post('/v1/reservations', { instance_uuid, node_uuid: [node] }, guest)
    const { reservation: hold } = expectStatus(made, 201).body
    const told = async (who: Options) => [
      (await api.get(`/v1/nodes/${node}`, who)).body.reservation_uuid,
      (await api.get(`/v1/nodes/${node}?fields=reservation_uuid`, who)).body.reservation_uuid,
      (await api.get('/v1/nodes?reserved=true', who)).body.nodes.find((n: { uuid: string }) => n.uuid === node)
        .reservation_uuid,
    ]
    for (let i = 0; i < 2; i++) {
      assert.deepEqual(await told(guest), [hold.uuid, hold.uuid, hold.uuid])
      assert.deepEqual(await told(host), [null, null, null])
      assert.deepEqual(await told({ ...as('admin', uuid()), ...NEWEST }), [hold.uuid, hold.uuid, hold.uuid])
    }
    const attempts = [
      await api.provision(node, 'active', {}, host),
      await api.provision(node, 'active', { reservation_uuid: hold.uuid }, host),
      await api.provision(node, 'manage', {}, host),
      await api.patch(`/v1/nodes/${node}`, set('/instance_uuid', uuid()), host),
      await api.patch(`/v1/nodes/${node}`, set('/instance_uuid', instance_uuid), host),
    ]
    for (const answer of attempts) {
      expectFault(answer, 409, /reserved/)
      assert.doesNotMatch(JSON.stringify(answer.body), new RegExp(`${hold.uuid}|${instance_uuid}`))
    }
    expectFault(await api.provision(node, 'active', {}, guest), 409, new RegExp(hold.uuid))
    expectStatus(await api.provision(node, 'active', { reservation_uuid: hold.uuid }, guest), 202)
    assert.equal((await api.until(node, 'active')).instance_uuid, instance_uuid)
  })

  void test('drivers and conductors are for readers, chassis for operators', async () => {
    const reader = as('reader', uuid())
    expectStatus(await api.get('/v1/drivers', reader), 200)
    expectStatus(await api.get('/v1/conductors', reader), 200)
    expectFault(await api.get('/v1/chassis', reader), 403)
    expectFault(await api.get('/v1/shards', reader), 403)
    expectStatus(await api.get('/v1/chassis', as('service', uuid())), 200)
  })
})
