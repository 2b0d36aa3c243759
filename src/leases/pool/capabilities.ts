// Capabilities: the operator's own properties of hosts, and which of their names users may see.
import { createHash } from 'node:crypto'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import { jsonIn } from '../../shared/json.ts'
import { TERMS } from '../../store/schema/json-columns.ts'
import type { ProviderId } from '../../store/schema/ids.ts'
import { bulk, command, query } from '../../store/statement.ts'
import { all, one, type Read, run, type Write } from '../../store/transaction.ts'
import type { RevisedLeasable } from '../calendar/resources.ts'
import { keysOf, parseProperties } from './properties.ts'
import type { HostProperty, Terms } from '../types.ts'

const capabilityRows = query((db, a: { ids: readonly ProviderId[] }, on) =>
  db
    .selectFrom('host_capabilities')
    .selectAll()
    .where(on.isIn('provider_id', a.ids, 'bigint'))
    .orderBy('provider_id')
    .orderBy('name'),
)
interface CapabilityRow {
  provider_id: ProviderId
  name: string
  value: string
}
const putCapabilities = bulk<CapabilityRow>({ provider_id: 'bigint', name: 'text', value: 'text' }, (db, r, on) =>
  on
    .insert(db.insertInto('host_capabilities'), { ...r })
    .onConflict(c => c.columns(['provider_id', 'name']).doUpdateSet(e => ({ value: e.ref('excluded.value') }))),
)
const putProperties = bulk<{ name: string; id: string; is_private: number; created_at: number }>(
  { name: 'text', id: 'text', is_private: 'bigint', created_at: 'bigint' },
  (db, r, on) => on.insert(db.insertInto('host_properties'), { ...r }).onConflict(c => c.column('name').doNothing()),
)
const propertyRows = query((db, _: object) => db.selectFrom('host_properties').selectAll().orderBy('name'))
const valueRows = query((db, _: object) =>
  db.selectFrom('host_capabilities').select(['name', 'value']).distinct().orderBy('name').orderBy('value'),
)
const setPrivate = command((db, a: { name: string; is_private: 0 | 1; now: number }) =>
  db
    .updateTable('host_properties')
    .set({ is_private: a.is_private, updated_at: a.now })
    .where('name', '=', a.name)
    .returningAll(),
)
const termsOnHost = query((db, a: { id: ProviderId }) =>
  db
    .selectFrom('bookings')
    .innerJoin('lease_reservations', 'lease_reservations.id', 'bookings.reservation_id')
    .select(['lease_reservations.id', 'terms'])
    .where('provider_id', '=', a.id),
)

export function* capabilitiesOf(ids: readonly ProviderId[]): Read<Map<ProviderId, Record<string, string>>> {
  const found = Map.groupBy(yield* all(capabilityRows({ ids })), row => row.provider_id)
  return new Map([...found].map(([id, rows]) => [id, Object.fromEntries(rows.map(({ name, value }) => [name, value]))]))
}

/** Derived from the name, so that no random source is needed here. */
function propertyId(name: string): string {
  const hex = createHash('sha256').update(`property ${name}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export function* addCapabilities(id: ProviderId, given: Readonly<Record<string, string>>, now: number): Write<void> {
  const present = (yield* capabilitiesOf([id])).get(id) ?? {}
  if (Object.keys({ ...present, ...given }).length > limits.capabilitiesPerHostMax) {
    throw problem('host_invalid', { reason: `A host has at most ${limits.capabilitiesPerHostMax} capabilities.` })
  }
  // Sorted, so that two transactions with the same names lock them in the same order and can't deadlock.
  const names = Object.keys(given).sort()
  if (names.length === 0) return
  yield* run(putCapabilities({ rows: names.map(name => ({ provider_id: id, name, value: given[name]! })) }))
  const property = (name: string) => ({ name, id: propertyId(name), is_private: 0, created_at: now })
  yield* run(putProperties({ rows: names.map(property) }))
}

/** Refuses to change a capability that a reservation on the host asks for. */
export function* requireUnused(host: RevisedLeasable, given: Readonly<Record<string, string>>): Read<void> {
  const changed = new Set(Object.keys(given).filter(name => host.facts(name) !== given[name]))
  for (const { id, terms } of yield* all(termsOnHost({ id: host.id }))) {
    const used = queriesOf(jsonIn(terms, TERMS)).flatMap(text => keysOf(parseProperties(text)))
    const name = used.find(key => changed.has(key))
    if (name !== undefined) {
      throw problem('host_in_use', { reason: `Reservation ${id} on host ${host.name} asks for capability ${name}.` })
    }
  }
}

function queriesOf(terms: Terms): string[] {
  if (terms.resource_type === 'virtual:instance') return [terms.resource_properties]
  return terms.resource_type === 'physical:host' ? [terms.resource_properties, terms.hypervisor_properties] : []
}

/** The names of the capabilities that hosts have, with their values; private ones only with `all`. */
export function* properties(which: { all: boolean }): Read<HostProperty[]> {
  const values = Map.groupBy(yield* all(valueRows({})), row => row.name)
  const rows = (yield* all(propertyRows({}))).filter(row => values.has(row.name) && (which.all || !row.is_private))
  return rows.map(row => propertyOf(row, values.get(row.name) ?? []))
}

export function* setPropertyPrivate(name: string, isPrivate: boolean, now: number): Write<HostProperty> {
  const row = yield* one(setPrivate({ name, is_private: isPrivate ? 1 : 0, now }))
  if (!row) throw problem('property_not_found', { name })
  const values = (yield* all(valueRows({}))).filter(one => one.name === name)
  return propertyOf(row, values)
}

interface PropertyRow {
  name: string
  id: string
  is_private: 0 | 1
  created_at: number
  updated_at: number | null
}

const propertyOf = ({ is_private, ...row }: PropertyRow, values: readonly { value: string }[]): HostProperty => ({
  ...row,
  is_private: is_private === 1,
  values: values.map(({ value }) => value),
})
