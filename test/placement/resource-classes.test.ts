// Resource classes: the standard ones are fixed, custom ones come and go.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { eachStore } from '../support/stores.ts'

eachStore('resource classes', api => {
  test('come with the standard ones', async () => {
    const { body } = expectStatus(await api.get('/resource_classes'), 200)
    const names = new Set((body.resource_classes as { name: string }[]).map(({ name }) => name))
    for (const name of ['VCPU', 'MEMORY_MB', 'DISK_GB', 'PCPU', 'VGPU', 'FPGA']) assert.ok(names.has(name), name)
    assert.deepEqual((await api.get('/resource_classes/VCPU')).body, {
      name: 'VCPU',
      links: [{ rel: 'self', href: '/placement/resource_classes/VCPU' }],
    })
  })

  test('are made by POST once, and by PUT as often as one likes', async () => {
    const made = expectStatus(await api.post('/resource_classes', { name: 'CUSTOM_A' }), 201)
    assert.match(made.headers['location']!, /\/placement\/resource_classes\/CUSTOM_A$/)
    expectStatus(await api.post('/resource_classes', { name: 'CUSTOM_A' }), 409)
    expectStatus(await api.put('/resource_classes/CUSTOM_A'), 204)
    expectStatus(await api.put('/resource_classes/CUSTOM_B'), 201)
  })

  test('are named in capitals and begin with CUSTOM_', async () => {
    const names = [
      'VCPU',
      'custom_a',
      'CUSTOM_',
      'CUSTOM_a',
      'CUSTOM-A',
      'CUSTOM_A\n',
      'CUSTOM_Ä',
      `CUSTOM_${'A'.repeat(249)}`,
    ]
    for (const name of names) {
      expectStatus(await api.post('/resource_classes', { name }), 400)
      expectStatus(await api.put(`/resource_classes/${encodeURIComponent(name)}`), 400)
    }
    expectStatus(await api.post('/resource_classes', { name: `CUSTOM_${'A'.repeat(248)}` }), 201)
  })

  test('are renamed by PUT up to 1.6', async () => {
    const old = { version: '1.6' }
    expectStatus(await api.post('/resource_classes', { name: 'CUSTOM_OLD' }), 201)
    const { body } = expectStatus(await api.put('/resource_classes/CUSTOM_OLD', { name: 'CUSTOM_NEW' }, old), 200)
    assert.equal(body.name, 'CUSTOM_NEW')
    expectStatus(await api.get('/resource_classes/CUSTOM_OLD'), 404)
    expectStatus(await api.put('/resource_classes/VCPU', { name: 'CUSTOM_X' }, old), 400)
    expectStatus(await api.put('/resource_classes/CUSTOM_NEW', { name: 'CUSTOM_NEW' }, old), 200)
    expectStatus(await api.put('/resource_classes/CUSTOM_TAKEN'), 201)
    expectStatus(await api.put('/resource_classes/CUSTOM_NEW', { name: 'CUSTOM_TAKEN' }, old), 409)
    expectStatus(await api.put('/resource_classes/CUSTOM_NONE', { name: 'CUSTOM_X' }, old), 404)
  })

  test('keep their claims through a renaming', async () => {
    expectStatus(await api.put('/resource_classes/CUSTOM_BEFORE'), 201)
    const provider = await api.provider({ CUSTOM_BEFORE: 5 })
    const consumer = crypto.randomUUID()
    expectStatus(await api.claim(consumer, { [provider]: { CUSTOM_BEFORE: 2 } }), 204)
    expectStatus(await api.put('/resource_classes/CUSTOM_BEFORE', { name: 'CUSTOM_AFTER' }, { version: '1.6' }), 200)
    assert.deepEqual(await api.claims(consumer), { [provider]: { CUSTOM_AFTER: 2 } })
    expectStatus(await api.claim(consumer, { [provider]: { CUSTOM_AFTER: 5 } }, 1), 204)
    await api.fsck()
  })

  test('go unless they are standard, unknown or in use', async () => {
    expectStatus(await api.put('/resource_classes/CUSTOM_GONE'), 201)
    const provider = await api.provider({ CUSTOM_GONE: 1 })
    expectStatus(await api.del('/resource_classes/CUSTOM_GONE'), 409)
    expectStatus(await api.del(`/resource_providers/${provider}/inventories/CUSTOM_GONE`), 204)
    expectStatus(await api.del('/resource_classes/CUSTOM_GONE'), 204)
    expectStatus(await api.del('/resource_classes/CUSTOM_GONE'), 404)
    expectStatus(await api.del('/resource_classes/VCPU'), 400)
  })
})
