// The reshaper: inventories and the claims on them move together, as one change or not at all.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type Amounts, consumerBody, errorCode, expectStatus, type Placement } from '../support/placement.ts'
import { eachStore } from '../support/stores.ts'

/** A root with VCPU and DISK_GB, half claimed, and a child that the VCPU are to move to. */
async function arrange(api: Placement) {
  const root = await api.provider({ VCPU: 8, DISK_GB: 100 })
  const child = await api.provider({}, { parent: root })
  const consumers = [randomUUID(), randomUUID()] as const
  for (const consumer of consumers) expectStatus(await api.claim(consumer, { [root]: { VCPU: 2, DISK_GB: 10 } }), 204)
  return { root, child, consumers }
}

eachStore('the reshaper', api => {
  const inventory = async (provider: string, totals: Amounts) => ({
    resource_provider_generation: await api.generation(provider),
    inventories: Object.fromEntries(Object.entries(totals).map(([name, total]) => [name, { total }])),
  })
  const moved = (root: string, child: string, generation: number | null = 1) =>
    consumerBody({ [root]: { DISK_GB: 10 }, [child]: { VCPU: 2 } }, generation)

  test('moves an inventory with all claims on it to another provider', async () => {
    const { root, child, consumers } = await arrange(api)
    const [before, childBefore] = [await api.generation(root), await api.generation(child)]
    const answer = await api.post('/reshaper', {
      inventories: { [root]: await inventory(root, { DISK_GB: 100 }), [child]: await inventory(child, { VCPU: 8 }) },
      allocations: Object.fromEntries(consumers.map(consumer => [consumer, moved(root, child)])),
    })
    expectStatus(answer, 204)
    assert.deepEqual(await api.usages(root), { DISK_GB: 20 })
    assert.deepEqual(await api.usages(child), { VCPU: 4 })
    // Two for the inventory, and one for the claims.
    assert.deepEqual([await api.generation(root), await api.generation(child)], [before + 3, childBefore + 3])
    await api.fsck()
  })

  test('knows consumers and providers whatever the spelling of their uuids', async () => {
    const { root, child, consumers } = await arrange(api)
    const wanted = [await inventory(root, { DISK_GB: 100 }), await inventory(child, { VCPU: 8 })]
    const [loudRoot, loudChild] = [root.toUpperCase(), child.toUpperCase()]
    const allocations = Object.fromEntries(consumers.map(c => [c.toUpperCase(), moved(loudRoot, loudChild)]))
    const twice = { [root]: wanted[0], [loudRoot]: wanted[0], [child]: wanted[1] }
    expectStatus(await api.post('/reshaper', { inventories: twice, allocations }), 400)
    const inventories = { [loudRoot]: wanted[0], [loudChild]: wanted[1] }
    expectStatus(await api.post('/reshaper', { inventories, allocations }), 204)
    assert.deepEqual(await api.usages(child), { VCPU: 4 })
    await api.fsck()
  })

  test('refuses to take away what consumers outside the request still use, and changes nothing', async () => {
    const { root, child, consumers } = await arrange(api)
    const before = [await api.usages(root), await api.generation(root), await api.claims(consumers[0])]
    const answer = await api.post('/reshaper', {
      inventories: { [root]: await inventory(root, { DISK_GB: 100 }), [child]: await inventory(child, { VCPU: 8 }) },
      allocations: { [consumers[0]]: moved(root, child) },
    })
    assert.equal(errorCode(expectStatus(answer, 409)), 'placement.inventory.inuse')
    assert.deepEqual([await api.usages(root), await api.generation(root), await api.claims(consumers[0])], before)
    assert.deepEqual(await api.usages(child), {})
    await api.fsck()
  })

  test('refuses claims that do not fit, unknown names and stale generations, and changes nothing', async () => {
    const { root, child, consumers } = await arrange(api)
    const allocations = Object.fromEntries(consumers.map(consumer => [consumer, moved(root, child)]))
    const inventories = {
      [root]: await inventory(root, { DISK_GB: 100 }),
      [child]: await inventory(child, { VCPU: 8 }),
    }
    const stale = { ...inventories[root]!, resource_provider_generation: 0 }
    const unknown = await inventory(root, { CUSTOM_NONE: 1 })
    for (const [body, status, code] of [
      [{ inventories: { ...inventories, [child]: await inventory(child, { VCPU: 3 }) }, allocations }, 409],
      [{ inventories: { ...inventories, [root]: stale }, allocations }, 409, 'placement.concurrent_update'],
      [{ inventories: { ...inventories, [root]: unknown }, allocations }, 400],
      [
        { inventories: { ...inventories, [randomUUID()]: stale }, allocations },
        400,
        'placement.resource_provider.not_found',
      ],
      [{ inventories, allocations: { ...allocations, [consumers[1]]: moved(root, child, 5) } }, 409],
      [{ inventories, allocations: { ...allocations, [randomUUID()]: moved(root, randomUUID(), null) } }, 400],
      [{ inventories: {}, allocations }, 400],
      [{ inventories }, 400],
    ] as const) {
      const answer = expectStatus(await api.post('/reshaper', body), status)
      if (code) assert.equal(errorCode(answer), code)
      assert.deepEqual(await api.usages(root), { VCPU: 4, DISK_GB: 20 })
      assert.deepEqual(await api.usages(child), {})
    }
    expectStatus(await api.post('/reshaper', { inventories, allocations }), 204)
    await api.fsck()
  })

  test('removes a consumer whose allocations are empty, and may touch inventories only', async () => {
    const { root, consumers } = await arrange(api)
    const inventories = { [root]: await inventory(root, { VCPU: 8, DISK_GB: 100 }) }
    const allocations = { [consumers[0]]: consumerBody({}, 1) }
    expectStatus(await api.post('/reshaper', { inventories, allocations }), 204)
    assert.deepEqual(await api.usages(root), { VCPU: 2, DISK_GB: 10 })
    const larger = { [root]: await inventory(root, { VCPU: 16, DISK_GB: 100 }) }
    expectStatus(await api.post('/reshaper', { inventories: larger, allocations: {} }), 204)
    assert.equal((await api.get(`/resource_providers/${root}/inventories/VCPU`)).body.total, 16)
    await api.fsck()
  })

  test('is there from 1.30 on', async () => {
    expectStatus(await api.post('/reshaper', {}, { version: '1.29' }), 404)
    expectStatus(await api.post('/reshaper', {}, { version: '1.30' }), 400)
  })
})
