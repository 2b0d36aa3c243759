// The gauge of servers by status, counted in the database.
import { byState, type Gauges, type Sample } from '../shared/gauges.ts'
import { query } from '../store/statement.ts'
import { all, one, type Read } from '../store/transaction.ts'

export const computeGauges = {
  holdfast_servers: { help: 'Servers by status.', label: 'status' },
} satisfies Gauges

const serversByStatus = query((db, _: object) =>
  db
    .selectFrom('servers')
    .select('status as state')
    .select(e => e.fn.countAll<number>().as('count'))
    .groupBy('status'),
)

const allServers = query((db, _: object) => db.selectFrom('servers').select(e => e.fn.countAll<number>().as('count')))

/** How many servers of our own there are. */
export function* serversThere(): Read<number> {
  return (yield* one(allServers({})))?.count ?? 0
}

export function* countServers(): Read<Sample<keyof typeof computeGauges>[]> {
  const statuses = ['BUILD', 'ACTIVE', 'SHUTOFF', 'VERIFY_RESIZE', 'ERROR']
  return byState('holdfast_servers', statuses, yield* all(serversByStatus({})))
}
