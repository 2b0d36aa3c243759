import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { answer } from './answer.ts'
import { canonical, modelCandidates } from './model.ts'
import type { ModelCandidate } from './model.ts'
import { searchNow } from './search.ts'
import { CandidateTable } from './table.ts'
import { worldAndQuestion } from './worlds.ts'

const numRuns = Number(process.env.HOLDFAST_RUNS ?? 1500)
const WORK_MAX = 10_000_000
const NEWEST = { keyed: true, traits: true, allClasses: true, nested: true, mappings: true }

void test('the search finds exactly what the rules allow, in every small world', () => {
  fc.assert(
    fc.property(worldAndQuestion, ([world, question]) => {
      const table = new CandidateTable()
      table.load(world)
      const expected = new Set(modelCandidates(world, question).map(canonical))
      const result = searchNow(table, question, WORK_MAX)
      const body = JSON.parse(answer(table, result, NEWEST).toString()) as { allocation_requests: Wire[] }
      const found = body.allocation_requests.map(wire => canonical(unwire(wire)))
      assert.equal(result.exhausted, false)
      assert.equal(new Set(found).size, found.length, 'no candidate twice')
      assert.equal(found.length, Math.min(expected.size, question.limit ?? Infinity))
      for (const one of found) assert.ok(expected.has(one), `not allowed: ${one}`)
    }),
    { numRuns },
  )
})

interface Wire {
  allocations: Record<string, { resources: Record<string, number> }>
  mappings: Record<string, string[]>
}

function unwire(wire: Wire): ModelCandidate {
  const allocations = Object.entries(wire.allocations).map(([uuid, { resources }]) => [uuid, resources])
  return { allocations: Object.fromEntries(allocations), mappings: wire.mappings }
}
