// Holds at the moment they are made, many at once and one by one: who gets which node, and why not.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Entry } from '../../src/audit/entry.ts'
import { listHolds, createHold, deleteHold, findHold, renewHold } from '../../src/metal/holds/lifecycle.ts'
import { type AskedHold, holdBatch } from '../../src/metal/holds/hold-batch.ts'
import { EVERYTHING } from '../../src/metal/access.ts'
import type { Supply } from '../../src/metal/allocations/matching.ts'
import { type FleetNode, fleetNode } from '../../src/metal/nodes/fleet.ts'
import { setQuota } from '../../src/quotas/limits.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { Rows } from '../support/rows.ts'
import { eachDatabase } from '../support/stores.ts'

const NOW = 1_000_000_000
const WHO = { project: 'p', user: 'u', roles: new Set<string>(), systemScope: false }
const ENTRY: Entry = {
  at: NOW,
  requestId: null,
  user: 'u',
  project: 'p',
  roles: '',
  address: '',
  action: 'holds',
  outcome: 'done',
}
const PAGE = { descending: false, limit: 100, marker: null }
const ANY = { node_uuid: null, instance_uuid: null, owner: null }

eachDatabase(
  'holds, row by row,',
  databases => {
    let store: Store
    let rows: Rows
    let classes = 0
    before(async () => {
      store = openStore(await databases.create())
      rows = new Rows(store)
      classes = await rows.put('resource_classes', { name: 'CUSTOM_PLAIN', created_at: NOW })
    })
    after(() => store.close())

    const node = async (more: Record<string, string | number | null> = {}) => {
      const made = await rows.node({ placement_class: 'CUSTOM_PLAIN', ...more })
      const amounts = { total: 1, min_unit: 1, max_unit: 1, step_size: 1, allocation_ratio: 1, capacity: 1, ceiling: 1 }
      await rows.put('inventories', { provider_id: made.provider, class_id: classes, ...amounts })
      return made
    }
    const change = (set: string, uuid: string) =>
      store.script(async run => void (await run(`update nodes set ${set} where uuid = '${uuid}'`)))

    /** Memory as it is now, or as it was. */
    const supply = async (): Promise<Supply> => {
      const all = await store.script(run => run('select * from nodes'))
      const nodes = (all as unknown as FleetNode[]).map(fleetNode)
      const fleet = {
        withUuid: (uuid: string) => nodes.find(one => one.uuid === uuid),
        named: (name: string) => nodes.find(one => one.name === name),
      }
      const table = { rowOfId: () => 0, column: () => ({ roomAt: () => 1 }) }
      return { fleet, table } as unknown as Supply
    }
    const wanted = (nodes: string[], instance: string = crypto.randomUUID()) => ({
      uuid: crypto.randomUUID(),
      instance,
      nodes,
      owner: null,
      expiresAt: NOW + 60_000,
    })
    const asked = (nodes: string[], more: Partial<AskedHold> = {}, instance?: string): AskedHold => ({
      wanted: wanted(nodes, instance),
      view: { all: 1, project: null },
      who: WHO,
      entry: ENTRY,
      ...more,
    })
    const batch = async (some: AskedHold[], from?: Supply) => {
      const known = from ?? (await supply())
      return store.write(() => holdBatch(some, known, NOW))
    }
    const isHeld = async (uuid: string, now = NOW) =>
      (await store.read(() => listHolds({ ...ANY, node_uuid: uuid }, PAGE, EVERYTHING, now))).length === 1
    const subjects = () =>
      store.script(run => run("select objects from log where action = 'holds'")) as Promise<{ objects: string }[]>

    void test('each gets the node that it names, by uuid or by name, and has its own entry in the log', async () => {
      const [one, two] = [await node(), await node({ name: 'second' })]
      const before = (await subjects()).length
      const some = [asked([one.uuid]), asked(['second'])]
      const made = await batch(some)
      assert.deepEqual(
        made.map(hold => [hold?.node_uuid, hold?.node_name, hold?.expires_at, hold?.project_id]),
        [
          [one.uuid, null, NOW + 60_000, 'p'],
          [two.uuid, 'second', NOW + 60_000, 'p'],
        ],
      )
      assert.ok((await isHeld(one.uuid)) && (await isHeld(two.uuid)))
      const entries = (await subjects()).slice(before).map(({ objects }) => objects)
      assert.equal(entries.length, 2)
      for (const [i, { wanted: hold }] of some.entries()) {
        assert.ok(entries[i]!.includes(hold.uuid))
        assert.ok(!entries[i]!.includes(some[1 - i]!.wanted.uuid))
      }
    })

    void test('two who name the same node, or the same instance: only the first gets it here', async () => {
      const [one, two, three] = [await node(), await node(), await node()]
      const instance = crypto.randomUUID()
      const some = [
        asked([one.uuid]),
        asked([one.uuid]),
        asked([two.uuid], {}, instance),
        asked([three.uuid], {}, instance),
      ]
      const made = await batch(some)
      assert.deepEqual(
        made.map(hold => hold !== null),
        [true, false, true, false],
      )
      assert.equal(await isHeld(three.uuid), false)
      assert.deepEqual(await batch([asked(['nobody'])]), [null])
    })

    void test('a node that is not free is passed over, also where memory does not know it yet', async () => {
      for (const set of [
        'maintenance = 1',
        'retired = 1',
        'leasable = 1',
        `instance_uuid = '${crypto.randomUUID()}'`,
        "provision_state = 'active'",
      ]) {
        const { uuid } = await node()
        const before = await supply()
        await change(set, uuid)
        assert.deepEqual(await batch([asked([uuid])]), [null], set)
        assert.deepEqual(await batch([asked([uuid])], before), [null], `${set}, unknown`)
        await assert.rejects(
          () => store.write(() => createHold(wanted([uuid]), EVERYTHING, WHO, NOW)),
          /None of the nodes can be reserved/,
          set,
        )
      }
    })

    void test('a node of that name has another by now, or is not for their eyes', async () => {
      const { uuid } = await node({ name: 'before', owner: 'theirs' })
      const old = await supply()
      await change("name = 'after'", uuid)
      assert.deepEqual(await batch([asked(['before'])], old), [null])
      assert.deepEqual(await batch([asked([uuid], { view: { all: 0, project: 'mine' } })]), [null])
      assert.deepEqual(await batch([asked([uuid], { view: { all: 0, project: null } })]), [null])
      const [made] = await batch([asked([uuid], { view: { all: 0, project: 'theirs' } })])
      assert.equal(made?.node_name, 'after')
      const lent = await node({ lessee: 'mine' })
      assert.ok((await batch([asked([lent.uuid], { view: { all: 0, project: 'mine' } })]))[0])
    })

    void test('an instance that has a node, a hold, a claim or an allocation gets no other node', async () => {
      const [uuid, instance] = [(await node()).uuid, crypto.randomUUID()]
      const other = await node()
      await rows.hold({ instance_uuid: instance, node_id: other.id, expires_at: NOW + 1 })
      const [consumer, allocation, user] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
      await rows.put('consumers', { uuid: consumer })
      await rows.allocation({ uuid: allocation })
      await rows.node({ instance_uuid: user })
      for (const taken of [instance, consumer, allocation, user]) {
        assert.deepEqual(await batch([asked([uuid], {}, taken)]), [null])
      }
      assert.ok((await batch([asked([uuid])]))[0])
    })

    void test('whoever has a limit on nodes asks in the usual way, where it is counted', async () => {
      const { uuid } = await node()
      for (const name of ['nodes', 'nodes:plain', 'longest_hold_hours']) {
        await store.write(() => setQuota('p', { [name]: 5 }))
        assert.deepEqual(await batch([asked([uuid])]), [null], name)
        await store.write(() => setQuota('p', { [name]: null }))
      }
      await store.write(() => setQuota('p', { leases: 0 }))
      assert.ok((await batch([asked([uuid])]))[0])
      await store.write(() => setQuota('p', { leases: null }))
    })

    void test('a hold is there until its end and not a moment longer', async () => {
      const { uuid } = await node()
      const [made] = await batch([asked([uuid])])
      const end = NOW + 60_000
      assert.equal(await isHeld(uuid, end - 1), true)
      assert.equal(await isHeld(uuid, end), false)
      assert.equal((await store.read(() => findHold(made!.uuid, EVERYTHING, end - 1))).uuid, made!.uuid)
      await assert.rejects(() => store.read(() => findHold(made!.uuid, EVERYTHING, end)), /could not be found/)
      await assert.rejects(
        () => store.write(() => renewHold(made!.uuid, EVERYTHING, end + 9, end)),
        /could not be found/,
      )
      // The next one finds it ended, and the node free.
      const next = wanted([uuid])
      const held = await store.write(() => createHold({ ...next, expiresAt: end + 60_000 }, EVERYTHING, WHO, end))
      assert.equal(held.uuid, next.uuid)
    })

    void test('why none of the nodes can be had is said of each', async () => {
      const [out, old, held, free] = [await node(), await node(), await node(), await node()]
      await change('maintenance = 1', out.uuid)
      await change('retired = 1', old.uuid)
      await batch([asked([held.uuid])])
      const nowhere = crypto.randomUUID()
      const nodes = [out.uuid, old.uuid, held.uuid, nowhere]
      const end = new Date(NOW + 60_000).toISOString()
      await assert.rejects(() => store.write(() => createHold(wanted(nodes), EVERYTHING, WHO, NOW)), {
        message:
          `None of the nodes can be reserved: ${out.uuid} is in maintenance; ${old.uuid} is retired; ` +
          `${held.uuid} is reserved until ${end}; ${nowhere} does not exist.`,
      })
      const made = await store.write(() => createHold(wanted([...nodes, free.uuid]), EVERYTHING, WHO, NOW))
      assert.equal(made.node_uuid, free.uuid)
    })

    void test('a node that the ledger does not give was taken a moment ago, and the next one is tried', async () => {
      const [gone, free] = [await node(), await node()]
      const full = `update inventories set capacity = 0, ceiling = 0 where provider_id = ${gone.provider}`
      await store.script(async run => void (await run(full)))
      await assert.rejects(() => store.write(() => createHold(wanted([gone.uuid]), EVERYTHING, WHO, NOW)), {
        message: `None of the nodes can be reserved: ${gone.uuid} was taken a moment ago.`,
      })
      const made = await store.write(() => createHold(wanted([gone.uuid, free.uuid]), EVERYTHING, WHO, NOW))
      assert.equal(made.node_uuid, free.uuid)
    })

    void test('a change of a hold is a change of its node, for whoever follows', async () => {
      const { uuid } = await node()
      const revision = async () => {
        const [row] = await store.script(run => run(`select revision from nodes where uuid = '${uuid}'`))
        return (row as { revision: number }).revision
      }
      const seen = [await revision()]
      const [made] = await batch([asked([uuid])])
      seen.push(await revision())
      const renewed = await store.write(() => renewHold(made!.uuid, EVERYTHING, NOW + 90_000, NOW + 5))
      assert.deepEqual([renewed.expires_at, renewed.updated_at], [NOW + 90_000, NOW + 5])
      seen.push(await revision())
      await store.write(() => deleteHold(made!.uuid, EVERYTHING, NOW + 6))
      seen.push(await revision())
      assert.deepEqual(
        seen.map(one => one - seen[0]!),
        [0, 1, 2, 3],
      )
      assert.equal(await isHeld(uuid), false)
    })

    void test('lists have the holds that match, in order, page by page', async () => {
      const [one, two, three] = [await node(), await node(), await node()]
      const owned = (owner: string, uuid: string) => ({ ...asked([uuid]), wanted: { ...wanted([uuid]), owner } })
      const [a, b, c] = await batch([owned('o1', one.uuid), owned('o1', two.uuid), owned('o2', three.uuid)])
      const list = async (filter: object, page: object = {}, access = EVERYTHING) =>
        (await store.read(() => listHolds({ ...ANY, ...filter }, { ...PAGE, ...page }, access, NOW))).map(
          hold => hold.uuid,
        )
      assert.deepEqual(await list({ owner: 'o1' }), [a!.uuid, b!.uuid])
      assert.deepEqual(await list({ owner: 'o1' }, { descending: true }), [b!.uuid, a!.uuid])
      assert.deepEqual(await list({ node_uuid: three.uuid }), [c!.uuid])
      assert.deepEqual(await list({ instance_uuid: b!.instance_uuid }), [b!.uuid])
      assert.deepEqual(await list({}, {}, { ...EVERYTHING, view: { all: 0, project: 'o2' } }), [c!.uuid])
      // One more than the page, so that it is known whether another follows.
      assert.equal((await list({ owner: 'o1' }, { limit: 1 })).length, 2)
      assert.deepEqual(await list({ owner: 'o1' }, { marker: a!.uuid }), [b!.uuid])
      assert.deepEqual(await list({ owner: 'o1' }, { marker: b!.uuid, descending: true }), [a!.uuid])
    })
  },
  ['sqlite'],
)
