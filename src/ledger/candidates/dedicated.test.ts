// The search and the claim keep one rule about dedicated providers: what the ledger would refuse isn't offered, and
// nothing is hidden that it would grant.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { canonical, type ModelCandidate } from '../../../test/support/candidates/model.ts'
import { read } from '../../../test/support/candidates/examples.ts'
import { asId } from '../../../test/support/ids.ts'
import { question, world } from '../../../test/support/candidates/worlds.ts'
import { Book, type BookInventory } from '../claims/book.ts'
import type { ClaimRequest } from '../claims/claim.ts'
import { decide } from '../claims/decide.ts'
import { CandidateTable, type ProviderSnapshot } from './table.ts'

const numRuns = Math.ceil(Number(process.env.HOLDFAST_RUNS ?? 1500) / 3)
const IDS = [1, 2, 3, 4, 5, 6, 7]

test('a candidate is offered exactly when its claim is not refused as dedicated', () => {
  let offered = 0
  let hidden = 0
  fc.assert(
    fc.property(world, question(IDS), (state, asked) => {
      const all = { ...asked, limit: null }
      const shown = new Set(found(state, all).map(canonical))
      const everyone = found(
        state.map(one => ({ ...one, dedicatedTo: null })),
        all,
      )
      for (const candidate of everyone) {
        const isRefused = decide(bookOf(state), claimOf(candidate))?.kind === 'claim_on_dedicated_provider'
        assert.equal(shown.has(canonical(candidate)), !isRefused, canonical(candidate))
        if (isRefused) hidden++
        else offered++
      }
      assert.ok(shown.size <= everyone.length)
    }),
    { numRuns },
  )
  assert.ok(offered > 0 && hidden > 0, `${offered} offered and ${hidden} hidden`)
})

function found(state: ProviderSnapshot[], asked: Parameters<typeof read>[1]): ModelCandidate[] {
  const table = new CandidateTable()
  table.load(state)
  return read(table, asked)
}

/** The same world as claims see it. */
function bookOf(state: readonly ProviderSnapshot[]): Book {
  const classes = [...new Set(state.flatMap(({ inventories }) => inventories.map(one => one.resourceClass)))]
  const book = new Book(new Set(classes))
  for (const { id, uuid, parentId, managedBy = null, dedicatedTo = null, inventories } of state) {
    const rows = inventories.map(({ resourceClass, total, reserved, allocationRatio, used, ...units }) => {
      const capacity = Math.floor((total - reserved) * allocationRatio)
      const key = { providerId: id, classId: asId<BookInventory['classId']>(classes.indexOf(resourceClass)) }
      return [resourceClass, { ...key, resourceClass, capacity, ...units, usedBefore: used, used }] as const
    })
    const owned = { parentId, managedBy, dedicatedTo }
    book.addProvider({ id, uuid, revision: 0, generation: 0, bumps: 0, ...owned, inventories: new Map(rows) })
  }
  return book
}

function claimOf({ allocations }: ModelCandidate): ClaimRequest {
  const resources = new Map(Object.entries(allocations).map(([id, amounts]) => [id, new Map(Object.entries(amounts))]))
  const who = { projectId: 'project', userId: 'user', type: 'INSTANCE', generation: null }
  return { kind: 'replace', consumers: [{ consumer: 'a', ...who, resources }], owner: null }
}
