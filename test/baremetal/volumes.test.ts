// Volume connectors and targets: kept for nodes, one of each kind, and changed only while the machine is off.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachMetal, expectFault, uuid } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'

const add = (path: string, value: unknown) => ({ op: 'add', path, value })

eachMetal('volumes', api => {
  const power = async (node: string, target: string) => {
    expectStatus(await api.put(`/v1/nodes/${node}/states/power`, { target }), 202)
    return api.until(node, 'enroll')
  }

  const KINDS = {
    connectors: () => ({ type: 'iqn', connector_id: `iqn.2030-01.org:${uuid()}` }),
    targets: (boot_index = 0) => ({ volume_type: 'iscsi', volume_id: uuid(), boot_index }),
  }

  for (const [kind, wish] of Object.entries(KINDS)) {
    const path = `/v1/volume/${kind}`
    const make = (node: string, more: object = {}) => api.post(path, { node_uuid: node, ...wish(), ...more })

    void test(`${kind}: made, shown, listed, changed, deleted`, async () => {
      const node = await api.node()
      const { body, headers } = expectStatus(await make(node, { extra: { a: 1 } }), 201)
      assert.equal(headers.location, `${api.origin}/baremetal${path}/${body.uuid}`)
      assert.deepEqual(expectStatus(await api.get(`${path}/${body.uuid}`), 200).body, body)
      const uuids = async (query: string) =>
        expectStatus(await api.get(query), 200).body[kind].map((row: { uuid: string }) => row.uuid)
      for (const query of [`${path}?node=${node}`, `/v1/nodes/${node}/volume/${kind}`]) {
        assert.deepEqual(await uuids(query), [body.uuid])
      }
      assert.ok((await uuids(path)).includes(body.uuid))
      assert.deepEqual((await api.get(`${path}?node=${node}&detail=True`)).body[kind], [body])
      const some = (await api.get(`${path}?node=${node}&fields=uuid,extra`)).body[kind]
      assert.deepEqual(Object.keys(some[0]).sort(), ['extra', 'links', 'uuid'])
      await power(node, 'power off')
      const after = expectStatus(await api.patch(`${path}/${body.uuid}`, [add('/extra/b', 2)]), 200).body
      assert.deepEqual(after.extra, { a: 1, b: 2 })
      expectStatus(await api.del(`${path}/${body.uuid}`), 204)
      expectFault(await api.get(`${path}/${body.uuid}`), 404)
    })

    void test(`${kind}: the parameter detail came with them`, async () => {
      const node = await api.node()
      const { uuid: made } = expectStatus(await make(node, { extra: { a: 1 } }), 201).body
      const [shown] = expectStatus(await api.get(`${path}?node=${node}&detail=True`, { version: '1.32' }), 200).body[
        kind
      ]
      assert.deepEqual([shown.uuid, shown.extra], [made, { a: 1 }])
    })

    void test(`${kind}: what is refused`, async () => {
      const node = await api.node()
      const { body } = expectStatus(await make(node), 201)
      const { uuid: id, node_uuid: _node, created_at: _c, updated_at: _u, links: _l, ...same } = body
      expectFault(await api.post(path, { node_uuid: node, ...same }), 409, /already exists/)
      expectFault(
        await make(node, { uuid: id, boot_index: undefined, ...(kind === 'targets' && { boot_index: 7 }) }),
        409,
      )
      for (const name of Object.keys(wish())) {
        for (const wrong of [null, '', {}, [], 'x'.repeat(256)]) expectFault(await make(node, { [name]: wrong }), 400)
      }
      expectFault(await make(node, { nonsense: 1 }), 400)
      expectFault(await make(uuid()), 400)
      expectFault(await make('a-name'), 400)
      expectFault(await api.post(path, wish()), 400)
      for (const name of ['52:54:00:00:00:01', 'x']) expectStatus(await api.get(`${path}/${name}`), 400)
      expectFault(await api.get(`${path}/${uuid()}`), 404)
      expectFault(await api.get(`${path}?node=${uuid()}`), 404)
      expectStatus(await api.get(path, { version: '1.31' }), 404)
      await power(node, 'power off')
      expectFault(await api.patch(`${path}/${id}`, [add('/node_uuid', await api.node())]), 400, /stays/)
      expectFault(await api.patch(`${path}/${id}`, [{ op: 'remove', path: `/${Object.keys(wish())[0]}` }]), 400)
    })

    void test(`${kind}: of a machine that is on, or that nobody knows to be off, stay as they are`, async () => {
      const node = await api.node()
      const { uuid: id } = expectStatus(await make(node), 201).body
      const both = async () => [await api.patch(`${path}/${id}`, [add('/extra/b', 2)]), await api.del(`${path}/${id}`)]
      for (const answer of await both()) expectFault(answer, 400, /volume (connector|target) (update|deletion)/)
      await power(node, 'power on')
      for (const answer of await both()) expectFault(answer, 400, /"power on"/)
      assert.deepEqual((await api.get(`${path}/${id}`)).body.extra, {})
    })

    void test(`${kind}: go with their node`, async () => {
      const node = await api.node()
      const { uuid: id } = expectStatus(await make(node), 201).body
      expectStatus(await api.del(`/v1/nodes/${node}`), 204)
      expectFault(await api.get(`${path}/${id}`), 404)
    })
  }

  void test('how to log in at the storage is never told', async () => {
    const node = await api.node()
    const properties = { target_portal: '10.0.0.1:3260', auth_password: 'secret' }
    const wish = { node_uuid: node, volume_type: 'iscsi', volume_id: 'v', boot_index: '3', properties }
    const { body } = expectStatus(await api.post('/v1/volume/targets', wish), 201)
    assert.deepEqual(body.properties, { target_portal: '10.0.0.1:3260', auth_password: '******' })
    assert.equal(body.boot_index, 3)
    await power(node, 'power off')
    const path = `/v1/volume/targets/${body.uuid}`
    const after = expectStatus(await api.patch(path, [add('/properties/target_lun', 1)]), 200).body
    assert.deepEqual(after.properties, { ...body.properties, target_lun: 1 })
  })

  void test('links lead to both', async () => {
    const node = await api.node()
    for (const path of ['/v1/volume', `/v1/nodes/${node}/volume`]) {
      const { body } = expectStatus(await api.get(path), 200)
      for (const kind of ['connectors', 'targets']) {
        assert.equal(body[kind][0].href, `${api.origin}/baremetal${path}/${kind}`)
        for (const { href } of body[kind]) {
          expectStatus(await api.get(href.replace(`${api.origin}/baremetal`, '')), 200)
        }
      }
    }
  })
})
