// What counts for a project, at the very moment at which something begins or ends.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { belongingsOf } from '../../src/quotas/belongings.ts'
import { limitsOf, listQuotas, setQuota, STORED } from '../../src/quotas/limits.ts'
import { showQuota } from '../../src/quotas/show.ts'
import { type Kind, usageOf } from '../../src/quotas/usage.ts'
import { isLimited, requireRoom, requireTerm, shownAmount, withinQuota } from '../../src/quotas/within.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { Rows } from '../support/rows.ts'
import { eachDatabase } from '../support/stores.ts'

const NOW = 1_000_000_000
const HOUR_MS = 3_600_000
const EVERY: ReadonlySet<Kind> = new Set(['nodes', 'servers', 'leases'])

eachDatabase(
  'quotas, row by row,',
  databases => {
    let store: Store
    let rows: Rows
    let projects = 0
    const project = () => `project-${++projects}`
    before(async () => {
      store = openStore(await databases.create())
      rows = new Rows(store)
    })
    after(() => store.close())

    const used = async (id: string, now = NOW) => Object.fromEntries(await store.read(() => usageOf(id, EVERY, now)))
    const set = (id: string, limits: Record<string, number | null>) => store.write(() => setQuota(id, limits))

    void test('holds count until their end, allocations until they are ended, failed ones never', async () => {
      const [id, other] = [project(), project()]
      const [one, two] = [await rows.node({ resource_class: 'big' }), await rows.node({ resource_class: 'small' })]
      await rows.hold({ project_id: id, node_id: one.id, expires_at: NOW + 1 })
      await rows.hold({ project_id: id, node_id: two.id, expires_at: NOW })
      await rows.allocation({ project_id: id, expires_at: NOW - 5 })
      await rows.allocation({ project_id: id, state: 'error' })
      await rows.allocation({ project_id: other })
      const { nodes, 'nodes:big': big, 'nodes:small': small, 'nodes:plain': plain } = await used(id)
      assert.deepEqual([nodes, big, small, plain], [2, 1, undefined, 1])
      assert.equal((await used(other))['nodes'], 1)
      assert.equal((await used(project()))['nodes'], 0)
    })

    void test('leases count until they are over, with the hours that are left', async () => {
      const id = project()
      await rows.lease({ project_id: id, start_at: NOW - HOUR_MS, end_at: NOW + HOUR_MS, status: 'ACTIVE' })
      await rows.lease({ project_id: id, start_at: NOW + HOUR_MS, end_at: NOW + 3 * HOUR_MS })
      await rows.lease({ project_id: id, start_at: NOW - HOUR_MS, end_at: NOW })
      await rows.lease({ project_id: id, start_at: NOW, end_at: NOW + HOUR_MS, status: 'TERMINATED' })
      await rows.lease({ project_id: id, start_at: NOW, end_at: NOW + HOUR_MS, is_deleted: 1 })
      const { leases, lease_hours: hours } = await used(id)
      assert.deepEqual([leases, hours], [2, 3])
      assert.deepEqual((await used(id, NOW - 1))['leases'], 3)
    })

    void test('servers count with what their wishes add up to, a resource that is missing with nothing', async () => {
      const id = project()
      const wish = (...groups: object[]) =>
        JSON.stringify({
          groups: Object.fromEntries(
            groups.map((resources, i) => [String(i), { resources, required: [], forbidden: [] }]),
          ),
        })
      const server = (text: string) =>
        rows.put('servers', { project_id: id, wish: text, status: 'ACTIVE', metadata: '{}' })
      await server(wish({ VCPU: 2 }, { VCPU: 1 }))
      await server(wish({ VCPU: 2 }, { VCPU: 1 }))
      await server(wish({ MEMORY_MB: 64 }))
      const { instances, vcpus } = await used(id)
      assert.deepEqual([instances, vcpus], [3, 6])
    })

    void test('what is not asked for is not counted', async () => {
      const id = project()
      await rows.allocation({ project_id: id })
      for (const [kind, names] of [
        ['nodes', ['nodes', 'nodes:plain']],
        ['servers', ['instances', 'vcpus']],
        ['leases', ['leases', 'lease_hours']],
      ] as const) {
        const found = await store.read(() => usageOf(id, new Set([kind]), NOW))
        assert.deepEqual([...found.keys()], names)
      }
    })

    void test('what belongs to a project is named, each kind for itself, until it is over', async () => {
      const id = project()
      const belongings = (now = NOW) => store.read(() => belongingsOf(id, now))
      assert.deepEqual(await belongings(), [])
      await rows.node({ owner: id })
      await rows.node({ owner: id, lessee: project() })
      await rows.node({ lessee: id })
      await rows.allocation({ project_id: id })
      await rows.allocation({ project_id: project(), owner: id })
      const [one, two, three] = [await rows.node(), await rows.node(), await rows.node()]
      await rows.hold({ project_id: id, node_id: one.id, expires_at: NOW + 1 })
      await rows.hold({ project_id: project(), owner: id, node_id: two.id, expires_at: NOW + 1 })
      await rows.hold({ project_id: id, node_id: three.id, expires_at: NOW })
      await rows.lease({ project_id: id, start_at: NOW, end_at: NOW + 1 })
      await rows.lease({ project_id: id, start_at: NOW - 1, end_at: NOW })
      await rows.lease({ project_id: id, start_at: NOW, end_at: NOW + 1, status: 'TERMINATED' })
      await rows.lease({ project_id: id, start_at: NOW, end_at: NOW + 1, is_deleted: 1 })
      await rows.put('servers', { project_id: id, wish: '{}', status: 'ACTIVE', metadata: '{}' })
      await rows.put('consumers', { project_id: id })
      await rows.put('consumers', { project_id: id, expires_at: NOW + 1 })
      await rows.put('consumers', { project_id: id, expires_at: NOW })
      await rows.put('consumers', { project_id: id, managed_by: 'lease' })
      assert.deepEqual(await belongings(), [
        '2 nodes',
        '1 leased node',
        '2 allocations',
        '2 reservations',
        '1 lease',
        '1 server',
        '2 claims',
      ])
      const kinds = (await belongings(NOW + 1)).map(text => text.replace(/^\d+ /, ''))
      assert.deepEqual(kinds, ['nodes', 'leased node', 'allocations', 'server', 'claim'])
    })

    void test('own limits go before those for all, and -1 takes one away', async () => {
      const [id, plain] = [project(), project()]
      await set('default', { nodes: 3, leases: 4 })
      await set(id, { nodes: 5, leases: -1, instances: 6 })
      const limits = async (of: string) => {
        // How much may be stored is limited for all.
        const { [STORED]: _, ...others } = Object.fromEntries(await store.read(() => limitsOf(of)))
        return others
      }
      assert.deepEqual(await limits(id), {
        nodes: { max: 5, isDefault: false },
        instances: { max: 6, isDefault: false },
      })
      assert.deepEqual(await limits(plain), {
        nodes: { max: 3, isDefault: true },
        leases: { max: 4, isDefault: true },
      })
      const shown = await store.read(() => showQuota(id, NOW))
      assert.deepEqual(
        shown
          .filter(({ name }) => name !== STORED)
          .map(({ name, max, used: amount, isDefault }) => [name, max, amount, isDefault]),
        [
          ['nodes', 5, 0, false],
          ['instances', 6, 0, false],
          ['vcpus', null, 0, false],
          ['leases', null, 0, false],
          ['lease_hours', null, 0, false],
          ['longest_hold_hours', null, null, false],
          ['longest_allocation_hours', null, null, false],
          ['longest_lease_hours', null, null, false],
        ],
      )
      await set(id, { 'nodes:b': 1, 'nodes:a': 2 })
      const classes = (await store.read(() => showQuota(id, NOW))).filter(({ name }) => name.startsWith('nodes:'))
      assert.deepEqual(
        classes.map(({ name, used: amount }) => [name, amount]),
        [
          ['nodes:a', 0],
          ['nodes:b', 0],
        ],
      )
      assert.deepEqual(
        (await store.read(() => showQuota('default', NOW))).slice(0, 2).map(({ max, used: amount }) => [max, amount]),
        [
          [3, null],
          [null, null],
        ],
      )
      const listed = (await store.read(listQuotas)).filter(one => ['default', id].includes(one.project))
      assert.deepEqual(
        listed.map(one => [one.project, Object.keys(one.limits)]),
        [
          ['default', ['leases', 'nodes']],
          [id, ['instances', 'leases', 'nodes', 'nodes:a', 'nodes:b']],
        ],
      )
      await set('default', { nodes: null, leases: null })
    })

    void test('a change may reach a limit, not pass it, and what has passed one may stay as it is', async () => {
      const id = project()
      const promised = { project: id, kinds: ['nodes'] as const, now: NOW }
      const addOne = function* () {
        yield* setQuota(`${id}-mark-${++projects}`, { nodes: 1 })
      }
      await rows.allocation({ project_id: id })
      await set(id, { nodes: 2 })
      await store.read(() => requireRoom(promised, new Map([['nodes', 1]])))
      await assert.rejects(
        () => store.read(() => requireRoom(promised, new Map([['nodes', 2]]))),
        /already used 1 of 2/,
      )
      await store.read(() => requireRoom({ ...promised, kinds: ['servers'] }, new Map([['nodes', 9]])))
      await set(id, { nodes: 0 })
      await store.write(() => withinQuota(promised, addOne))
      await store.read(() => requireRoom(promised, new Map()))
      await store.read(() => requireRoom({ ...promised, project: null }, new Map([['nodes', 9]])))
    })

    void test('what lasts as long as it may is taken, and one moment longer is not', () => {
      const limits = new Map([['longest_hold_hours', { max: 2, isDefault: false }]])
      const term = (until: number | null, present?: number | null) => () =>
        requireTerm(limits, 'longest_hold_hours', { from: NOW, until, ...(present !== undefined && { present }) })
      const end = NOW + 2 * HOUR_MS
      assert.doesNotThrow(term(end))
      assert.throws(term(end + 1), /at most 2 hours/)
      assert.throws(term(null), /no end/)
      // It may always become shorter, and stay as it is.
      assert.doesNotThrow(term(end + 5, end + 5))
      assert.doesNotThrow(term(end + 4, end + 5))
      assert.throws(term(end + 6, end + 5), /at most 2 hours/)
      assert.throws(term(null, end + 5), /no end/)
      assert.doesNotThrow(term(null, null))
      assert.doesNotThrow(() => requireTerm(limits, 'longest_lease_hours', { from: NOW, until: null }))
      assert.equal(shownAmount(1.25), 1.3)
      assert.equal(isLimited(limits, 'nodes', 'longest_hold_hours'), true)
      assert.equal(isLimited(limits, 'nodes', 'longest_lease_hours'), false)
    })
  },
  ['sqlite'],
)
