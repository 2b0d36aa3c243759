// What the power sync reads and writes.
import { sql } from 'kysely'
import { databaseNow } from '../../clock/database-now.ts'
import { shownIn, TEXTS } from '../../shared/json.ts'
import type { NodeId } from '../../store/schema/ids.ts'
import { query } from '../../store/statement.ts'
import { all, type Read, together, type Write } from '../../store/transaction.ts'
import { syncProvider } from '../nodes/provider.ts'
import { lockNodeById, type NodeRow, saveNode } from '../nodes/rows.ts'
import { changeBy, type Finding, isWatched, lookerOf } from './plan.ts'

const nodesOfDrivers = query((db, a: { group: string; drivers: readonly string[] }, on) =>
  db
    .selectFrom('nodes')
    .select(['id', 'driver'])
    .where('conductor_group', '=', a.group)
    .where(on.isIn('driver', a.drivers))
    .orderBy('id'),
)
const conductorsOf = query((db, a: { group: string; silentMs: number }, on) =>
  db
    .selectFrom('conductors')
    .select(['hostname', 'drivers'])
    .where('online', '=', 1)
    .where('conductor_group', '=', a.group)
    .where(e => sql<boolean>`${e.ref('heartbeat_at')} >= ${databaseNow(on)} - cast(${a.silentMs} as bigint)`)
    .orderBy('hostname'),
)
const nodesById = query((db, a: { ids: readonly NodeId[] }, on) =>
  db
    .selectFrom('nodes')
    .selectAll()
    .where(on.isIn('id', a.ids, 'bigint')),
)

interface Looker {
  hostname: string
  group: string
  drivers: readonly string[]
  /** A conductor that is silent for longer looks at nothing. */
  silentMs: number
}

/** The nodes that this conductor looks at. Those with the same driver and group share them. */
export function* shareOf({ hostname, group, drivers, silentMs }: Looker): Read<NodeId[]> {
  const [nodes, conductors] = yield* together(nodesOfDrivers({ group, drivers }), conductorsOf({ group, silentMs }))
  const lookers = new Map(
    drivers.map(driver => {
      const others = conductors.filter(one => one.hostname !== hostname && shownIn(one.drivers, TEXTS).includes(driver))
      return [driver, [hostname, ...others.map(one => one.hostname)]]
    }),
  )
  return nodes.filter(({ id, driver }) => lookerOf(id, lookers.get(driver)!) === hostname).map(({ id }) => id)
}

/** Those of these nodes that are to be looked at, as they are now. */
export function* watchedOf(ids: readonly NodeId[]): Read<NodeRow[]> {
  return (yield* all(nodesById({ ids }))).filter(isWatched)
}

/**
 * Writes down what a look found, if nothing else has changed in the node since it was read: whoever began something
 * meanwhile knows better. Says whether it was written.
 */
export function* writeFinding(seen: NodeRow, finding: Finding, failures: number, now: number): Write<boolean> {
  const node = yield* lockNodeById(seen.id)
  if (!node || node.revision !== seen.revision || !isWatched(node)) return false
  const change = changeBy(node, finding, failures)
  if (!change) return false
  const after = { ...node, ...change, updated_at: now }
  yield* saveNode(node, after)
  if (after.maintenance !== node.maintenance) yield* syncProvider(after, now)
  return true
}
