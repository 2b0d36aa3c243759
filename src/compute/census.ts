// Which servers there are, counted for those who watch over them.
import { byState, type Figures, type Sample } from '../figures.ts'
import { query } from '../store/statement.ts'
import { all, type Read } from '../store/transaction.ts'

export const computeFigures = {
  holdfast_servers: { help: 'Servers by status.', label: 'status' },
} satisfies Figures

const serversByStatus = query((db, _: object) =>
  db
    .selectFrom('servers')
    .select('status as state')
    .select(e => e.fn.countAll<number>().as('count'))
    .groupBy('status'),
)

export function* countServers(): Read<Sample<keyof typeof computeFigures>[]> {
  const statuses = ['BUILD', 'ACTIVE', 'SHUTOFF', 'VERIFY_RESIZE', 'ERROR']
  return byState('holdfast_servers', statuses, yield* all(serversByStatus({})))
}
