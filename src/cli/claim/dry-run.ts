// holdfast claim set and move with --dry-run: shows the claims before and after.
import type { Holdfast, Resources } from '../../client/index.ts'
import { type ByProvider, changesOf, type Stock } from './forecast.ts'
import { CommandFailure, EXIT } from '../failures.ts'
import { printList } from '../output.ts'

const amountsOf = (resources: Resources): ByProvider =>
  Object.fromEntries(Object.entries(resources).map(([provider, { resources }]) => [provider, resources]))

/** Prints claims before and after, with each provider's capacity. Fails if the claim wouldn't fit. */
export async function printClaimForecast(server: Holdfast, consumer: string, wanted: Resources): Promise<void> {
  const [before, after] = [amountsOf((await server.claims.show(consumer)).allocations), amountsOf(wanted)]
  const stocks = new Map<string, Stock>()
  for (const uuid of Object.keys({ ...before, ...after })) stocks.set(uuid, await server.providers.show(uuid))
  const changes = changesOf(before, after, stocks)
  printList(
    changes.map(change => ({ ...change })),
    ['provider', 'resource_class', 'before', 'after', 'used', 'capacity', 'obstacle'],
    { format: 'table' },
  )
  const refused = changes.find(({ obstacle }) => obstacle !== null)
  if (!refused) return
  const { provider, resource_class, obstacle } = refused
  throw new CommandFailure(EXIT.conflict, `it would not fit: ${resource_class} of ${provider}: ${obstacle}`)
}

export async function printMoveForecast({ claims }: Holdfast, from: string, to: string): Promise<void> {
  const { allocations: moved } = await claims.show(from)
  const { allocations: present } = await claims.show(to)
  if (Object.keys(moved).length === 0) throw new CommandFailure(EXIT.notFound, `consumer ${from} has no claims`)
  if (Object.keys(present).length > 0) throw new CommandFailure(EXIT.conflict, `consumer ${to} has claims already`)
  const rows = Object.entries(moved).flatMap(([provider, { resources }]) =>
    Object.entries(resources).flatMap(([resource_class, amount]) => [
      { consumer: from, provider, resource_class, before: amount, after: 0 },
      { consumer: to, provider, resource_class, before: 0, after: amount },
    ]),
  )
  printList(rows, ['consumer', 'provider', 'resource_class', 'before', 'after'], { format: 'table' })
}
