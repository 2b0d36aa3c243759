// Order, limits, budgets, breaths, and a table that changes while a search runs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { answer, answerYielding } from './answer.ts'
import { NEWEST, WORK_MAX, below, flat, parse } from '../../../test/support/candidates/examples.ts'
import { canonical, modelCandidates } from '../../../test/support/candidates/model.ts'
import { group, request } from './request.ts'
import { search, searchNow } from './search.ts'
import type { SearchResult } from './search.ts'
import { CandidateTable } from './table.ts'
import type { ProviderSnapshot } from './table.ts'
import { uuid, worldAndQuestion } from '../../../test/support/candidates/worlds.ts'
import { asId } from '../../../test/support/ids.ts'

const numRuns = Math.ceil(Number(process.env.HOLDFAST_RUNS ?? 1500) / 5)

function loaded(world: readonly ProviderSnapshot[]): CandidateTable {
  const table = new CandidateTable()
  table.load(world)
  return table
}

function listed(table: CandidateTable, result: SearchResult): string[] {
  return parse(answer(table, result, NEWEST))
    .allocation_requests.map(({ allocations, mappings }) => {
      const amounts = Object.entries(allocations).map(([id, { resources }]) => [id, resources])
      return canonical({ allocations: Object.fromEntries(amounts), mappings })
    })
    .sort()
}

/** One root with equal children. */
function wide(children: number, vcpu: number): ProviderSnapshot[] {
  const root = flat(1, {})
  return [root, ...Array.from({ length: children }, (_, i) => below(root, i + 2, { VCPU: vcpu }))]
}

const groups = (count: number, amount: number) =>
  Array.from({ length: count }, (_, i) => group(String(i + 1), { VCPU: amount }))

test('crowded trees give the same as the rules, also where dead ends are remembered', () => {
  const amounts = fc.record({ VCPU: fc.constantFrom(0, 1, 1, 2, 3), DISK_GB: fc.constantFrom(0, 0, 1, 2) })
  const child = fc.record({ totals: amounts, deep: fc.boolean(), traits: fc.subarray(['CUSTOM_X']) })
  const one = fc.record({ wants: amounts, traits: fc.constantFrom<string[][]>([], [], [['CUSTOM_X']]) })
  const crowd = fc.record({
    children: fc.array(child, { minLength: 3, maxLength: 5, size: 'max' }),
    plain: amounts,
    groups: fc.array(one, { minLength: 3, maxLength: 4, size: 'max' }),
    sameSubtree: fc.constantFrom<string[][]>(
      [],
      [['1', '2']],
      [['1', '2', '3']],
      [
        ['1', '2'],
        ['2', '3'],
      ],
    ),
    groupPolicy: fc.constantFrom('none' as const, 'isolate' as const),
    nested: fc.constantFrom(true, true, true, false),
  })
  const present = (record: Record<string, number>) =>
    Object.fromEntries(Object.entries(record).filter(([, n]) => n > 0))
  fc.assert(
    fc.property(crowd, ({ children, plain, groups, sameSubtree, groupPolicy, nested }) => {
      const root = flat(1, { VCPU: 1 })
      const middle = below(root, 2, { VCPU: 1, DISK_GB: 1 })
      const world = [
        root,
        middle,
        ...children.map(({ totals, deep, traits }, i) =>
          below(deep ? middle : root, i + 3, present(totals), { traits }),
        ),
      ]
      const asked = request(
        [
          group('', { VCPU: 1, ...present(plain) }, { required: groups[0]!.traits }),
          ...groups.map(({ wants, traits }, i) =>
            group(String(i + 1), { VCPU: 1, ...present(wants) }, { required: traits }),
          ),
        ],
        { groupPolicy, sameSubtree, nested },
      )
      const table = loaded(world)
      const turn = search(table, asked, { workMax: WORK_MAX, breathEvery: WORK_MAX, hardAfter: 0 }).next()
      assert.ok(turn.done)
      assert.deepEqual(listed(table, turn.value), modelCandidates(world, asked).map(canonical).sort())
    }),
    { numRuns },
  )
})

test('providers with different room left are not treated as equal', () => {
  // 3 + 3: the last group needs 3 in one place, so the first two must share a child. Split, it is a dead end; mirrored, it isn't.
  const asked = request([...groups(2, 1), group('3', { VCPU: 3 })], { groupPolicy: 'none' })
  const turn = search(loaded(wide(2, 3)), asked, { workMax: 1000, breathEvery: 1000, hardAfter: 0 }).next()
  assert.ok(turn.done)
  assert.equal(turn.value.count, 2)
})

test('equal children don’t explode: a hopeless request is given up early', () => {
  const { count, exhausted, steps } = searchNow(
    loaded(wide(16, 4)),
    request(groups(17, 3), { groupPolicy: 'none' }),
    1e6,
  )
  assert.deepEqual({ count, exhausted }, { count: 0, exhausted: false })
  assert.ok(steps < 20_000, `${steps} steps`)
})

test('a limit ends the work, not only the list', () => {
  const { count, steps } = searchNow(
    loaded(wide(16, 16)),
    request(groups(16, 1), { groupPolicy: 'isolate', limit: 10 }),
    1e6,
  )
  assert.equal(count, 10)
  assert.ok(steps < 2000, `${steps} steps`)
})

test('each root has a turn before any has a second one', () => {
  const roots = [1, 10, 20, 30]
  const world = roots.flatMap(id => [flat(id, {}), ...[1, 2, 3].map(i => below(flat(id, {}), id + i, { VCPU: 1 }))])
  const { anchors } = searchNow(loaded(world), request([group('', { VCPU: 1 })], { limit: 6 }), WORK_MAX)
  assert.equal(new Set(anchors.slice(0, 4)).size, 4)
  assert.equal(new Set(anchors.slice(4)).size, 2)
})

test('a seed shuffles, always in the same way', () => {
  const table = loaded(Array.from({ length: 50 }, (_, i) => flat(i + 1, { VCPU: 1 })))
  const order = (seed: number | null) => [
    ...searchNow(table, request([group('', { VCPU: 1 })], { seed, limit: 10 }), WORK_MAX).picks,
  ]
  assert.deepEqual(order(null), order(null))
  assert.deepEqual(order(7), order(7))
  assert.notDeepEqual(order(7), order(null))
  assert.notDeepEqual(order(7), order(8))
})

test('the budget bounds the worst question and the result says so', () => {
  const { exhausted, steps } = searchNow(loaded(wide(16, 16)), request(groups(20, 1), { groupPolicy: 'none' }), 50_000)
  assert.equal(exhausted, true)
  assert.ok(steps < 51_000)
})

test('an answer too long to be written is cut, and the result says so', () => {
  const table = loaded(Array.from({ length: 50 }, (_, i) => flat(i + 1, { VCPU: 1 })))
  const cut = (limit: number | null, world: CandidateTable) => {
    const running = search(world, request([group('', { VCPU: 1 })], { limit }), {
      workMax: WORK_MAX,
      breathEvery: 1e6,
      picksMax: 10,
    })
    const turn = running.next()
    return turn.done ? [turn.value.count, turn.value.exhausted] : null
  }
  assert.deepEqual(cut(null, table), [10, true])
  assert.deepEqual(cut(20, table), [10, true])
  assert.deepEqual(cut(10, table), [10, false])
  assert.deepEqual(cut(null, loaded(wide(20, 1))), [10, true])
})

test('a search that breathes at every step finds the same', () => {
  fc.assert(
    fc.property(worldAndQuestion, ([world, asked]) => {
      const table = loaded(world)
      const running = search(table, asked, { workMax: WORK_MAX, breathEvery: 1 })
      let turn = running.next()
      while (!turn.done) turn = running.next()
      const whole = searchNow(table, asked, WORK_MAX)
      assert.deepEqual([...turn.value.picks], [...whole.picks])
    }),
    { numRuns },
  )
})

/** Runs a search and changes the table at its n-th breath. */
function disturbed(
  table: CandidateTable,
  asked: Parameters<typeof search>[1],
  at: number,
  change: () => void,
): SearchResult {
  const running = search(table, asked, { workMax: WORK_MAX, breathEvery: 1 })
  for (let breath = 0; ; breath++) {
    const turn = running.next()
    if (turn.done) return turn.value
    if (breath === at) change()
  }
}

test('whatever changes while it runs, the answer is true of the table at its end', () => {
  const how = fc.constantFrom('claims', 'one provider', 'everything')
  fc.assert(
    fc.property(
      worldAndQuestion,
      worldAndQuestion,
      fc.nat(12),
      fc.nat(6),
      how,
      ([before, asked], [after], breath, which, what) => {
        const table = loaded(before)
        let state = before
        const result = disturbed(table, asked, breath, () => {
          if (what === 'claims') state = before.map(one => claimed(one))
          else if (what === 'one provider')
            state = before.map((one, i) => (i === which ? changed(one, after[0]!) : one))
          else state = after
          if (what === 'claims')
            for (const one of state)
              for (const other of one.inventories) table.use(one.id, other.resourceClass, other.used, 1)
          else
            table.apply({
              puts: state,
              removes: before.filter(old => !state.some(one => one.id === old.id)).map(one => one.id),
            })
        })
        const allowed = new Set(modelCandidates(state, { ...asked, limit: null }).map(canonical))
        for (const one of listed(table, result)) assert.ok(allowed.has(one), one)
      },
    ),
    { numRuns: numRuns * 2 },
  )
})

function claimed(one: ProviderSnapshot): ProviderSnapshot {
  return { ...one, inventories: one.inventories.map(other => ({ ...other, used: other.used + 2 })) }
}

function changed(one: ProviderSnapshot, like: ProviderSnapshot): ProviderSnapshot {
  return { ...one, traits: like.traits, aggregates: like.aggregates, inventories: like.inventories }
}

test('a sharing provider that is cut off while a search runs is no longer offered', () => {
  const pool = flat(9, { DISK_GB: 10 }, { traits: ['MISC_SHARES_VIA_AGGREGATE'], aggregates: [uuid('a', 1)] })
  const host = flat(1, { VCPU: 1 })
  const link = below(host, 2, {}, { aggregates: [uuid('a', 1)] })
  const asked = request([group('', { VCPU: 1, DISK_GB: 1 })])
  const others = Array.from({ length: 5 }, (_, i) => flat(20 + i, { VCPU: 1 }, { aggregates: [uuid('a', 1)] }))
  for (const change of [
    { ...pool, aggregates: [] },
    { ...link, aggregates: [] },
  ]) {
    for (let breath = 0; breath < 40; breath++) {
      const table = loaded([host, link, pool, ...others])
      const result = disturbed(table, asked, breath, () => table.put(change))
      const hosts = listed(table, result).filter(one => one.includes(host.uuid))
      // A search that ended before the change may still name it.
      if (table.touchVersion > 1) assert.deepEqual(hosts, [], `${change.name} at ${breath}`)
    }
  }
})

test('a long answer is written in turns, and a provider that vanishes meanwhile isn’t in it', () => {
  const table = loaded(Array.from({ length: 5000 }, (_, i) => flat(i + 1, { VCPU: 1 })))
  const result = searchNow(table, request([group('', { VCPU: 1 })]), WORK_MAX)
  const writing = answerYielding(table, result, NEWEST)
  assert.equal(writing.next().done, false)
  table.apply({ puts: [flat(7000, { DISK_GB: 1 })], removes: [asId(17)] })
  let turn = writing.next()
  while (!turn.done) turn = writing.next()
  const written = Buffer.concat(turn.value)
  const body = parse(written)
  assert.equal(body.allocation_requests.length, 4999)
  assert.equal(Object.keys(body.provider_summaries).length, 4999)
  assert.equal(written.toString().includes(uuid('b', 17)), false)
  assert.equal(written.toString().includes(uuid('b', 7000)), false)
})

test('a long answer ends although a provider changes at every turn, and names only what is true at its end', () => {
  const world = Array.from({ length: 3000 }, (_, i) => flat(i + 1, { VCPU: 1 }))
  const table = loaded(world)
  const result = searchNow(table, request([group('', { VCPU: 1 })]), WORK_MAX)
  const writing = answerYielding(table, result, NEWEST)
  let gone = 0
  let turn = writing.next()
  for (; !turn.done; turn = writing.next()) {
    const next = world[(gone * 7) % 3000]!
    if (gone++ % 2 === 0) table.remove(next.id)
    else table.put({ ...next, traits: ['CUSTOM_NEW'] })
  }
  const body = parse(Buffer.concat(turn.value))
  const named = body.allocation_requests.map(({ allocations }) => Object.keys(allocations)[0]!)
  const unchanged = world.filter(({ uuid }) => table.rowOfUuid(uuid) >= 0 && table.stamp[table.rowOfUuid(uuid)]! <= 1)
  assert.ok(gone > 5)
  assert.deepEqual(named.sort(), unchanged.map(({ uuid }) => uuid).sort())
  for (const uuid of named) assert.ok(uuid in body.provider_summaries, uuid)
})
