import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { answer } from './answer.ts'
import { NEWEST, WORK_MAX, parse } from '../../../test/support/candidates/examples.ts'
import { candidateAt } from './candidate.ts'
import type { Candidate } from './candidate.ts'
import { canonical, modelCandidates } from '../../../test/support/candidates/model.ts'
import type { ModelCandidate } from '../../../test/support/candidates/model.ts'
import { searchNow } from './search.ts'
import { CandidateTable } from './table.ts'
import { worldAndQuestion } from '../../../test/support/candidates/worlds.ts'

const numRuns = Number(process.env.HOLDFAST_RUNS ?? 1500)

test('the search finds exactly what the rules allow, in every small world', () => {
  fc.assert(
    fc.property(worldAndQuestion, ([world, question]) => {
      const table = new CandidateTable()
      table.load(world)
      const expected = new Set(modelCandidates(world, question).map(canonical))
      const result = searchNow(table, question, WORK_MAX)
      const body = parse(answer(table, result, NEWEST))
      const found = body.allocation_requests.map(wire => canonical(unwire(wire)))
      assert.equal(result.exhausted, false)
      assert.equal(new Set(found).size, found.length, 'no candidate twice')
      assert.equal(found.length, Math.min(expected.size, question.limit ?? Infinity))
      for (const one of found) assert.ok(expected.has(one), `not allowed: ${one}`)
      const objects = found.map((_, i) => canonical(plain(candidateAt(table, result, i))))
      assert.deepEqual(objects, found, 'objects say the same as the written answer')
    }),
    { numRuns },
  )
})

function plain({ allocations, mappings }: Candidate): ModelCandidate {
  const amounts = [...allocations].map(([uuid, list]) => [
    uuid,
    Object.fromEntries(list.map(one => [one.resourceClass, one.amount])),
  ])
  return { allocations: Object.fromEntries(amounts), mappings: Object.fromEntries(mappings) }
}

interface Wire {
  allocations: Record<string, { resources: Record<string, number> }>
  mappings: Record<string, string[]>
}

function unwire(wire: Wire): ModelCandidate {
  const allocations = Object.entries(wire.allocations).map(([uuid, { resources }]) => [uuid, resources])
  return { allocations: Object.fromEntries(allocations), mappings: wire.mappings }
}
