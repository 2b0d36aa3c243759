import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { below, flat } from '../../../test/support/candidates/examples.ts'
import { explain } from './explain.ts'
import type { Explanation } from './explain.ts'
import { modelCandidates } from '../../../test/support/candidates/model.ts'
import { group, request } from './request.ts'
import type { CandidateRequest } from './request.ts'
import { withAmount } from './relax.ts'
import { searchNow } from './search.ts'
import { CandidateTable } from './table.ts'
import type { ProviderSnapshot } from './table.ts'
import { worldAndQuestion } from '../../../test/support/candidates/worlds.ts'

const numRuns = Math.ceil(Number(process.env.HOLDFAST_RUNS ?? 1500) / 5)
const WORK_MAX = 1_000_000

function explained(world: ProviderSnapshot[], asked: CandidateRequest, workMax = WORK_MAX): Explanation {
  const table = new CandidateTable()
  table.load(world)
  const running = explain(table, asked, { workMax, breathEvery: 1000 })
  for (;;) {
    const turn = running.next()
    if (turn.done) return turn.value
  }
}

test('every proposed relaxation gives a candidate, and amounts are the largest that do', () => {
  fc.assert(
    fc.property(worldAndQuestion, ([world, asked]) => {
      const explanation = explained(world, asked)
      const fails = modelCandidates(world, asked).length === 0
      assert.equal(explanation.roots === 0, fails)
      if (!fails) assert.deepEqual(explanation.relaxations, [])
      const table = new CandidateTable()
      table.load(world)
      for (const { request: relaxed, sentence } of explanation.relaxations) {
        assert.ok(modelCandidates(world, relaxed).length > 0, sentence)
        assert.ok(searchNow(table, relaxed, WORK_MAX).count > 0, sentence)
        if (/^with \w+ <= \d+( in group \w+)?: /.test(sentence)) assertLargest(world, asked, relaxed, sentence)
      }
    }),
    { numRuns },
  )
})

function assertLargest(
  world: ProviderSnapshot[],
  asked: CandidateRequest,
  relaxed: CandidateRequest,
  sentence: string,
) {
  asked.groups.forEach((one, at) => {
    for (const { resourceClass, amount } of one.resources) {
      const now = relaxed.groups[at]!.resources.find(other => other.resourceClass === resourceClass)!.amount
      for (let more = now + 1; more < amount; more++) {
        assert.equal(modelCandidates(world, withAmount(asked, at, resourceClass, more)).length, 0, sentence)
      }
    }
  })
}

test('a request that no single or double change can save has no relaxation', () => {
  const { relaxations } = explained([flat(1, { VCPU: 4 })], request([group('', { DISK_GB: 1 })]))
  assert.deepEqual(relaxations, [])
})

test('the funnel names the condition that removed the last provider, and who came closest', () => {
  const world = [
    flat(1, { VCPU: 4 }, { traits: ['CUSTOM_GOLD'] }),
    flat(2, { VCPU: 16 }),
    flat(3, { VCPU: 16 }),
    flat(4, { DISK_GB: 10 }),
  ]
  const asked = request([group('1', { VCPU: 8 }, { required: [['CUSTOM_GOLD']] })])
  const { groups, relaxations, roots } = explained(world, asked)
  assert.equal(roots, 0)
  assert.deepEqual(
    groups[0]!.steps.map(step => [step.condition, step.left]),
    [
      ['has VCPU', 3],
      ['room for 8 VCPU', 2],
      ['units allow 8 VCPU', 2],
      ['trait CUSTOM_GOLD', 0],
    ],
  )
  assert.equal(groups[0]!.removedBy, 'trait CUSTOM_GOLD')
  assert.deepEqual(
    groups[0]!.nearest.slice(0, 3).map(one => [one.name, one.lacks]),
    [
      ['p2', ['lacks trait CUSTOM_GOLD']],
      ['p3', ['lacks trait CUSTOM_GOLD']],
      ['p1', ['4 of 8 VCPU free']],
    ],
  )
  assert.deepEqual(
    relaxations.map(one => one.sentence),
    ['without trait CUSTOM_GOLD in group 1: 2 roots', 'with VCPU <= 4 in group 1: 1 root'],
  )
})

test('rules between groups show in the steps together', () => {
  const root = flat(1, {})
  const world = [root, below(root, 2, { VCPU: 8 }), below(root, 3, { DISK_GB: 8 })]
  const asked = request([group('1', { VCPU: 1 }), group('2', { VCPU: 1 })], { groupPolicy: 'isolate' })
  const { together, relaxations } = explained(world, asked)
  assert.deepEqual(together, [
    { condition: 'group 1 alone', roots: 1 },
    { condition: 'group 2 alone', roots: 1 },
    { condition: 'all groups under one root', roots: 1 },
    { condition: 'group_policy=isolate', roots: 0 },
  ])
  assert.deepEqual(
    relaxations.map(one => one.sentence),
    ['with group_policy=none: 1 root'],
  )
})

test('the funnel counts what is set aside', () => {
  const world = [flat(1, { VCPU: 8 }, { dedicatedTo: 'leases' }), flat(2, { VCPU: 2 }), flat(3, { VCPU: 8 })]
  world[2]!.dedicatedTo = 'leases'
  const { groups, roots } = explained(world, request([group('', { VCPU: 4 })]))
  assert.equal(roots, 0)
  assert.equal(groups[0]!.removedBy, 'not set aside for leases')
  assert.deepEqual(groups[0]!.steps.at(-2), { condition: 'units allow 4 VCPU', left: 2 })
  assert.deepEqual(groups[0]!.steps.at(-1), { condition: 'not set aside for leases', left: 0 })
  assert.deepEqual(groups[0]!.nearest[0], { uuid: world[0]!.uuid, name: 'p1', lacks: ['set aside for leases'] })
})

test('required traits of the unsuffixed group have a step of their own', () => {
  const world = [flat(1, { VCPU: 8 }), flat(2, { DISK_GB: 8 }, { traits: ['CUSTOM_GOLD'] })]
  const asked = request([group('', { VCPU: 1 }, { required: [['CUSTOM_GOLD']] })])
  assert.deepEqual(explained(world, asked).together, [
    { condition: 'the unsuffixed group alone, without trait CUSTOM_GOLD', roots: 1 },
    { condition: 'the unsuffixed group alone', roots: 0 },
    { condition: 'all groups under one root', roots: 0 },
  ])
})

test('a whole group is dropped where only that helps', () => {
  const world = [flat(1, { VCPU: 8 })]
  const asked = request([group('', { VCPU: 1 }), group('_NET', { SRIOV_NET_VF: 1 })])
  assert.deepEqual(
    explained(world, asked).relaxations.map(one => [one.sentence, one.request.groups.map(({ suffix }) => suffix)]),
    [['without group _NET: 1 root', ['']]],
  )
  const traitsOnly = request([group('', {}, { required: [['CUSTOM_GOLD']] }), group('1', { VCPU: 1 })])
  const { together, relaxations } = explained(world, traitsOnly)
  assert.deepEqual(together[0], { condition: 'the unsuffixed group alone, which asks for no resources', roots: 0 })
  assert.deepEqual(
    relaxations.map(one => one.sentence),
    ['without the unsuffixed group: 1 root'],
  )
})

test('pairs are tried when no single change helps', () => {
  const world = [flat(1, { VCPU: 4 })]
  const asked = request([group('', { VCPU: 8 }, { required: [['CUSTOM_GOLD']] })])
  // The trait is unknown to every provider, so both must go.
  assert.deepEqual(
    explained(world, asked).relaxations.map(one => one.sentence),
    ['without trait CUSTOM_GOLD and with VCPU <= 4: 1 root'],
  )
  const two = request([group('', { VCPU: 8, DISK_GB: 20 })])
  assert.deepEqual(
    explained([flat(1, { VCPU: 4, DISK_GB: 10 })], two).relaxations.map(one => one.sentence),
    ['with VCPU <= 4 and DISK_GB <= 10: 1 root'],
  )
})

test('units that refuse an amount are answered with the next they allow', () => {
  const world = [flat(1, { VCPU: 8 })]
  world[0]!.inventories[0]!.stepSize = 4
  const { relaxations } = explained(world, request([group('', { VCPU: 3 })]))
  assert.deepEqual(
    relaxations.map(one => one.sentence),
    ['with VCPU = 4: 1 root'],
  )
})

test('a small budget ends the explanation and says so', () => {
  const world = Array.from({ length: 200 }, (_, i) => flat(i + 1, { VCPU: 1 }))
  assert.equal(explained(world, request([group('', { VCPU: 2 })]), 10).exhausted, true)
})
