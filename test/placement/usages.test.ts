// Usages: of a provider, and of a project by user and consumer type.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { eachStore } from '../support/stores.ts'

eachStore('usages', api => {
  test('of a provider list every inventory, used or not', async () => {
    const provider = await api.provider({ VCPU: 4, MEMORY_MB: 1024 })
    assert.deepEqual(await api.usages(provider), { VCPU: 0, MEMORY_MB: 0 })
    const consumer = randomUUID()
    expectStatus(await api.claim(consumer, { [provider]: { VCPU: 3 } }), 204)
    assert.deepEqual(await api.usages(provider), { VCPU: 3, MEMORY_MB: 0 })
    expectStatus(await api.del(`/allocations/${consumer}`), 204)
    assert.deepEqual(await api.usages(provider), { VCPU: 0, MEMORY_MB: 0 })
  })

  test('of a project are summed over providers, and told apart by user', async () => {
    const project_id = randomUUID()
    const providers = [await api.provider({ VCPU: 10 }), await api.provider({ VCPU: 10, DISK_GB: 10 })]
    const [one, two] = providers as [string, string]
    expectStatus(
      await api.claim(randomUUID(), { [one]: { VCPU: 2 }, [two]: { VCPU: 1, DISK_GB: 5 } }, null, { project_id }),
      204,
    )
    expectStatus(await api.claim(randomUUID(), { [one]: { VCPU: 4 } }, null, { project_id, user_id: 'other' }), 204)
    const usages = async (more: string) =>
      expectStatus(await api.get(`/usages?project_id=${project_id}${more}`, { version: '1.37' }), 200).body
        .usages as object
    assert.deepEqual(await usages(''), { VCPU: 7, DISK_GB: 5 })
    assert.deepEqual(await usages('&user_id=other'), { VCPU: 4 })
    assert.deepEqual(await usages('&user_id=nobody'), {})
  })

  test('are grouped by consumer type from 1.38 on', async () => {
    const project_id = randomUUID()
    const provider = await api.provider({ VCPU: 100 })
    const claim = async (amount: number, consumer_type: string) =>
      expectStatus(
        await api.claim(randomUUID(), { [provider]: { VCPU: amount } }, null, { project_id, consumer_type }),
        204,
      )
    await claim(1, 'INSTANCE')
    await claim(2, 'INSTANCE')
    await claim(4, 'MIGRATION')
    const untyped = { allocations: { [provider]: { resources: { VCPU: 8 } } }, project_id, user_id: 'u' }
    expectStatus(await api.put(`/allocations/${randomUUID()}`, untyped, { version: '1.27' }), 204)
    const usages = async (more: string) =>
      expectStatus(await api.get(`/usages?project_id=${project_id}${more}`), 200).body.usages as object
    const byType = {
      INSTANCE: { consumer_count: 2, VCPU: 3 },
      MIGRATION: { consumer_count: 1, VCPU: 4 },
      unknown: { consumer_count: 1, VCPU: 8 },
    }
    assert.deepEqual(await usages(''), byType)
    assert.deepEqual(await usages('&consumer_type=MIGRATION'), { MIGRATION: byType.MIGRATION })
    assert.deepEqual(await usages('&consumer_type=unknown'), { unknown: byType.unknown })
    assert.deepEqual(await usages('&consumer_type=all'), { all: { consumer_count: 4, VCPU: 15 } })
    assert.deepEqual(await usages('&consumer_type=NONE'), {})
  })

  test('need a project and take only what they know', async () => {
    for (const query of [
      '',
      '?user_id=u',
      '?project_id=',
      '?project_id=p&other=1',
      '?project_id=p&consumer_type=low',
    ]) {
      expectStatus(await api.get(`/usages${query}`), 400)
    }
    expectStatus(await api.get('/usages?project_id=p&consumer_type=INSTANCE', { version: '1.37' }), 400)
  })
})
