// Flavors: server sizes with extra specs. A private flavor has a list of the projects that may use it.
import { type Kysely, type Selectable, sql } from 'kysely'
import { problem } from '../problems/problem.ts'
import { jsonIn, jsonText, shownIn, WORDS } from '../shared/json.ts'
import type { Schema } from '../store/schema.ts'
import { bulk, type Command, command, query } from '../store/statement.ts'
import { all, mark, one, type Read, run, runAll, together, type Write } from '../store/transaction.ts'

type FlavorRow = Selectable<Schema['flavors']>

export interface Flavor extends Omit<FlavorRow, 'extra_specs'> {
  extra_specs: Readonly<Record<string, string>>
}

export interface NewFlavor {
  id: string
  name: string
  vcpus: number
  ram_mb: number
  disk_gb: number
  is_public: boolean
  ephemeral_gb?: number
  swap_mb?: number
  rxtx_factor?: number
  disabled?: boolean
  extra_specs?: Readonly<Record<string, string>>
  /** The part of Holdfast that manages it: clients can't change it. */
  managed_by?: string
}

/** Which flavors a list shows. */
export interface FlavorFilter {
  /** Public ones and those that this project may use; null for all. */
  visibleTo: string | null
  /** Only public or only private ones, null for both. Has an effect only when `visibleTo` is null. */
  isPublic: boolean | null
  ramMbMin: number
  diskGbMin: number
}

const visible = (db: Kysely<Schema>, project: string) =>
  db
    .selectFrom('flavors')
    .select('id')
    // A literal, so that PostgreSQL can use the partial index on public flavors.
    .where('is_public', '=', sql.lit(1))
    .union(db.selectFrom('flavor_access').select('flavor_id as id').where('project_id', '=', project))

const flavorById = query((db, a: { id: string }) => db.selectFrom('flavors').selectAll().where('id', '=', a.id))
const flavorByName = query((db, a: { name: string }) =>
  db.selectFrom('flavors').select('id').where('name', '=', a.name),
)
const lockForChange = command((db, a: { id: string }, on) =>
  on.lock(db.selectFrom('flavors').selectAll().where('id', '=', a.id)),
)
// Shared: servers of one flavor can be created at the same time, but not while it is deleted.
const lockForUse = command((db, a: { id: string }, on) => {
  const found = db.selectFrom('flavors').selectAll().where('id', '=', a.id)
  return on.dialect === 'postgres' ? found.forShare() : found
})
interface Page {
  after: string
  limit: number
  ramMbMin: number
  diskGbMin: number
}
const page = (db: Kysely<Schema>, a: Page) =>
  db
    .selectFrom('flavors')
    .selectAll()
    .where('id', '>', a.after)
    .where('ram_mb', '>=', a.ramMbMin)
    .where('disk_gb', '>=', a.diskGbMin)
    .orderBy('id')
    .limit(sql<number>`cast(${a.limit} as bigint)`)
const everyFlavor = query((db, a: Page) => page(db, a))
const flavorsByPublicity = query((db, a: Page & { isPublic: 0 | 1 }) => page(db, a).where('is_public', '=', a.isPublic))
const flavorsVisible = query((db, a: Page & { project: string }) =>
  page(db, a).where('id', 'in', visible(db, a.project)),
)
const addFlavor = command((db, a: FlavorRow) =>
  db.insertInto('flavors').values({
    id: a.id,
    name: a.name,
    vcpus: a.vcpus,
    ram_mb: a.ram_mb,
    disk_gb: a.disk_gb,
    ephemeral_gb: a.ephemeral_gb,
    swap_mb: a.swap_mb,
    rxtx_factor: a.rxtx_factor,
    is_public: a.is_public,
    disabled: a.disabled,
    extra_specs: a.extra_specs,
    managed_by: a.managed_by,
    created_at: a.created_at,
  }),
)
const removeFlavor = command((db, a: { id: string }) => db.deleteFrom('flavors').where('id', '=', a.id))
const changeExtraSpecs = command((db, a: { id: string; extra_specs: FlavorRow['extra_specs'] }) =>
  db.updateTable('flavors').set({ extra_specs: a.extra_specs }).where('id', '=', a.id),
)
const accessOf = query((db, a: { flavor: string }) =>
  db
    .selectFrom('flavor_access')
    .select('project_id as project')
    .where('flavor_id', '=', a.flavor)
    .orderBy('project_id'),
)
const accessBy = query((db, a: { flavor: string; project: string }) =>
  db
    .selectFrom('flavor_access')
    .select('flavor_id')
    .where('flavor_id', '=', a.flavor)
    .where('project_id', '=', a.project),
)
const addAccess = command((db, a: { flavor: string; project: string }) =>
  db.insertInto('flavor_access').values({ flavor_id: a.flavor, project_id: a.project }),
)
const addAccesses = bulk<{ flavor_id: string; project_id: string }>(
  { flavor_id: 'text', project_id: 'text' },
  (db, r, on) =>
    on
      .insert(db.insertInto('flavor_access'), { ...r })
      .onConflict(c => c.columns(['flavor_id', 'project_id']).doNothing()),
)
const removeAccess = command((db, a: { flavor: string; project: string }) =>
  db.deleteFrom('flavor_access').where('flavor_id', '=', a.flavor).where('project_id', '=', a.project),
)

const lockMany = command((db, a: { ids: readonly string[] }, on) =>
  on.lock(db.selectFrom('flavors').select('id').where(on.isIn('id', a.ids)).orderBy('id')),
)
const removeMany = command((db, a: { ids: readonly string[] }, on) =>
  db.deleteFrom('flavors').where(on.isIn('id', a.ids)).returning('id'),
)
const removeAllAccess = command((db, a: { flavors: readonly string[] }, on) =>
  db.deleteFrom('flavor_access').where(on.isIn('flavor_id', a.flavors)).returning('flavor_id as id'),
)

const parsed = (row: FlavorRow, read = jsonIn): Flavor => ({
  ...row,
  extra_specs: read(row.extra_specs, WORDS),
})

/** The flavor, if this project may see it; null sees all. */
export function* findFlavor(id: string, visibleTo: string | null): Read<Flavor> {
  const found = yield* ifVisible(yield* one(flavorById({ id })), visibleTo)
  if (!found) throw problem('flavor_not_found', { flavor: id })
  return found
}

/** The flavor that a client chose for a server. */
export function* chooseFlavor(id: string, visibleTo: string | null): Read<Flavor> {
  const found = yield* ifVisible(yield* one(flavorById({ id })), visibleTo)
  if (!found) throw problem('flavor_unusable', { flavor: id })
  return found
}

/** The flavor for a new server, locked: it can't be deleted before the server exists. */
export function* useFlavor(id: string, visibleTo: string | null): Write<Flavor> {
  const found = yield* ifVisible(yield* one(lockForUse({ id })), visibleTo)
  if (!found) throw problem('flavor_unusable', { flavor: id })
  return found
}

function* ifVisible(found: FlavorRow | undefined, visibleTo: string | null): Read<Flavor | undefined> {
  if (!found) return undefined
  if (visibleTo === null || found.is_public === 1) return parsed(found)
  return (yield* one(accessBy({ flavor: found.id, project: visibleTo }))) && parsed(found)
}

/** The flavor, locked until the transaction ends. */
function* lockFlavor(id: string): Write<Flavor> {
  const found = yield* one(lockForChange({ id }))
  if (!found) throw problem('flavor_not_found', { flavor: id })
  return parsed(found)
}

/** For requests of clients: refused when another part of Holdfast manages the flavor. */
export function* lockOwnFlavor(id: string): Write<Flavor> {
  const flavor = yield* lockFlavor(id)
  if (flavor.managed_by !== null) throw problem('flavor_managed', { flavor: id, owner: flavor.managed_by })
  return flavor
}

/** By id, after `marker`; one more than `limit` when there are more. */
export function* listFlavors(filter: FlavorFilter, marker: string, limit: number): Read<Flavor[]> {
  const { visibleTo, isPublic, ramMbMin, diskGbMin } = filter
  const from = { after: marker, limit: limit + 1, ramMbMin, diskGbMin }
  let rows: FlavorRow[]
  if (visibleTo !== null) rows = yield* all(flavorsVisible({ ...from, project: visibleTo }))
  else if (isPublic !== null) rows = yield* all(flavorsByPublicity({ ...from, isPublic: isPublic ? 1 : 0 }))
  else rows = yield* all(everyFlavor(from))
  return rows.map(row => parsed(row, shownIn))
}

/** The insert of a flavor whose id and name can't be taken. */
export const newFlavor = (wanted: NewFlavor, now: number): Command => addFlavor(rowOf(wanted, now))

/** The name prefix of leases' flavors. Clients can't use it, so a lease always finds its name free. */
export const RESERVED = 'reservation:'

export function* createFlavor(wanted: NewFlavor, now: number): Write<Flavor> {
  const { id, name, managed_by = null } = wanted
  if (managed_by === null && name.startsWith(RESERVED)) throw problem('flavor_name_taken', { name })
  if (yield* one(flavorById({ id }))) throw problem('flavor_id_taken', { flavor: id })
  if (yield* one(flavorByName({ name }))) throw problem('flavor_name_taken', { name })
  const row = rowOf(wanted, now)
  yield* run(addFlavor(row))
  yield* markFlavor(id)
  return parsed(row)
}

const rowOf = (wanted: NewFlavor, now: number): FlavorRow => ({
  ephemeral_gb: 0,
  swap_mb: 0,
  rxtx_factor: 1,
  ...wanted,
  is_public: wanted.is_public ? 1 : 0,
  disabled: wanted.disabled ? 1 : 0,
  extra_specs: jsonText(wanted.extra_specs ?? {}),
  managed_by: wanted.managed_by ?? null,
  created_at: now,
})

const markFlavor = (id: string) => mark({ kind: 'flavor', id })

/** Servers of the flavor stay: each has its own copy of what it asked for. */
export function* deleteFlavor(id: string): Write<void> {
  yield* lockFlavor(id)
  yield* run(removeFlavor({ id }))
  yield* markFlavor(id)
}

/** Deletes those of them that are there, for the manager of the flavors. */
export function* deleteFlavors(ids: readonly string[]): Write<void> {
  const [, gone] = yield* together(lockMany({ ids }), removeMany({ ids }))
  for (const { id } of gone) yield* markFlavor(id)
}

/** Makes flavors whose ids and names nobody else has, for their manager. */
export function* createFlavors(wanted: readonly NewFlavor[], now: number): Write<void> {
  yield* runAll(wanted.map(one => newFlavor(one, now)))
  for (const { id } of wanted) yield* markFlavor(id)
}

export function* setExtraSpecs(id: string, specs: Readonly<Record<string, string>>): Write<void> {
  yield* run(changeExtraSpecs({ id, extra_specs: jsonText(specs) }))
  yield* markFlavor(id)
}

/** The projects that may use a private flavor. */
export function* projectsOf(flavorId: string): Read<string[]> {
  return (yield* all(accessOf({ flavor: flavorId }))).map(row => row.project)
}

/** Grants many at once, for the manager of the flavors. Existing access stays. */
export function* grantAll(access: readonly { flavor_id: string; project_id: string }[]): Write<void> {
  if (access.length > 0) yield* run(addAccesses({ rows: access }))
}

/**
 * Removes all access to these flavors, and returns those that had some. The lock makes the creation of their servers wait
 * until that is done.
 */
export function* closeFlavors(ids: readonly string[]): Write<ReadonlySet<string>> {
  const [, rows] = yield* together(lockMany({ ids }), removeAllAccess({ flavors: ids }))
  const closed = new Set(rows.map(row => row.id))
  for (const id of closed) yield* markFlavor(id)
  return closed
}

export function* grantAccess(flavorId: string, project: string): Write<void> {
  const flavor = yield* lockFlavor(flavorId)
  if (flavor.is_public) throw problem('access_to_public', { flavor: flavorId })
  if (yield* one(accessBy({ flavor: flavorId, project }))) {
    throw problem('access_exists', { flavor: flavorId, project })
  }
  yield* run(addAccess({ flavor: flavorId, project }))
  yield* markFlavor(flavorId)
}

export function* revokeAccess(flavorId: string, project: string): Write<void> {
  yield* lockFlavor(flavorId)
  const removed = yield* run(removeAccess({ flavor: flavorId, project }))
  if (removed === 0) throw problem('access_not_found', { flavor: flavorId, project })
  yield* markFlavor(flavorId)
}
