// Moves inventories and the claims on them between providers, as one change.
import { Problem, problem } from '../problems/problem.ts'
import { limits } from '../shared/limits.ts'
import { sideBySide, type Write } from '../store/transaction.ts'
import { claimBatch, lockInvolved } from './claims/batch.ts'
import { type ConsumerClaims, weightOf } from './claims/claim.ts'
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
  yield* each(providers, function* ([provider, wanted]) {
    yield* writeInventories(provider, wanted, now)
    if (wanted.size > 0) yield* bumpGeneration(provider, now, inventoryNews(wanted))
  })
  if (claims.length > 0) {
    const [refusal] = yield* claimBatch([{ kind: 'replace', consumers: claims, owner: null }], now)
    if (refusal) throw refusal
  }
  yield* each(providers, function* ([provider, wanted]) {
    // Once more, now that the claims have moved: this lowers the ceilings that the old use had kept up.
    yield* writeInventories(provider, wanted, now)
    const gone = yield* dropOtherInventories(provider, wanted)
    yield* bumpGeneration(provider, now, inventoryNews(wanted, gone))
  })
}

/** Whether it is so much that others should get turns meanwhile. A provider is about ten statements. */
export function isLongReshape({ inventories, claims }: Reshape): boolean {
  return (
    inventories.size * 10 + weightOf({ kind: 'replace', consumers: claims, owner: null }) > limits.claimBatchRowsMax
  )
}

/** The work on each of them, some of them side by side. */
function* each<Item, T>(items: readonly Item[], work: (item: Item) => Write<T>): Write<T[]> {
  const found: T[] = []
  for (let from = 0; from < items.length; from += limits.reshapedTogether) {
    found.push(...(yield* sideBySide(items.slice(from, from + limits.reshapedTogether).map(work))))
  }
  return found
}

type Wanted = [Provider, ReadonlyMap<string, InventoryTerms>]

function findAll(inventories: Reshape['inventories']): Write<Wanted[]> {
  return each([...inventories], function* ([uuid, wanted]): Write<Wanted> {
    const provider = yield* findForReshape(uuid)
    if (provider.generation !== wanted.generation) {
      throw problem('generation_conflict', {
        reason:
          `resource provider generation conflict for provider ${uuid}: ` +
          `actual: ${provider.generation}, given: ${wanted.generation}`,
      })
    }
    return [provider, wanted.inventories]
  })
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
