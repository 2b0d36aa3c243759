// Finds rows that someone else keeps locked, so that a batch can go on without the requests that need them.
import { together, type Write } from '../../store/transaction.ts'
import { type ClaimRequest, consumersOf, namesIn } from './claim.ts'
import * as sql from './statements.ts'

/** The consumers and providers that hold up a request now, because a row that they need is locked. */
export function* findHeld(requests: readonly ClaimRequest[], now: number): Write<Set<string>> {
  const consumers = [...new Set(requests.flatMap(consumersOf))]
  const named = { consumers, providers: namesIn(requests).providers, now }
  const [theirs, providers, free, freeProviders, claims] = yield* together(
    sql.consumersInvolved(named),
    sql.providersInvolved(named),
    sql.freeConsumers(named),
    sql.freeProviders(named),
    sql.claimsOfConsumers(named),
  )
  const heldProviders = new Map(without(providers, freeProviders).map(({ id, uuid }) => [id, uuid]))
  const heldConsumers = without(theirs, free).map(({ uuid }) => uuid)
  const isNamed = new Set(consumers)
  const uuids = new Map(providers.map(({ id, uuid }) => [id, uuid]))
  // A locked provider holds up the consumers with claims on it; a locked expired consumer holds up its providers.
  const waiting = claims.flatMap(({ uuid, provider_id }) => {
    if (heldProviders.has(provider_id)) return [uuid]
    return heldConsumers.includes(uuid) && !isNamed.has(uuid) ? [uuids.get(provider_id)!] : []
  })
  return new Set([...heldProviders.values(), ...heldConsumers, ...waiting])
}

const without = <Row extends { id: number }>(rows: readonly Row[], others: readonly { id: number }[]): Row[] => {
  const ids = new Set(others.map(({ id }) => id))
  return rows.filter(({ id }) => !ids.has(id))
}

/** The consumers and providers that a request names. */
export const namedBy = (request: ClaimRequest): string[] => [...consumersOf(request), ...namesIn([request]).providers]

export const needs = (request: ClaimRequest, held: ReadonlySet<string>): boolean =>
  held.size > 0 && namedBy(request).some(name => held.has(name))
