import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { answer } from './answer.ts'
import { canonical, modelCandidates } from '../../../test/support/candidates/model.ts'
import { findProviders } from './providers.ts'
import { group, request } from './request.ts'
import { searchNow } from './search.ts'
import { CandidateTable } from './table.ts'
import type { ProviderSnapshot } from './table.ts'
import { NEWEST, flat, inventory, provider, read } from '../../../test/support/candidates/examples.ts'
import { question, uuid, world } from '../../../test/support/candidates/worlds.ts'
import { asId } from '../../../test/support/ids.ts'

const numRuns = Math.ceil(Number(process.env.HOLDFAST_RUNS ?? 1500) / 5)
const vcpu = request([group('', { VCPU: 1 })])
const uuidsFor = (table: CandidateTable) =>
  read(table, vcpu)
    .flatMap(one => Object.keys(one.allocations))
    .sort()

test('a table changed step by step answers like one loaded afresh', () => {
  const worlds = fc.array(world, { minLength: 2, maxLength: 4 })
  fc.assert(
    fc.property(worlds, question([1, 2, 3, 4, 5, 6, 7]), fc.boolean(), (states, asked, oneByOne) => {
      const table = new CandidateTable()
      let before: ProviderSnapshot[] = []
      for (const state of states) {
        const removes = before.filter(old => !state.some(one => one.id === old.id)).map(one => one.id)
        if (oneByOne) {
          for (const id of removes) table.remove(asId(id))
          for (const one of state) table.put(one)
        } else {
          table.apply({ puts: state.toReversed(), removes })
        }
        before = state
        const all = { ...asked, limit: null }
        const found = read(table, all).map(canonical).sort()
        assert.deepEqual(found, modelCandidates(state, all).map(canonical).sort())
        assert.equal(table.size, state.length)
      }
    }),
    { numRuns },
  )
})

test('providers are filtered by what they have themselves', () => {
  fc.assert(
    fc.property(world, question([1, 2, 3, 4, 5, 6, 7]), (state, asked) => {
      const table = new CandidateTable()
      table.load(state)
      const filter = asked.groups[0]!
      // A suffixed group without a rule for sharing, seen by each root alone, is exactly this filter.
      const named = state.find(one => one.uuid === filter.inTree)
      const expected = state.filter(one => {
        if (filter.inTree !== null && one.rootId !== named?.rootId) return false
        const alone = { ...one, parentId: null, rootId: one.id, dedicatedTo: null, traits: [...one.traits, 'ANY'] }
        const own = { ...filter, suffix: '1', inTree: null, required: [...filter.required, ['ANY']] }
        return modelCandidates([alone], request([own])).length > 0
      })
      const ids = expected.map(one => one.id).sort((a, b) => a - b)
      assert.deepEqual(findProviders(table, filter), ids)
    }),
    { numRuns },
  )
})

test('a claim changes the room, the summary and the generation at once', () => {
  const table = new CandidateTable()
  table.load([flat(1, { VCPU: 4 })])
  read(table, vcpu)
  const version = table.version
  assert.equal(table.use(asId(1), 'VCPU', 3, 7), true)
  assert.ok(table.version > version)
  assert.equal(table.generation[table.rowOfId(asId(1))], 7)
  const body = answer(table, searchNow(table, vcpu, 1000), NEWEST).toString()
  assert.match(body, /"VCPU":\{"capacity":4,"used":3\}/)
  table.use(asId(1), 'VCPU', 4, 8)
  assert.deepEqual(uuidsFor(table), [])
  assert.equal(table.use(asId(1), 'DISK_GB', 1, 9), false)
  assert.equal(table.use(asId(2), 'VCPU', 1, 9), false)
})

test('a subtree moves in one batch, whatever the order of its members', () => {
  const table = new CandidateTable()
  const child = provider(2, { parentId: 1, rootId: 1 })
  const grandchild = provider(3, { parentId: 2, rootId: 1, inventories: [inventory('VCPU', 4)] })
  table.load([provider(1, {}), child, grandchild, flat(4, { DISK_GB: 10 })])
  const both = request([group('', { VCPU: 1, DISK_GB: 1 })])
  assert.equal(read(table, both).length, 0)
  table.apply({
    puts: [
      { ...grandchild, rootId: asId(4) },
      { ...child, parentId: asId(4), rootId: asId(4) },
    ],
    removes: [],
  })
  assert.deepEqual(
    read(table, both).map(one => Object.keys(one.allocations).sort()),
    [[uuid('b', 3), uuid('b', 4)]],
  )
  assert.equal(table.treeOf[table.rowOfId(asId(1))], null, 'the old root stands alone')
  table.apply({
    puts: [
      { ...child, parentId: null, rootId: asId(2) },
      { ...grandchild, rootId: asId(2) },
    ],
    removes: [asId(4)],
  })
  assert.deepEqual(uuidsFor(table), [uuid('b', 3)])
  assert.equal(table.rowOfUuid(uuid('b', 4)), -1)
})

test('a child that arrives before its root waits for it', () => {
  const table = new CandidateTable()
  table.put(provider(2, { parentId: 1, rootId: 1, inventories: [inventory('VCPU', 4)] }))
  assert.deepEqual(uuidsFor(table), [])
  table.put(provider(1, {}))
  assert.deepEqual(uuidsFor(table), [uuid('b', 2)])
})

test('columns and sets stay right while they grow from few rows to many', () => {
  const table = new CandidateTable()
  const ids = Array.from({ length: 3000 }, (_, i) => i + 1)
  for (const id of ids) {
    table.put(
      provider(id, {
        inventories: [inventory('VCPU', id % 7 === 0 ? 8 : 2)],
        traits: id % 3 === 0 ? ['CUSTOM_A'] : [],
      }),
    )
  }
  const asked = request([group('', { VCPU: 4 }, { required: [['CUSTOM_A']] })])
  const expected = ids.filter(id => id % 21 === 0).map(id => uuid('b', id))
  assert.deepEqual(
    read(table, asked)
      .flatMap(one => Object.keys(one.allocations))
      .sort(),
    expected,
  )
  for (const id of ids) if (id % 2 === 0) table.remove(asId(id))
  assert.equal(read(table, asked).length, ids.filter(id => id % 42 === 21).length)
  assert.equal(table.size, 1500)
})

test('a put that only repeats what is known or changes `used` leaves shape caches alone', () => {
  const table = new CandidateTable()
  table.load([flat(1, { VCPU: 4 })])
  const { shapeVersion } = table
  const stamp = table.stamp[table.rowOfId(asId(1))]
  table.put({ ...flat(1, { VCPU: 4 }), inventories: [{ ...inventory('VCPU', 4), used: 4 }] })
  assert.equal(table.shapeVersion, shapeVersion)
  assert.equal(table.stamp[table.rowOfId(asId(1))], stamp)
  assert.deepEqual(uuidsFor(table), [])
})

test('a uuid that goes from one provider to another is found at its new one, in whatever order they are put', () => {
  const table = new CandidateTable()
  const [first, second] = [flat(1, { VCPU: 4 }), flat(2, { VCPU: 4 })]
  table.load([first, second])
  table.put({ ...first, uuid: second.uuid })
  table.remove(asId(2))
  assert.equal(table.rowOfUuid(second.uuid), table.rowOfId(asId(1)))
  assert.equal(table.rowOfUuid(first.uuid), -1)
})

test('huge capacities are written as digits, blocked ones as nothing until someone uses them', () => {
  const table = new CandidateTable()
  const huge = { ...inventory('VCPU', 2147483647), allocationRatio: 3.4e38 }
  const blocked = { ...inventory('DISK_GB', 10), blocked: true }
  const inUse = { ...inventory('MEMORY_MB', 10), blocked: true, used: 3 }
  table.load([provider(1, { inventories: [huge, blocked, inUse] })])
  const body = answer(table, searchNow(table, vcpu, 1000), NEWEST).toString()
  assert.match(body, /"VCPU":\{"capacity":7301444\d{41},"used":0\}/)
  assert.match(body, /"DISK_GB":\{"capacity":0,"used":0\}/)
  assert.match(body, /"MEMORY_MB":\{"capacity":10,"used":3\}/)
  assert.equal(searchNow(table, request([group('', { DISK_GB: 1 })]), 1000).count, 0)
})
