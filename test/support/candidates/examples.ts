// Test only: small providers written by hand, and answers parsed into plain objects.
import { answer } from '../../../src/ledger/candidates/answer.ts'
import type { ModelCandidate } from './model.ts'
import type { CandidateRequest } from '../../../src/ledger/candidates/request.ts'
import { searchNow } from '../../../src/ledger/candidates/search.ts'
import type { CandidateTable, InventorySnapshot, ProviderSnapshot } from '../../../src/ledger/candidates/table.ts'
import { asId } from '../ids.ts'
import { uuid } from './worlds.ts'

export const NEWEST = { keyed: true, traits: true, allClasses: true, nested: true, mappings: true }
export const WORK_MAX = 10_000_000

export function inventory(resourceClass: string, total: number): InventorySnapshot {
  const units = {
    reserved: 0,
    minUnit: 1,
    maxUnit: 2147483647,
    stepSize: 1,
    allocationRatio: 1,
    used: 0,
    blocked: false,
  }
  return { resourceClass, total, ...units }
}

/** A partial provider, with ids as numbers. */
type Sketch = Partial<Omit<ProviderSnapshot, 'parentId' | 'rootId'> & { parentId: number | null; rootId: number }>

export function provider(number: number, { parentId = null, rootId = number, ...rest }: Sketch): ProviderSnapshot {
  const id = asId<ProviderSnapshot['id']>(number)
  const place = { parentId: parentId === null ? null : asId<typeof id>(parentId), rootId: asId<typeof id>(rootId) }
  const plain = { generation: 0, ...place, inventories: [], traits: [], aggregates: [] }
  return { id, uuid: uuid('b', id), name: `p${id}`, ...plain, ...rest }
}

export function flat(id: number, totals: Record<string, number>, rest: Sketch = {}): ProviderSnapshot {
  return provider(id, { inventories: Object.entries(totals).map(([name, total]) => inventory(name, total)), ...rest })
}

export function below(
  parent: ProviderSnapshot,
  id: number,
  totals: Record<string, number>,
  rest: Sketch = {},
): ProviderSnapshot {
  return flat(id, totals, { parentId: parent.id, rootId: parent.rootId, ...rest })
}

interface Body {
  allocation_requests: {
    allocations: Record<string, { resources: Record<string, number> }>
    mappings: Record<string, string[]>
  }[]
  provider_summaries: Record<string, unknown>
}

export function parse(body: Buffer): Body {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own answer
  return JSON.parse(body.toString()) as Body
}

/** Runs the whole search, and parses the written answer. */
export function read(table: CandidateTable, request: CandidateRequest): ModelCandidate[] {
  return parse(answer(table, searchNow(table, request, WORK_MAX), NEWEST)).allocation_requests.map(one => ({
    allocations: Object.fromEntries(Object.entries(one.allocations).map(([id, { resources }]) => [id, resources])),
    mappings: one.mappings,
  }))
}
