import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../store/store.ts'
import { Fleet, type FleetNode } from './fleet.ts'
import { fleetNode } from '../../../test/support/fleet-node.ts'
import { asId } from '../../../test/support/ids.ts'

const node = (id: number, revision = 0) => fleetNode(id, { uuid: `node-${id}`, provider_id: asId(id), revision })

/** A fleet with these nodes, on a database whose answers the test gives, when it wants. */
async function fleetOf(...nodes: FleetNode[]) {
  const asked: ((answer: FleetNode[]) => void)[] = []
  const read = () => new Promise<FleetNode[]>(resolve => asked.push(resolve))
  const fleet = new Fleet({ read } as unknown as Store)
  const loading = fleet.load()
  asked.shift()!(nodes)
  await loading
  const commit = (provider: number, attached: FleetNode | null) =>
    fleet.absorb([{ provider: asId(provider), room: 'metal', attached }])
  const revisions = () => Object.fromEntries([...fleet.nodes()].map(({ id, revision }) => [id, revision]))
  return { fleet, commit, revisions, answer: (found: FleetNode[], which = 0) => asked.splice(which, 1)[0]!(found) }
}

for (const [what, read] of [
  ['everything', (fleet: Fleet) => fleet.load()],
  ['some', (fleet: Fleet) => fleet.refresh([1, 2, 3].map(id => asId(id)))],
] as const) {
  void test(`a node that is created or changed while ${what} is read stays as committed`, async () => {
    const { fleet, commit, revisions, answer } = await fleetOf(node(1), node(2))
    const reading = read(fleet)
    void commit(3, node(3))
    void commit(2, node(2, 1))
    answer([node(1), node(2)])
    await reading
    assert.deepEqual(revisions(), { 1: 0, 2: 1, 3: 0 })
    assert.equal(fleet.openOf('gpu').length, 3)
  })

  void test(`a node that is deleted while ${what} is read does not come back`, async () => {
    const { fleet, commit, revisions, answer } = await fleetOf(node(1), node(2))
    const reading = read(fleet)
    void commit(2, null)
    void commit(3, node(3))
    void commit(3, null)
    answer([node(1), node(2), node(3)])
    await reading
    assert.deepEqual(revisions(), { 1: 0 })
    assert.equal(fleet.openOf('gpu').length, 1)
  })

  void test(`a node that others deleted or changed is known when ${what} is read`, async () => {
    const { fleet, revisions, answer } = await fleetOf(node(1), node(2))
    const reading = read(fleet)
    answer([node(1, 4), node(3)])
    await reading
    assert.deepEqual(revisions(), { 1: 4, 3: 0 })
  })
}

void test('an older read that ends after a newer one brings no deleted node back', async () => {
  const { fleet, revisions, answer } = await fleetOf(node(1), node(2))
  const [first, second] = [fleet.load(), fleet.refresh([asId(1), asId(2)])]
  answer([node(1, 1)], 1)
  await second
  answer([node(1), node(2)])
  await first
  assert.deepEqual(revisions(), { 1: 1 })
})

void test('of a database that may have lost changes what is read counts, and what was committed since', async () => {
  const { fleet, commit, revisions, answer } = await fleetOf(node(1, 5), node(2, 5), node(3, 5))
  const reading = fleet.load(true)
  void commit(2, node(2, 3))
  answer([node(1, 2), node(2, 2)])
  await reading
  assert.deepEqual(revisions(), { 1: 2, 2: 3 })
})

void test('nodes that are deleted, here or by others, are told', async () => {
  const { fleet, commit, answer } = await fleetOf(node(1), node(2), node(3))
  const gone: number[] = []
  fleet.onGone(id => gone.push(id))
  void commit(2, null)
  const reading = fleet.load()
  answer([node(1)])
  await reading
  assert.deepEqual(gone, [2, 3])
})

void test('a change that is heard of after the deletion that followed it brings no node back', async () => {
  const { commit, revisions, answer } = await fleetOf(node(1), node(2))
  void commit(2, null)
  const absorbed = commit(2, node(2, 1))
  answer([])
  await absorbed
  assert.deepEqual(revisions(), { 1: 0 })
})

void test('a new node may have the id of one that was deleted', async () => {
  const { commit, revisions, answer } = await fleetOf(node(1), node(2))
  void commit(2, null)
  const absorbed = commit(2, node(2, 1))
  answer([node(2, 1)])
  await absorbed
  void commit(2, node(2, 2))
  assert.deepEqual(revisions(), { 1: 0, 2: 2 })
})
