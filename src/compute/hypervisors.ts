// Hypervisors: root providers that have VCPU, MEMORY_MB and DISK_GB, and whether servers may be put there.
import { type Kysely, type Selectable, sql } from 'kysely'
import { problem } from '../problems/problem.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import type { Schema } from '../store/schema.ts'
import { command, query } from '../store/statement.ts'
import { all, mark, one, type Read, run, runAll, type Write, wake } from '../store/transaction.ts'

export const HYPERVISOR_CLASSES = ['VCPU', 'MEMORY_MB', 'DISK_GB'] as const

type Said = Selectable<Schema['hypervisors']>

export interface Hypervisor {
  /** The provider's id, which never changes. */
  id: ProviderId
  uuid: string
  name: string
  state: Said['state']
  status: Said['status']
  disabled_reason: string | null
  updated_at: number | null
  vcpus: number
  vcpus_used: number
  memory_mb: number
  memory_mb_used: number
  local_gb: number
  local_gb_used: number
  running_vms: number
}

const classId = (db: Kysely<Schema>, name: string) =>
  db.selectFrom('resource_classes').select('id').where('name', '=', name)

const selectHypervisors = (db: Kysely<Schema>) =>
  db
    .selectFrom('providers as p')
    .innerJoin('inventories as v', 'v.provider_id', 'p.id')
    .innerJoin('inventories as m', 'm.provider_id', 'p.id')
    .innerJoin('inventories as d', 'd.provider_id', 'p.id')
    .leftJoin('hypervisors as h', 'h.provider_id', 'p.id')
    .where('v.class_id', '=', classId(db, 'VCPU'))
    .where('m.class_id', '=', classId(db, 'MEMORY_MB'))
    .where('d.class_id', '=', classId(db, 'DISK_GB'))
    .where('p.parent_id', 'is', null)
    .where('p.managed_by', 'is', null)
    .select(['p.id', 'p.uuid', 'p.name', 'v.total as vcpus', 'v.used as vcpus_used'])
    .select(['m.total as memory_mb', 'm.used as memory_mb_used', 'd.total as local_gb', 'd.used as local_gb_used'])
    .select(['h.disabled_reason', 'h.updated_at'])
    .select(sql<Said['state']>`coalesce(h.state, 'up')`.as('state'))
    .select(sql<Said['status']>`coalesce(h.status, 'enabled')`.as('status'))
    .select(sql<number>`(select count(*) from servers where servers.host_id = p.id)`.as('running_vms'))

const everyHypervisor = query((db, _: object) => selectHypervisors(db).orderBy('p.id'))
const hypervisorById = query((db, a: { id: ProviderId }) => selectHypervisors(db).where('p.id', '=', a.id))
const hypervisorByName = query((db, a: { name: string }) => selectHypervisors(db).where('p.name', '=', a.name))
const unusable = query((db, _: object) =>
  db
    .selectFrom('hypervisors')
    .select('provider_id')
    .where(e => e.or([e('state', '=', sql.lit('down' as const)), e('status', '=', sql.lit('disabled' as const))])),
)
const say = command((db, a: Said) =>
  db
    .insertInto('hypervisors')
    .values({
      provider_id: a.provider_id,
      state: a.state,
      status: a.status,
      disabled_reason: a.disabled_reason,
      updated_at: a.updated_at,
    })
    .onConflict(c =>
      c.column('provider_id').doUpdateSet(e => ({
        state: e.ref('excluded.state'),
        status: e.ref('excluded.status'),
        disabled_reason: e.ref('excluded.disabled_reason'),
        updated_at: e.ref('excluded.updated_at'),
      })),
    ),
)
const lockHost = command((db, a: { name: string }, on) =>
  on.lock(db.selectFrom('providers').select('id').where('name', '=', a.name)),
)

export function* listHypervisors(): Read<Hypervisor[]> {
  return yield* all(everyHypervisor({}))
}

export function* findHypervisor(id: ProviderId): Read<Hypervisor> {
  const found = yield* one(hypervisorById({ id }))
  if (!found) throw problem('hypervisor_not_found', { name: String(id) })
  return found
}

export function* findHypervisorNamed(name: string): Read<Hypervisor> {
  const found = yield* one(hypervisorByName({ name }))
  if (!found) throw problem('hypervisor_not_found', { name })
  return found
}

/** Refuses a target host that doesn't exist. */
export function* requireTarget(name: string): Read<void> {
  if (!(yield* one(hypervisorByName({ name })))) throw problem('target_host_not_found', { name })
}

/** The ids of hypervisors that are down or disabled. */
export function* unusableHypervisors(): Read<Set<ProviderId>> {
  return new Set((yield* all(unusable({}))).map(row => row.provider_id))
}

export type HypervisorChange = Partial<Pick<Hypervisor, 'state' | 'status' | 'disabled_reason'>>

/** Sets a hypervisor up or down, enabled or disabled. */
export function* changeHypervisor(name: string, change: HypervisorChange, now: number): Write<Hypervisor> {
  yield* run(lockHost({ name }))
  const { id, state, status, disabled_reason } = yield* findHypervisorNamed(name)
  yield* run(say({ provider_id: id, state, status, disabled_reason, ...change, updated_at: now }))
  yield* mark({ kind: 'hypervisor', id: name })
  // Servers may move away, and what they left behind may be free.
  yield* wake('any')
  return yield* findHypervisor(id)
}

/** What is said of a hypervisor. */
export type HypervisorState = Pick<Hypervisor, 'state' | 'status' | 'disabled_reason'>

/** Writes down what was said of locked hypervisors at a time, and wakes those who act on it. */
export function* sayHypervisors(
  said: readonly (HypervisorState & Pick<Hypervisor, 'id' | 'name'>)[],
  at: number,
): Write<void> {
  yield* runAll(said.map(({ id, name: _, ...state }) => say({ provider_id: id, ...state, updated_at: at })))
  yield* mark(...said.map(({ name }) => ({ kind: 'hypervisor', id: name })))
  yield* wake('healing')
}
