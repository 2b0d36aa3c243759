// Moves inventories and the claims on them between providers, as one change.
import { Problem, problem } from '../problems/problem.ts'
import type { Write } from '../store/transaction.ts'
import { claimBatch, lockInvolved } from './claims/batch.ts'
import type { ConsumerClaims } from './claims/claim.ts'
import { dropOtherInventories, inventoryNews, type InventoryTerms, writeInventories } from './inventories.ts'
import { bumpGeneration, lockProvider, type Provider } from './providers.ts'

interface Reshape {
  inventories: ReadonlyMap<string, { generation: number; inventories: ReadonlyMap<string, InventoryTerms> }>
  claims: readonly ConsumerClaims[]
}

/**
 * First each provider gets its new inventories beside the old ones, then the claims move, then the old ones go. Each of
 * these two changes raises the provider's generation, as clients expect.
 */
export function* reshape({ inventories, claims }: Reshape, now: number): Write<void> {
  yield* lockInvolved([{ kind: 'replace', consumers: claims, owner: null }], [...inventories.keys()], now)
  const providers = yield* findAll(inventories)
  for (const [provider, wanted] of providers) {
    yield* writeInventories(provider, wanted, now)
    if (wanted.size > 0) yield* bumpGeneration(provider, now, inventoryNews(wanted))
  }
  if (claims.length > 0) {
    const [refusal] = yield* claimBatch([{ kind: 'replace', consumers: claims, owner: null }], now)
    if (refusal) throw refusal
  }
  for (const [provider, wanted] of providers) {
    // Once more, now that the claims have moved: this lowers the ceilings that the old use had kept up.
    yield* writeInventories(provider, wanted, now)
    const gone = yield* dropOtherInventories(provider, wanted)
    yield* bumpGeneration(provider, now, inventoryNews(wanted, gone))
  }
}

function* findAll(inventories: Reshape['inventories']): Write<[Provider, ReadonlyMap<string, InventoryTerms>][]> {
  const locked: [Provider, ReadonlyMap<string, InventoryTerms>][] = []
  for (const [uuid, wanted] of inventories) {
    const provider = yield* findForReshape(uuid)
    if (provider.generation !== wanted.generation) {
      throw problem('generation_conflict', {
        reason:
          `resource provider generation conflict for provider ${uuid}: ` +
          `actual: ${provider.generation}, given: ${wanted.generation}`,
      })
    }
    locked.push([provider, wanted.inventories])
  }
  return locked
}

function* findForReshape(uuid: string): Write<Provider> {
  try {
    return yield* lockProvider(uuid, { changing: 'inventory' })
  } catch (error) {
    throw error instanceof Problem && error.kind === 'provider_not_found'
      ? problem('reshape_unknown_provider', { provider: uuid })
      : error
  }
}
