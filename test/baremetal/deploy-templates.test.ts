// Deploy templates: kept, changed and refused; and how their steps come into a deployment.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachMetal, expectFault, uuid, waitFor } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

const trait = () => `CUSTOM_${uuid().replaceAll('-', '_').toUpperCase()}`
const step = (of: string, name: string, priority: number, args: object = {}) => ({
  interface: of,
  step: name,
  args,
  priority,
})
const BIOS = [step('bios', 'factory_reset', 10)]
const add = (path: string, value: unknown) => ({ op: 'add', path, value })

eachMetal('deploy templates', api => {
  const make = (more: object = {}) => api.post('/v1/deploy_templates', { name: trait(), steps: BIOS, ...more })
  const made = async (more: object = {}) => expectStatus(await make(more), 201).body

  void test('are made, shown by uuid and name, listed, changed and deleted', async () => {
    const { body, headers } = expectStatus(await make({ extra: { a: 1 } }), 201)
    assert.equal(headers.location, `${api.origin}/baremetal/v1/deploy_templates/${body.uuid}`)
    assert.deepEqual([body.steps, body.extra, body.updated_at], [BIOS, { a: 1 }, null])
    for (const ident of [body.uuid, body.name]) {
      assert.deepEqual(expectStatus(await api.get(`/v1/deploy_templates/${ident}`), 200).body, body)
    }
    const { deploy_templates: rows } = expectStatus(await api.get('/v1/deploy_templates'), 200).body
    const short = { uuid: body.uuid, name: body.name, links: body.links }
    assert.deepEqual(
      rows.filter((row: typeof short) => row.uuid === body.uuid),
      [short],
    )
    const detail = (await api.get('/v1/deploy_templates?detail=True')).body.deploy_templates
    assert.deepEqual(
      detail.filter((row: typeof short) => row.uuid === body.uuid),
      [body],
    )
    const raid = step('raid', 'create_configuration', 20)
    const name = trait()
    const after = expectStatus(
      await api.patch(`/v1/deploy_templates/${body.name}`, [add('/name', name), add('/steps/1', raid)]),
      200,
    ).body
    assert.deepEqual([after.name, after.steps], [name, [...BIOS, raid]])
    expectStatus(await api.del(`/v1/deploy_templates/${name}`), 204)
    for (const ident of [name, body.uuid]) expectFault(await api.get(`/v1/deploy_templates/${ident}`), 404)
    expectFault(await api.del(`/v1/deploy_templates/${name}`), 404)
  })

  void test('come in pages', async () => {
    for (let i = 0; i < 3; i++) await made()
    const { body } = expectStatus(await api.get('/v1/deploy_templates?limit=2&sort_key=name&sort_dir=desc'), 200)
    assert.equal(body.deploy_templates.length, 2)
    const marker = body.deploy_templates[1]
    assert.match(body.next, new RegExp(`marker=${marker.uuid}`))
    const rest = await api.get(`/v1/deploy_templates?sort_key=name&sort_dir=desc&marker=${marker.uuid}`)
    for (const { name } of rest.body.deploy_templates) assert.ok(name < marker.name)
    expectFault(await api.get('/v1/deploy_templates?sort_key=steps'), 400)
    expectFault(await api.get('/v1/deploy_templates?fields=nonsense'), 400)
  })

  void test('are refused when they make no sense, and nothing is kept', async () => {
    const { uuid: id, name } = await made()
    expectFault(await make({ name }), 409, /already exists/)
    expectFault(await make({ uuid: id }), 409)
    for (const wrong of ['invalid-name', '', 'CUSTOM_', 'custom_x', 7, null]) {
      expectFault(await make({ name: wrong }), 400)
    }
    for (const wrong of [
      undefined,
      null,
      {},
      [],
      'x',
      [7],
      [{}],
      [step('console', 'x', 1)],
      [step('bios', '', 1)],
      [step('bios', 'x', -1)],
      [step('bios', 'x', 1.5)],
      [{ ...BIOS[0], args: [] }],
      [{ ...BIOS[0], more: 1 }],
      [...BIOS, ...BIOS],
    ]) {
      expectFault(await make({ steps: wrong }), 400)
    }
    const path = `/v1/deploy_templates/${id}`
    for (const wrong of [
      { op: 'remove', path: '/steps' },
      { op: 'remove', path: '/steps/0' },
      { op: 'remove', path: '/name' },
      { op: 'replace', path: '/name', value: '' },
      add('/uuid', uuid()),
      add('/steps/0/more', 1),
    ]) {
      expectFault(await api.patch(path, [wrong]), 400)
    }
    const shown = expectStatus(await api.get(path), 200).body
    assert.deepEqual([shown.name, shown.steps, shown.updated_at], [name, BIOS, null])
    const old = { version: '1.54' }
    for (const answer of [
      await api.get('/v1/deploy_templates', old),
      await api.get(path, old),
      await api.del(path, old),
    ]) {
      expectStatus(answer, 404)
    }
  })

  void test('add their steps to a deployment with their trait, by priority, where people see them', async () => {
    const name = trait()
    const settings = [{ name: 'hyperthreading', value: 'off' }]
    await made({ name, steps: [step('bios', 'apply_configuration', 150, { settings }), step('raid', 'noted', 50)] })
    const node = await api.node({}, 'available')
    expectStatus(await api.put(`/v1/nodes/${node}/traits`, { traits: [name] }), 204)
    expectStatus(await api.patch(`/v1/nodes/${node}`, [add('/instance_info/traits', [name])]), 200)
    await api.go(node, 'active', 'active')
    const { bios } = expectStatus(await api.get(`/v1/nodes/${node}/bios`), 200).body
    assert.deepEqual(
      bios.map((setting: { name: string; value: string }) => [setting.name, setting.value]),
      [['hyperthreading', 'off']],
    )
    assert.deepEqual((await api.show(node)).deploy_step, {})
    // The step that the request names replaces the template's.
    const reset = [step('bios', 'factory_reset', 200), step('bios', 'apply_configuration', 0, { settings })]
    await api.go(node, 'rebuild', 'active', { deploy_steps: reset })
    assert.deepEqual((await api.get(`/v1/nodes/${node}/bios`)).body.bios, [])
  })

  void test('are refused at once where the node can not do a step', async () => {
    const name = trait()
    await made({ name, steps: [step('bios', 'apply_configuration', 10)] })
    const node = await api.node({}, 'available')
    expectStatus(await api.put(`/v1/nodes/${node}/traits`, { traits: [name] }), 204)
    expectStatus(await api.patch(`/v1/nodes/${node}`, [add('/instance_info/traits', [name])]), 200)
    expectFault(await api.provision(node, 'active'), 400, /bios\.apply_configuration.*settings/)
    const { body } = expectStatus(await api.get(`/v1/nodes/${node}/validate`), 200)
    assert.equal(body.deploy.result, false)
    const off = await api.node({ raid_interface: 'no-raid' }, 'available')
    const raid = [step('raid', 'create_configuration', 10)]
    expectFault(await api.provision(off, 'active', { deploy_steps: raid }), 400, /switched off/)
    const { interface: of, step: what } = raid[0]!
    const clean = await api.node({ raid_interface: 'no-raid' }, 'manageable')
    expectFault(await api.provision(clean, 'clean', { clean_steps: [{ interface: of, step: what }] }), 400)
    assert.equal((await api.show(off)).provision_state, 'available')
  })

  void test('steps show while they are done', async () => {
    const node = await api.node({ driver_info: { fake_step_delay: 30 } }, 'available')
    expectStatus(await api.provision(node, 'active', { deploy_steps: [step('raid', 'slow', 200, { a: 1 })] }), 202)
    const shown = await waitFor('the step shows', async () => {
      const { deploy_step: now } = await api.show(node)
      return now.step === 'slow' && now
    })
    assert.deepEqual(shown, { interface: 'raid', step: 'slow', args: { a: 1 }, priority: 200 })
  })
})
