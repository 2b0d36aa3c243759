// The traits of a node, which are stored as traits of its provider. Those that Placement's clients add there are not its.
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import type { NodeId, ProviderId } from '../../store/schema/ids.ts'
import { command, query } from '../../store/statement.ts'
import { all, mark, type Read, run, type Write } from '../../store/transaction.ts'
import type { Access } from '../access.ts'
import { findNode, lockNode, type NodeRow, noteNode, OWNER } from './rows.ts'
import { syncProvider } from './provider.ts'
import { requireUnbooked } from './lease-promise.ts'
import { isTraitName } from './trait-names.ts'
import { traitsChanged } from './what-became.ts'

const touch = command((db, a: { id: NodeId; now: number }) =>
  db
    .updateTable('nodes')
    .set(e => ({ updated_at: a.now, revision: e('revision', '+', 1) }))
    .where('id', '=', a.id),
)
export const traitsByProvider = query((db, a: { providers: readonly ProviderId[] }, on) =>
  db
    .selectFrom('provider_traits as p')
    .innerJoin('traits as t', 't.id', 'p.trait_id')
    .select(['p.provider_id', 't.name'])
    .where(on.isIn('p.provider_id', a.providers, 'bigint'))
    .where('p.origin', '=', OWNER)
    .orderBy('p.provider_id')
    .orderBy('t.name'),
)

export const traitsByNode = query((db, a: { ids: readonly NodeId[] }, on) =>
  db
    .selectFrom('provider_traits as p')
    .innerJoin('traits as t', 't.id', 'p.trait_id')
    .select(['p.provider_id', 't.name'])
    .where(
      on.isAmong(
        'p.provider_id',
        db
          .selectFrom('nodes')
          .select('provider_id')
          .where(on.isIn('id', a.ids, 'bigint')),
      ),
    )
    .where('p.origin', '=', OWNER)
    .orderBy('p.provider_id')
    .orderBy('t.name'),
)

export function requireTraitNames(names: readonly string[]): void {
  const wrong = names.find(name => !isTraitName(name))
  if (wrong !== undefined) {
    throw problem('invalid_parameter', {
      reason:
        `Invalid trait ${JSON.stringify(wrong.slice(0, 300))}: it does not match a trait, which is a name of os-traits, or begins with CUSTOM_ ` +
        'followed by "A"-"Z", "0"-"9" and "_", and has at most 255 characters.',
    })
  }
  if (new Set(names).size > limits.nodeTraitsMax) {
    throw problem('invalid_parameter', { reason: `A node can not have more than ${limits.nodeTraitsMax} traits.` })
  }
}

export function* nodeTraits(ident: string, access: Access): Read<string[]> {
  return yield* traitsOn(yield* findNode(ident, access))
}

export function* traitsOn({ provider_id }: Pick<NodeRow, 'provider_id'>): Read<string[]> {
  return (yield* all(traitsByProvider({ providers: [provider_id] }))).map(trait => trait.name)
}

/** The traits by provider; providers without traits are left out. */
export function* traitsOfProviders(providers: readonly ProviderId[]): Read<Map<ProviderId, string[]>> {
  return byProvider(yield* all(traitsByProvider({ providers })))
}

export function byProvider(rows: readonly { provider_id: ProviderId; name: string }[]): Map<ProviderId, string[]> {
  const traits = new Map<ProviderId, string[]>()
  for (const { provider_id, name } of rows) traits.getOrInsertComputed(provider_id, () => []).push(name)
  return traits
}

type Change = (present: readonly string[]) => readonly string[]

/** Changes the node's traits and returns the new ones. Works in any state, even while a conductor has the lock. */
export function* changeTraits(ident: string, access: Access, change: Change, now: number): Write<string[]> {
  const node = yield* lockNode(ident, access)
  const present = yield* traitsOn(node)
  const traits = [...new Set(change(present))].sort()
  requireTraitNames(traits)
  if (traits.join() === present.join()) return traits
  if (present.some(name => !traits.includes(name))) requireUnbooked(node, 'traits')
  yield* syncProvider(node, now, traits)
  yield* run(touch({ id: node.id, now }))
  yield* noteNode({ ...node, revision: node.revision + 1 })
  yield* mark(traitsChanged(node, present, traits))
  return traits
}

export const replaced =
  (names: readonly string[]): Change =>
  () =>
    names
export const added =
  (name: string): Change =>
  present => [...present, name]
export const removed =
  (name: string, node: string): Change =>
  present => {
    if (!present.includes(name)) {
      throw problem('node_trait_not_found', { name, node })
    }
    return present.filter(other => other !== name)
  }
