// The queue as it is at a moment: who has what, how projects stand, and when it is counted what they used.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { systemClock } from '../../src/clock/clock.ts'
import type { Fleet } from '../../src/metal/nodes/fleet.ts'
import { likelyEnd, queueNow } from '../../src/metal/queue/rows.ts'
import { setPriority, sharesOf, standingsNow } from '../../src/metal/queue/standings.ts'
import { countUsage, noteUses } from '../../src/metal/queue/usage.ts'
import type { AllocationRow } from '../../src/metal/allocations/rows.ts'
import { limits } from '../../src/shared/limits.ts'
import type { NodeId } from '../../src/store/schema/ids.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { Rows } from '../support/rows.ts'
import { eachDatabase } from '../support/stores.ts'

const NOW = 1_000_000_000
const HOUR_MS = 3_600_000
const FIFO = { order: 'fifo', halfLifeMs: 1_000 * HOUR_MS } as const
const FAIR = { ...FIFO, order: 'fair' } as const

eachDatabase(
  'the queue, row by row,',
  databases => {
    let store: Store
    let rows: Rows
    before(async () => {
      store = openStore(await databases.create())
      rows = new Rows(store)
    })
    after(() => store.close())
    beforeEach(() =>
      store.script(async run => {
        for (const table of ['project_usages', 'node_uses', 'project_priorities']) await run(`delete from ${table}`)
      }),
    )

    const usages = () =>
      store.script(run => run('select * from project_usages order by project_id')) as unknown as Promise<
        { project_id: string; used: number; counted_at: number }[]
      >
    const count = (now: number, rules: typeof FIFO | typeof FAIR = FIFO) =>
      countUsage({ store, clock: { ...systemClock, now: () => now }, rules })
    const ended = (project_id: string, from: number | null, made = from ?? 0) =>
      ({ project_id, started_at: from, created_at: made }) as AllocationRow

    void test('a node is had by its hold, its allocation, or the lease behind that, until it ends', async () => {
      const nodes: Awaited<ReturnType<Rows['node']>>[] = []
      for (let i = 0; i < 5; i++) nodes.push(await rows.node())
      const [held, over, given, leased, kept] = nodes
      await rows.hold({ node_id: held!.id, expires_at: NOW + 5, owner: 'h' })
      await rows.hold({ node_id: over!.id, expires_at: NOW })
      const active = (node: number, more: object) =>
        rows.allocation({ state: 'active', node_id: node, user_id: 'u', uuid: crypto.randomUUID(), ...more })
      const uuid = crypto.randomUUID()
      await active(given!.id, { expires_at: NOW + 7, owner: 'o', name: 'mine', uuid })
      await active(kept!.id, { expires_at: NOW + 1, keeper: 'nova', planned_end: NOW + 99 })
      const byLease = crypto.randomUUID()
      await active(leased!.id, { expires_at: NOW + 1, uuid: byLease })
      const lease = crypto.randomUUID()
      await rows.lease({ id: lease, start_at: NOW - 9, end_at: NOW + 50 })
      const place = { provider_id: leased!.provider }
      await rows.put('leasables', { ...place, kind: 'node', name: leased!.uuid, reservable: 1 })
      const reservation = { lease_id: lease, resource_type: 'physical:node', status: 'active', terms: '{}' }
      const booking = { ...place, lease_id: lease, slots: 1, is_whole: 1 }
      for (const [i, times] of [
        { start_at: NOW, end_at: NOW + 50, free_at: NOW + 60, allocation: byLease },
        { start_at: NOW + 100, end_at: NOW + 150, free_at: NOW + 150 },
        { start_at: NOW - 20, end_at: NOW - 10, free_at: NOW },
      ].entries()) {
        const id = crypto.randomUUID()
        await rows.put('lease_reservations', { ...reservation, id, position: i })
        await rows.put('bookings', { ...booking, reservation_id: id, ...times })
      }
      const fleet = {
        ofProvider: (id: number) => (id === leased!.provider ? { id: leased!.id } : undefined),
      } as unknown as Fleet
      const { holders, booked, waiting } = await store.read(() => queueNow(fleet, NOW))
      const of = (node: { id: number } | undefined) => holders.get(node!.id as NodeId)
      assert.deepEqual(of(held), { what: 'hold', end: NOW + 5, owner: 'h', allocation: null })
      assert.equal(of(over), undefined)
      assert.deepEqual(of(given), {
        what: 'allocation',
        end: NOW + 7,
        owner: 'o',
        allocation: { uuid, name: 'mine', user: 'u' },
      })
      assert.deepEqual([of(kept)?.what, of(kept)?.end], ['allocation', NOW + 99])
      assert.deepEqual([of(leased)?.what, of(leased)?.end], ['lease', NOW + 60])
      assert.deepEqual(booked.get(leased!.id as NodeId), [
        { start: NOW, free: NOW + 60 },
        { start: NOW + 100, free: NOW + 150 },
      ])
      assert.equal(waiting.length, 0)
    })

    void test('one that is kept ends when it was planned to, unless someone ends it', () => {
      const ends = { expires_at: 1, planned_end: 2 }
      assert.equal(likelyEnd({ ...ends, keeper: null, ending_at: null }), 1)
      assert.equal(likelyEnd({ ...ends, keeper: 'nova', ending_at: null }), 2)
      assert.equal(likelyEnd({ ...ends, keeper: 'nova', ending_at: 3 }), 1)
      assert.equal(likelyEnd({ ...ends, keeper: null, ending_at: 3 }), 1)
    })

    void test('priorities and shares are kept where they differ from what holds for all', async () => {
      const set = (project: string, wish: object) => store.write(() => setPriority(project, wish))
      const kept = async () =>
        (await store.script(run => run('select * from project_priorities order by project_id'))).map(one => {
          const { project_id: project, priority, share } = one
          return [project, priority, share]
        })
      await set('b', { priority: 2 })
      await set('a', { share: 3 })
      assert.deepEqual(await kept(), [
        ['a', 0, 3],
        ['b', 2, 1],
      ])
      await set('b', { share: 4 })
      assert.deepEqual((await kept())[1], ['b', 2, 4])
      await set('b', { priority: 0 })
      assert.deepEqual((await kept())[1], ['b', 0, 4])
      await set('b', { share: 1 })
      assert.deepEqual(await kept(), [['a', 0, 3]])
      await assert.rejects(() => set('x'.repeat(limits.nameCharsMax + 1), { share: 2 }), /at most \d+ characters/)
      await store.write(() => noteUses([ended('c', NOW - HOUR_MS)], NOW))
      await count(NOW)
      const standings = await store.read(standingsNow)
      assert.deepEqual([standings.get('a')?.share, standings.get('a')?.used], [3, 0])
      assert.equal(standings.get('c')?.share, 1)
      assert.equal(standings.get('c')?.servedAt, NOW - HOUR_MS)
    })

    void test('what is due to each and what each had are parts of one whole', () => {
      const one = { priority: 0, servedAt: null }
      const shared = sharesOf(
        new Map([
          ['b', { ...one, share: 3, used: 1 }],
          ['a', { ...one, share: 1, used: 3 }],
        ]),
      )
      assert.deepEqual(
        shared.map(({ project, due, actual }) => [project, due, actual]),
        [
          ['a', 0.25, 0.75],
          ['b', 0.75, 0.25],
        ],
      )
      // Nobody used anything: nobody had a part, and that is no division by zero.
      assert.equal(sharesOf(new Map([['a', { ...one, share: 1, used: 0 }]]))[0]!.actual, 0)
      assert.equal(sharesOf(new Map([['a', { ...one, share: 1, used: 1 }]]))[0]!.actual, 1)
    })

    void test('what has ended counts once, what runs until now, and nothing that took no time', async () => {
      await store.write(() =>
        noteUses(
          [ended('p', NOW - HOUR_MS), ended('q', null, NOW - 2 * HOUR_MS), ended('r', NOW), ended('s', NOW + 5)],
          NOW,
        ),
      )
      assert.equal((await store.script(run => run('select * from node_uses'))).length, 2)
      assert.equal(await count(NOW), limits.usageCountMs)
      const found = await usages()
      const names = found.map(({ project_id: id }) => id).filter(id => ['p', 'q', 'r', 's'].includes(id))
      assert.deepEqual(names, ['p', 'q'])
      const used = (id: string) => found.find(one => one.project_id === id)!.used / HOUR_MS
      assert.ok(used('p') > 0.99 && used('p') <= 1 && used('q') > 1.99 && used('q') <= 2)
      assert.equal((await store.script(run => run('select * from node_uses'))).length, 0)
      await count(NOW + limits.usageCountMs)
      const later = (await usages()).find(one => one.project_id === 'p')!
      assert.ok(later.used / HOUR_MS > 0.99 && later.used / HOUR_MS <= 1)
    })

    void test('it is counted once a minute, whoever asks, and a count of a clock that was wrong stops nobody', async () => {
      await store.write(() => noteUses([ended('p', NOW - HOUR_MS)], NOW))
      await count(NOW)
      const countedAt = async () => (await usages())[0]!.counted_at
      assert.equal(await count(NOW + 1_000), limits.usageCountMs - 1_000)
      assert.equal(await countedAt(), NOW)
      assert.equal(await count(NOW + limits.usageCountMs - 1), 1)
      assert.equal(await count(NOW + limits.usageCountMs), limits.usageCountMs)
      assert.equal(await countedAt(), NOW + limits.usageCountMs)
      const early = NOW - 10 * limits.clockSlackMs
      assert.equal(await count(early), limits.usageCountMs)
      assert.equal(await countedAt(), early)
    })

    void test('a count wakes those who serve in the fair order', async () => {
      const woken: string[] = []
      const stop = store.onCommit(({ topics }) => void woken.push(...topics))
      await store.write(() => noteUses([ended('p', NOW - HOUR_MS)], NOW))
      await count(NOW, FIFO)
      assert.ok(!woken.includes('allocations'))
      await count(NOW + limits.usageCountMs, FAIR)
      stop()
      assert.ok(woken.includes('allocations'))
    })
  },
  ['sqlite'],
)
