// A root provider that gets another uuid: the machine is the same, and who describes it has a new name for it.
import { problem } from '../problems/problem.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import { command, query } from '../store/statement.ts'
import { all, note, run, type Write } from '../store/transaction.ts'
import { bumpGeneration, listProviders, markProvider, type Provider } from './providers.ts'

const treeOf = query((db, a: { root: ProviderId }) =>
  db.selectFrom('providers').select('id').where('root_id', '=', a.root),
)
const setUuid = command((db, a: { id: ProviderId; uuid: string }) =>
  db.updateTable('providers').set({ uuid: a.uuid }).where('id', '=', a.id),
)

/** Gives a locked root another uuid. All else stays: its id, inventories, claims and children. */
export function* changeUuid(root: Provider, uuid: string, now: number): Write<void> {
  if ((yield* listProviders({ uuid })).length > 0) throw problem('provider_exists', { duplicate: `uuid: ${uuid}` })
  yield* run(setUuid({ id: root.id, uuid }))
  // The providers below it show the uuid of their parent and root.
  const tree = yield* all(treeOf({ root: root.id }))
  yield* note(tree.map(({ id }) => ({ provider: id })))
  const { name, generation } = root
  yield* markProvider(root, { before: generation, after: null }, { became: 'deleted', data: { replaced_by: uuid } })
  yield* bumpGeneration({ ...root, uuid }, now, {
    became: 'created',
    data: { name, parent: null, replaces: root.uuid },
  })
}
