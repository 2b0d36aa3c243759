// Resource classes: the standard ones, and custom ones that clients make.
import { problem } from '../problems/problem.ts'
import type { ProviderId, ResourceClassId } from '../store/schema/ids.ts'
import { bulk, type Command, command, inRow, query } from '../store/statement.ts'
import { all, mark, note, one, type Read, run, type Write } from '../store/transaction.ts'
import { isCustom } from './standard.ts'

export interface ResourceClass {
  id: ResourceClassId
  name: string
  managed_by: string | null
  created_at: number
  updated_at: number | null
}

/** The name of the class with that id. */
export const className = (id: string) => inRow<string>('resource_classes', 'name', id)

const classByName = query((db, a: { name: string }) =>
  db.selectFrom('resource_classes').selectAll().where('name', '=', a.name),
)
export const classesByName = query((db, a: { names: readonly string[] }, on) =>
  db.selectFrom('resource_classes').selectAll().where(on.isIn('name', a.names)),
)
const everyClass = query((db, _: object) => db.selectFrom('resource_classes').selectAll().orderBy('id'))
const addClass = command((db, a: { name: string; owner: string | null; now: number }) =>
  db.insertInto('resource_classes').values({ name: a.name, managed_by: a.owner, created_at: a.now }),
)
const addClasses = bulk<{ name: string; managed_by: string; created_at: number }>(
  { name: 'text', managed_by: 'text', created_at: 'bigint' },
  (db, r, on) =>
    on.insert(db.insertInto('resource_classes'), { ...r }).onConflict(c =>
      c
        .column('name')
        .doUpdateSet({ managed_by: e => e.ref('excluded.managed_by') })
        .where('resource_classes.managed_by', 'is', null),
    ),
)
const renameClass = command((db, a: { id: ResourceClassId; name: string; now: number }) =>
  db.updateTable('resource_classes').set({ name: a.name, updated_at: a.now }).where('id', '=', a.id),
)
const removeClass = command((db, a: { id: ResourceClassId }) =>
  db.deleteFrom('resource_classes').where('id', '=', a.id),
)
const holdersOfClass = query((db, a: { id: ResourceClassId }) =>
  db.selectFrom('inventories').select('provider_id').where('class_id', '=', a.id),
)
const reviseHolders = command((db, a: { ids: readonly ProviderId[] }, on) =>
  db
    .updateTable('providers')
    .set(e => ({ revision: e('revision', '+', 1) }))
    .where(on.isIn('id', a.ids, 'bigint')),
)
const inventoryOfClass = query((db, a: { id: ResourceClassId }) =>
  db.selectFrom('inventories').select('provider_id').where('class_id', '=', a.id).limit(1),
)

export function* listClasses(): Read<ResourceClass[]> {
  return yield* all(everyClass({}))
}

export function* findClass(name: string): Read<ResourceClass> {
  const found = yield* one(classByName({ name }))
  if (!found) throw problem('class_not_found', { name })
  return found
}

/** The classes of these names, by name; unknown names are left out. */
export function* classesNamed(names: readonly string[]): Read<Map<string, ResourceClass>> {
  const rows = yield* all(classesByName({ names }))
  return new Map(rows.map(row => [row.name, row]))
}

export function* createClass(name: string, now: number): Write<void> {
  if (yield* one(classByName({ name }))) throw problem('class_exists', { name })
  yield* run(addClass({ name, owner: null, now }))
  yield* mark({ kind: 'resource_class', id: name })
}

/** Makes sure that a custom class exists; returns whether it is new. A new class belongs to `owner`. */
export function* ensureClass(name: string, now: number, owner: string | null = null): Write<boolean> {
  if (yield* one(classByName({ name }))) return false
  yield* run(addClass({ name, owner, now }))
  yield* mark({ kind: 'resource_class', id: name })
  return true
}

/** The command that makes sure that an owner's classes exist. One that nobody manages becomes the owner's. */
export const ownedClasses = (names: readonly string[], owner: string, now: number): Command =>
  addClasses({ rows: names.map(name => ({ name, managed_by: owner, created_at: now })) })

function requireUnmanaged({ name, managed_by }: ResourceClass): void {
  if (managed_by !== null) throw problem('class_managed', { name, owner: managed_by })
}

export function* renameResourceClass(name: string, newName: string, now: number): Write<void> {
  const found = yield* findClass(name)
  if (!isCustom(name)) throw problem('class_standard', { name, verb: 'update' })
  requireUnmanaged(found)
  if (newName !== name && (yield* one(classByName({ name: newName })))) {
    throw problem('class_name_taken', { name: newName })
  }
  yield* run(renameClass({ id: found.id, name: newName, now }))
  yield* mark({ kind: 'resource_class', id: name }, { kind: 'resource_class', id: newName })
  // Copies of the ledger know classes by name, so they must read these providers again.
  const holders = (yield* all(holdersOfClass({ id: found.id }))).map(row => row.provider_id)
  yield* run(reviseHolders({ ids: holders }))
  yield* note(holders.map(provider => ({ provider })))
}

export function* deleteClass(name: string): Write<void> {
  const found = yield* findClass(name)
  if (!isCustom(name)) throw problem('class_standard', { name, verb: 'delete' })
  requireUnmanaged(found)
  if (yield* one(inventoryOfClass({ id: found.id }))) throw problem('class_in_use', { name })
  yield* run(removeClass({ id: found.id }))
  yield* mark({ kind: 'resource_class', id: name })
}
