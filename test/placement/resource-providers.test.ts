// Resource providers: what they show, how they are found, and the trees that they form.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { errorCode, expectStatus } from '../support/placement.ts'
import { eachStore } from '../support/stores.ts'

eachStore('resource providers', api => {
  test('show links as far as the version has them', async () => {
    const uuid = await api.provider()
    const rels = async (version: string) => {
      const { links } = (await api.get(`/resource_providers/${uuid}`, { version })).body
      return (links as { rel: string; href: string }[]).map(({ rel, href }) => `${rel} ${href.split(uuid)[1]}`)
    }
    const oldest = ['self ', 'inventories /inventories', 'usages /usages']
    assert.deepEqual(await rels('1.0'), oldest)
    assert.deepEqual(await rels('1.1'), [...oldest, 'aggregates /aggregates'])
    assert.deepEqual(await rels('1.6'), [...oldest, 'aggregates /aggregates', 'traits /traits'])
    assert.deepEqual(await rels('1.11'), [
      ...oldest,
      'aggregates /aggregates',
      'traits /traits',
      'allocations /allocations',
    ])
  })

  test('are answered with 201 and no body up to 1.19, and shown from 1.20 on', async () => {
    const [old, now] = [randomUUID(), randomUUID()]
    const made = expectStatus(await api.post('/resource_providers', { name: old, uuid: old }, { version: '1.19' }), 201)
    assert.equal(made.body, null)
    const shown = expectStatus(await api.post('/resource_providers', { name: now, uuid: now }), 200)
    assert.deepEqual([shown.body.uuid, shown.body.generation, shown.body.root_provider_uuid], [now, 0, now])
    for (const { headers } of [made, shown]) assert.match(headers['location']!, /\/placement\/resource_providers\//)
  })

  test('have names and uuids that nobody else has', async () => {
    const uuid = await api.provider({}, { name: 'taken' })
    for (const body of [{ name: 'taken' }, { name: 'free', uuid }, { name: 'free', uuid: uuid.toUpperCase() }]) {
      const answer = expectStatus(await api.post('/resource_providers', body), 409)
      assert.equal(errorCode(answer), 'placement.duplicate_name')
    }
    const other = await api.provider()
    assert.equal(
      errorCode(await api.put(`/resource_providers/${other}`, { name: 'taken' })),
      'placement.duplicate_name',
    )
    expectStatus(await api.put(`/resource_providers/${uuid}`, { name: 'taken' }), 200)
  })

  test('have names of 1 to 200 characters and uuids in any spelling', async () => {
    for (const name of ['', 'x'.repeat(201), 7, null])
      expectStatus(await api.post('/resource_providers', { name }), 400)
    expectStatus(await api.post('/resource_providers', { name: '\u{1f600}'.repeat(200) }), 200)
    const uuid = randomUUID()
    const plain = { name: uuid, uuid: uuid.replaceAll('-', '').toUpperCase() }
    assert.equal((await api.post('/resource_providers', plain)).body.uuid, uuid)
    expectStatus(await api.get(`/resource_providers/${uuid.toUpperCase()}`), 404)
    expectStatus(await api.post('/resource_providers', { name: 'y', uuid: 'no-uuid' }), 400)
    expectStatus(await api.put(`/resource_providers/${uuid}`, { name: 'z', uuid }), 400)
  })

  test('are found by name, uuid, tree, resources, traits and aggregates as soon as they are written', async () => {
    const root = await api.provider({}, { name: 'findable' })
    const child = await api.provider({ VCPU: { total: 8, max_unit: 4 } }, { parent: root })
    const aggregate = randomUUID()
    const generation = await api.generation(child)
    const path = `/resource_providers/${child}`
    expectStatus(
      await api.put(`${path}/aggregates`, { aggregates: [aggregate], resource_provider_generation: generation }),
      200,
    )
    expectStatus(await api.put('/traits/CUSTOM_FINDABLE'), 201)
    const traits = { traits: ['CUSTOM_FINDABLE'], resource_provider_generation: generation + 1 }
    expectStatus(await api.put(`${path}/traits`, traits), 200)

    const found = async (query: string) => {
      const { body } = expectStatus(await api.get(`/resource_providers?${query}`), 200)
      return (body.resource_providers as { uuid: string }[]).map(({ uuid }) => uuid)
    }
    assert.deepEqual(await found('name=findable'), [root])
    assert.deepEqual(await found(`uuid=${child}`), [child])
    assert.deepEqual((await found(`in_tree=${child}`)).sort(), [root, child].sort())
    assert.deepEqual(await found(`in_tree=${child}&resources=VCPU:4`), [child])
    assert.deepEqual(await found(`in_tree=${child}&resources=VCPU:5`), [], 'above max_unit')
    assert.deepEqual(await found(`member_of=${aggregate}`), [child])
    assert.deepEqual(await found('required=CUSTOM_FINDABLE'), [child])
    assert.deepEqual(await found(`in_tree=${root}&required=!CUSTOM_FINDABLE`), [root])
    for (let taken = 0; taken < 2; taken++) expectStatus(await api.claim(randomUUID(), { [child]: { VCPU: 3 } }), 204)
    assert.deepEqual(await found(`in_tree=${child}&resources=VCPU:3`), [], 'two are left')
    assert.deepEqual(await found(`in_tree=${child}&resources=VCPU:2`), [child])
  })

  test('take no parent that is unknown, themselves or below them', async () => {
    const uuid = randomUUID()
    const post = (parent: string) => api.post('/resource_providers', { name: uuid, uuid, parent_provider_uuid: parent })
    expectStatus(await post(randomUUID()), 400)
    expectStatus(await post(uuid), 400)
    const top = await api.provider()
    const middle = await api.provider({}, { parent: top })
    const bottom = await api.provider({}, { parent: middle })
    for (const parent of [top, middle, bottom]) {
      const body = { name: 'x', parent_provider_uuid: parent }
      expectStatus(await api.put(`/resource_providers/${top}`, body), 400)
    }
  })

  test('move with all that is below them, from 1.37 on', async () => {
    const [left, right] = [await api.provider(), await api.provider()]
    const middle = await api.provider({}, { parent: left })
    const bottom = await api.provider({}, { parent: middle })
    const put = (parent: string | null, version: string) =>
      api.put(`/resource_providers/${middle}`, { name: middle, parent_provider_uuid: parent }, { version })
    expectStatus(await put(right, '1.36'), 400)
    expectStatus(await put(null, '1.36'), 400)
    expectStatus(await put(left, '1.36'), 200)
    const root = async () => (await api.get(`/resource_providers/${bottom}`)).body.root_provider_uuid as string
    assert.equal(await root(), left)
    expectStatus(await put(right, '1.37'), 200)
    assert.equal(await root(), right)
    expectStatus(await put(null, '1.37'), 200)
    assert.equal(await root(), middle)
    await api.fsck()
  })

  test('go only without children and claims, and take the rest along', async () => {
    const parent = await api.provider({ VCPU: 4 })
    const child = await api.provider({}, { parent })
    const path = `/resource_providers/${parent}`
    assert.equal(errorCode(await api.del(path)), 'placement.resource_provider.cannot_delete_parent')
    expectStatus(await api.del(`/resource_providers/${child}`), 204)
    const consumer = randomUUID()
    expectStatus(await api.claim(consumer, { [parent]: { VCPU: 1 } }), 204)
    assert.equal(errorCode(await api.del(path)), 'placement.resource_provider.inuse')
    expectStatus(await api.del(`/allocations/${consumer}`), 204)
    expectStatus(await api.del(path), 204)
    expectStatus(await api.get(`${path}/inventories`), 404)
    expectStatus(await api.del(path), 404)
    await api.fsck()
  })
})
