// The compute hosts on the board: what is used of each, and the lease that has it now. From the ledger in memory.
import type { CandidateTable } from '../ledger/candidates/table.ts'
import type { Leasable } from '../leases/calendar/calendar.ts'
import type { ProviderId } from '../store/schema/ids.ts'
import { query } from '../store/statement.ts'
import { all, type Read } from '../store/transaction.ts'
import type { MachinePromise } from './machine.ts'

/** What makes a root provider a host. */
const HOST_CLASSES = ['VCPU', 'MEMORY_MB', 'DISK_GB']

interface HostRow {
  id: ProviderId
  uuid: string
  name: string
  used: Record<string, number>
  capacity: Record<string, number>
}

export function hostsIn(table: CandidateTable): HostRow[] {
  const columns = HOST_CLASSES.map(name => table.column(name))
  const [first] = columns
  if (!first || columns.includes(null)) return []
  const hosts: HostRow[] = []
  for (const row of first.holders.rows()) {
    if (!table.roots.has(row) || table.managedBy[row] !== null) continue
    if (columns.some(column => column!.at(row) < 0)) continue
    const own = table.classesOf[row]!.map(at => table.classes[at]!)
    const amounts = (of: 'used' | 'capacity') =>
      Object.fromEntries(own.map(column => [column.name, column[of][column.at(row)]!]))
    const [id, uuid, name] = [table.id[row] as ProviderId, table.uuid[row]!, table.name[row]!]
    hosts.push({ id, uuid, name, used: amounts('used'), capacity: amounts('capacity') })
  }
  return hosts.sort((a, b) => (a.name < b.name ? -1 : 1))
}

const leasesWith = query((db, a: { ids: readonly string[] }, on) =>
  db
    .selectFrom('leases')
    .select(['id', 'name', 'user_id', 'project_id', 'start_at', 'end_at'])
    .where(on.isIn('id', a.ids)),
)

/** The leases that have a host as a whole now, by the host's id. */
export function* leasesOfHosts(leasables: readonly Leasable[], now: number): Read<Map<ProviderId, MachinePromise>> {
  const present = leasables.flatMap(({ id, kind, booked }) => {
    const lease = booked.find(({ isWhole, start, end }) => isWhole && start <= now && end > now)?.lease
    return kind === 'host' && lease !== undefined ? [{ id, lease }] : []
  })
  if (present.length === 0) return new Map()
  const rows = yield* all(leasesWith({ ids: [...new Set(present.map(({ lease }) => lease))] }))
  const byId = new Map(rows.map(row => [row.id, row]))
  const found = new Map<ProviderId, MachinePromise>()
  for (const { id: host, lease } of present) {
    const row = byId.get(lease)
    if (!row) continue
    const { id, name, user_id: user, project_id: project, start_at: start, end_at: end } = row
    found.set(host, { kind: 'lease', id, name, user, project, owner: project, start, end, keeper: null, note: null })
  }
  return found
}

/** When a lease that has a host as a whole begins or ends next; Infinity for never. */
export function nextLeaseOfHosts(leasables: readonly Leasable[], now: number): number {
  let next = Infinity
  for (const { kind, booked } of leasables) {
    if (kind !== 'host') continue
    for (const { isWhole, start, end } of booked) {
      for (const at of [start, end]) if (isWhole && at > now && at < next) next = at
    }
  }
  return next
}
