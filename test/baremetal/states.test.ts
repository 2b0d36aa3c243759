// The states of a node: every row of the table, what may not be, power, maintenance, validation.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classInPlacement, eachMetal, expectFault, NEWEST, newClass, uuid } from '../support/baremetal.ts'
import { expectStatus, isFull } from '../support/placement.ts'

const CLEAN = { clean_steps: [{ interface: 'deploy', step: 'erase_devices' }] }
const RESCUE = { rescue_password: 'secret' }

eachMetal('states', api => {
  const states = async (node: string) => expectStatus(await api.get(`/v1/nodes/${node}/states`), 200).body
  const fails = (...steps: string[]) => ({ driver_info: { fake_fail: steps } })
  const heal = (node: string) =>
    api.patch(`/v1/nodes/${node}`, [{ op: 'remove', path: '/driver_info' }]).then(answer => expectStatus(answer, 200))

  void test('states are shown, and a verb is answered with 202, no body and where to look', async () => {
    const its = `n-${uuid()}`
    const node = await api.node({ name: its })
    const { status, body, headers } = await api.provision(its, 'manage')
    assert.deepEqual([status, body], [202, null])
    assert.equal(headers.location, `${api.origin}/baremetal/v1/nodes/${its}/states`)
    await api.until(node, 'manageable')
    const shown = await states(node)
    assert.deepEqual(Object.keys(shown).sort(), [
      'boot_mode',
      'console_enabled',
      'last_error',
      'power_state',
      'provision_state',
      'provision_updated_at',
      'raid_config',
      'secure_boot',
      'target_power_state',
      'target_provision_state',
      'target_raid_config',
    ])
    assert.equal(shown.power_state, 'power off')
    assert.equal(shown.target_provision_state, null)
    assert.match(shown.provision_updated_at, /\+00:00$/)
  })

  void test('the way of a node through all verbs that succeed', async () => {
    const node = await api.node()
    await api.go(node, 'manage', 'manageable')
    await api.go(node, 'inspect', 'manageable')
    const inspected = await api.show(node)
    assert.equal(inspected.properties.cpus, 8)
    assert.notEqual(inspected.inspection_finished_at, null)
    await api.go(node, 'clean', 'manageable', CLEAN)
    await api.go(node, 'provide', 'available')
    await api.go(node, 'manage', 'manageable')
    await api.go(node, 'provide', 'available')
    assert.equal((await api.go(node, 'active', 'active')).power_state, 'power on')
    await api.go(node, 'rebuild', 'active')
    await api.go(node, 'rescue', 'rescue', RESCUE)
    await api.go(node, 'rescue', 'rescue', RESCUE)
    await api.go(node, 'unrescue', 'active')
    await api.go(node, 'undeploy', 'available')
    await api.go(node, 'deploy', 'active')
    await api.go(node, 'deleted', 'available')
    await api.go(node, 'manage', 'manageable')
    await api.go(node, 'adopt', 'active')
  })

  void test('each way fails into its state, says why, and leads on from there', async () => {
    const fail = async (node: string, verb: string, state: string, more = {}) => {
      const shown = await api.go(node, verb, state, more)
      assert.match(shown.last_error, /told to fail/)
      assert.equal(shown.target_provision_state, null)
      await heal(node)
    }
    const one = await api.node(fails('verify'))
    await fail(one, 'manage', 'enroll')
    const damage = (node: string, step: string) =>
      api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/driver_info/fake_fail', value: step }])
    await api.go(one, 'manage', 'manageable')
    await damage(one, 'inspect')
    await fail(one, 'inspect', 'inspect failed')
    await api.go(one, 'inspect', 'manageable')
    await damage(one, 'inspect')
    await fail(one, 'inspect', 'inspect failed')
    await api.go(one, 'manage', 'manageable')
    await damage(one, 'clean')
    await fail(one, 'provide', 'clean failed')
    await api.go(one, 'manage', 'manageable')
    await damage(one, 'adopt')
    await fail(one, 'adopt', 'adopt failed')
    await damage(one, 'adopt')
    await fail(one, 'adopt', 'adopt failed')
    await api.go(one, 'manage', 'manageable')
    await api.go(one, 'provide', 'available')
    await damage(one, 'deploy')
    await fail(one, 'active', 'deploy failed')
    await api.go(one, 'rebuild', 'active')
    await damage(one, 'rescue')
    await fail(one, 'rescue', 'rescue failed', RESCUE)
    await damage(one, 'unrescue')
    await fail(one, 'unrescue', 'unrescue failed')
    await api.go(one, 'rescue', 'rescue', RESCUE)
    await damage(one, 'tearDown')
    await fail(one, 'deleted', 'error')
    await api.go(one, 'rebuild', 'active')
    await damage(one, 'clean')
    await fail(one, 'deleted', 'clean failed')
  })

  void test('undeploy empties instance_info and instance_uuid, before cleaning', async () => {
    const node = await api.node({ instance_uuid: uuid(), instance_info: { a: 1 } }, 'active')
    await api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/driver_info/fake_fail', value: 'clean' }])
    const shown = await api.go(node, 'undeploy', 'clean failed')
    assert.deepEqual([shown.instance_info, shown.instance_uuid], [{}, null])
  })

  void test('a verb that does not fit is 400 and says so; nothing else is taken', async () => {
    const node = await api.node()
    const wrong = `The requested action "provide" can not be performed on node "${node}" while it is in state "enroll".`
    expectFault(await api.provision(node, 'provide'), 400, new RegExp(wrong))
    for (const verb of ['active', 'deleted', 'rebuild', 'unrescue', 'abort', 'adopt', 'inspect', 'nonsense', 'noop']) {
      expectFault(await api.provision(node, verb), 400)
    }
    expectFault(await api.provision(node, 'clean', CLEAN), 400)
    expectFault(await api.put(`/v1/nodes/${node}/states/provision`, {}), 400)
    expectFault(await api.put(`/v1/nodes/${node}/states/provision`, { target: 7 }), 400)
    expectFault(await api.provision(node, 'manage', { nonsense: 1 }), 400)
    expectFault(await api.provision(node, 'manage', { configdrive: 'x' }), 400)
    expectFault(await api.provision(uuid(), 'manage'), 404)
    await api.put(`/v1/nodes/${node}/maintenance`)
    expectFault(await api.provision(node, 'manage'), 400, /maintenance/)
  })

  void test('what goes with a verb', async () => {
    const node = await api.node({}, 'manageable')
    expectFault(await api.provision(node, 'clean'), 400, /clean_steps/)
    expectFault(await api.provision(node, 'clean', { clean_steps: 'x' }), 400)
    expectFault(await api.provision(node, 'clean', { clean_steps: [{ step: 'x' }] }), 400)
    await api.go(node, 'clean', 'manageable', { ...CLEAN, disable_ramdisk: true })
    await api.go(node, 'provide', 'available')
    const steps = [{ interface: 'deploy', step: 'x', args: {}, priority: 10 }]
    const shown = await api.go(node, 'active', 'active', { configdrive: { meta_data: {} }, deploy_steps: steps })
    assert.equal(shown.instance_info.configdrive, '******')
    await api.go(node, 'rebuild', 'active', { configdrive: 'aGk=' })
    expectFault(await api.provision(node, 'rescue'), 400, /rescue_password/)
  })

  void test('states as old clients ask for them, with the node last', async () => {
    const node = await api.node()
    for (const path of ['states', 'states/console']) {
      const { body } = expectStatus(await api.get(`/v1/nodes/${node}/${path}`), 200)
      assert.deepEqual(expectStatus(await api.get(`/v1/nodes/${path}/${node}`), 200).body, body)
    }
    expectFault(await api.get(`/v1/nodes/states/${uuid()}`), 404)
  })

  void test('an image is checked when there is one', async () => {
    const node = await api.node({}, 'available')
    const image = (value: unknown) =>
      api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/instance_info/image_source', value }])
    await image('not an image')
    expectFault(await api.provision(node, 'active'), 400, /image_source/)
    await image('http://images.example/x.qcow2')
    await api.go(node, 'active', 'active')
  })

  void test('the target is shown while a node is on its way, and its lock', async () => {
    const node = await api.node({ driver_info: { fake_delay: { clean: 0.3 } } }, 'manageable')
    expectStatus(await api.provision(node, 'provide'), 202)
    const shown = await api.show(node)
    assert.deepEqual([shown.provision_state, shown.target_provision_state], ['cleaning', 'available'])
    await api.until(node, 'available')
  })

  void test('waiting states come and go by themselves, or are aborted', async () => {
    const waiting = { clean: 30, inspect: 30, rescue: 30 }
    const node = await api.node({ driver_info: { fake_wait: waiting } }, 'manageable')
    await api.go(node, 'provide', 'clean wait')
    assert.equal((await api.show(node)).target_provision_state, 'available')
    expectFault(await api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/extra/a', value: 1 }]), 409)
    assert.match((await api.go(node, 'abort', 'clean failed')).last_error, /abort/)
    await api.go(node, 'manage', 'manageable')
    await api.go(node, 'inspect', 'inspect wait')
    expectStatus(await api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/extra/a', value: 1 }]), 200)
    await api.go(node, 'abort', 'inspect failed')
    await api.go(node, 'manage', 'manageable')
    const soon = { clean: 0.05, deploy: 0.05, rescue: 30 }
    await api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/driver_info/fake_wait', value: soon }])
    await api.go(node, 'provide', 'available')
    await api.go(node, 'active', 'active')
    await api.go(node, 'rescue', 'rescue wait', RESCUE)
    await api.go(node, 'abort', 'rescue failed')
    await api.go(node, 'rescue', 'rescue wait', RESCUE)
    await api.go(node, 'deleted', 'available')
    await api.patch(`/v1/nodes/${node}`, [{ op: 'add', path: '/driver_info/fake_wait', value: { deploy: 30 } }])
    await api.go(node, 'active', 'wait call-back')
    await api.go(node, 'deleted', 'available')
  })

  void test('without automated cleaning a node is available at once', async () => {
    const node = await api.node({ automated_clean: false, driver_info: { fake_fail: 'clean' } }, 'available')
    await api.go(node, 'active', 'active')
    await api.go(node, 'deleted', 'available')
  })

  void test('a retired node is not provided', async () => {
    const node = await api.node({ retired: true }, 'manageable')
    expectFault(await api.provision(node, 'provide'), 409, /retired/)
  })

  void test('a node that is retired while it is in use ends in manageable, and nobody gets it any more', async () => {
    for (const automated_clean of [true, false]) {
      const resource_class = newClass()
      const node = await api.node({ resource_class, automated_clean, driver_info: { fake_delay: 0.05 } }, 'active')
      expectStatus(await api.change(node, 'retired', true), 200)
      expectStatus(await api.provision(node, 'deleted'), 202)
      assert.equal((await api.show(node)).target_provision_state, 'manageable')
      await api.until(node, 'manageable')
      await api.refused({ resource_class })
      const hold = { instance_uuid: uuid(), node_uuid: [node] }
      expectFault(await api.post('/v1/reservations', hold, NEWEST), 409, /is retired/)
      const amounts = { [classInPlacement(resource_class)]: 1 }
      assert.ok(isFull(await api.placement.claim(uuid(), { [node]: amounts })))
      expectStatus(await api.change(node, 'retired', false), 200)
      await api.go(node, 'provide', 'available')
      await api.allocated({ resource_class })
    }
  })

  void test('power: null at first, then as it was told', async () => {
    const node = await api.node()
    assert.equal((await api.show(node)).power_state, null)
    const power = async (target: unknown, more: object = {}) => {
      const answer = await api.put(`/v1/nodes/${node}/states/power`, { target, ...more })
      if (answer.status === 202) await api.until(node, 'enroll')
      return answer
    }
    for (const [target, state] of [
      ['power on', 'power on'],
      ['power off', 'power off'],
      ['rebooting', 'power on'],
      ['soft power off', 'power off'],
      ['soft rebooting', 'power on'],
    ]) {
      const { status, headers } = await power(target)
      assert.equal(status, 202)
      assert.match(headers.location!, /\/states$/)
      const shown = await states(node)
      assert.deepEqual([shown.power_state, shown.target_power_state], [state, null])
    }
    for (const wrong of ['on', '', 7, undefined]) expectFault(await power(wrong), 400)
    expectStatus(await power('soft power off', { timeout: 5 }), 202)
    for (const timeout of [0, -1, 'x', 1.5]) expectFault(await power('power on', { timeout }), 400)
    expectFault(await power('power on', { nonsense: 1 }), 400)
    const old = { version: '1.26' }
    expectFault(await api.put(`/v1/nodes/${node}/states/power`, { target: 'soft power off' }, old), 406)
    expectFault(await api.put(`/v1/nodes/${uuid()}/states/power`, { target: 'power on' }), 404)
  })

  void test('a power failure is told, and the state stays', async () => {
    const node = await api.node({ driver_info: { fake_fail: 'power on' } })
    expectStatus(await api.put(`/v1/nodes/${node}/states/power`, { target: 'power on' }), 202)
    const shown = await api.until(node, 'enroll')
    assert.match(shown.last_error, /told to fail/)
    assert.deepEqual([shown.power_state, shown.target_power_state], [null, null])
  })

  void test('maintenance is effective at once, with or without a reason', async () => {
    const node = await api.node({}, 'available')
    for (const [body, reason] of [
      [{ reason: 'because' }, 'because'],
      [undefined, null],
      [{}, null],
    ] as const) {
      expectStatus(await api.put(`/v1/nodes/${node}/maintenance`, body), 202)
      const shown = await api.show(node)
      assert.deepEqual([shown.maintenance, shown.maintenance_reason], [true, reason])
    }
    expectStatus(await api.del(`/v1/nodes/${node}/maintenance`), 202)
    const shown = await api.show(node)
    assert.deepEqual([shown.maintenance, shown.maintenance_reason], [false, null])
    expectFault(await api.put(`/v1/nodes/${node}/maintenance`, { nonsense: 1 }), 400)
    expectFault(await api.put(`/v1/nodes/${node}/maintenance`, { reason: 7 }), 400)
    expectFault(await api.del(`/v1/nodes/${uuid()}/maintenance`), 404)
    const patch = [{ op: 'add', path: '/maintenance', value: true }]
    assert.equal((await api.patch(`/v1/nodes/${node}`, patch)).body.maintenance, true)
  })

  void test('validate tells of each interface', async () => {
    const node = await api.node({ raid_interface: 'no-raid' })
    const { body } = expectStatus(await api.get(`/v1/nodes/${node}/validate`), 200)
    assert.deepEqual(Object.keys(body).sort(), [
      'bios',
      'boot',
      'console',
      'deploy',
      'inspect',
      'management',
      'network',
      'power',
      'raid',
      'rescue',
      'storage',
    ])
    assert.deepEqual(body.deploy, { result: true })
    assert.equal(body.raid.result, false)
    assert.equal(typeof body.raid.reason, 'string')
    assert.deepEqual((await api.get(`/v1/nodes/validate?node=${node}`)).body, body)
    expectFault(await api.get('/v1/nodes/validate'), 400)
    expectFault(await api.get(`/v1/nodes/${uuid()}/validate`), 404)
  })
})

eachMetal(
  'inspection rules',
  api => {
    void test('set the first properties, class and traits, by what the driver reports', async () => {
      const inventory = { gpu: { model: 'A100' }, cpus: 64 }
      const node = await api.node({ driver_info: { fake_inventory: inventory } }, 'manageable')
      await api.put(`/v1/nodes/${node}/traits/CUSTOM_OLD`)
      const shown = await api.go(node, 'inspect', 'manageable')
      assert.equal(shown.resource_class, 'gpu-a100')
      assert.deepEqual(shown.traits, ['CUSTOM_GPU', 'CUSTOM_INSPECTED', 'CUSTOM_OLD'])
      assert.deepEqual([shown.properties.cpus, shown.properties.note], [64, 'big'])
      const { inventories } = (await api.placement.get(`/resource_providers/${node}/inventories`)).body
      assert.deepEqual(Object.keys(inventories), ['CUSTOM_GPU_A100'])
    })

    void test('leave a class that was set, and others alone', async () => {
      const node = await api.node({ resource_class: 'mine' }, 'manageable')
      const shown = await api.go(node, 'inspect', 'manageable')
      assert.deepEqual([shown.resource_class, shown.traits], ['mine', ['CUSTOM_INSPECTED']])
    })
  },
  {
    inspectionRules: [
      { set: { traits: ['CUSTOM_INSPECTED'] } },
      {
        when: [
          { field: 'gpu.model', op: 'matches', value: 'A1.*' },
          { field: 'cpus', op: 'ge', value: 32 },
        ],
        set: { resource_class: 'gpu-a100', traits: ['CUSTOM_GPU'], properties: { note: 'big' } },
      },
      { when: [{ field: 'cpus', op: 'lt', value: 2 }], set: { resource_class: 'tiny' } },
    ],
  },
)
