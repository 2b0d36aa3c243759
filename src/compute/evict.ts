// Empties resource classes that are withdrawn: closes them for new claims, deletes the servers with claims on them, and
// ends the moves that still hold such claims for a server elsewhere.
import { closeShares } from '../ledger/shares.ts'
import type { MoveId, ServerId } from '../store/schema/ids.ts'
import { command, query } from '../store/statement.ts'
import { all, type Read, run, together, type Write } from '../store/transaction.ts'
import { movesByIds } from './move-rows.ts'
import { endMove } from './moves.ts'
import { consumersOf, deleteServers, OWNER, selectServers } from './servers.ts'

/** From the ledger, not by flavor: after a resize the server has another flavor, and its move has the claim. */
const holders = query((db, a: { classes: readonly string[] }, on) =>
  db
    .selectFrom('resource_classes as r')
    .innerJoin('inventories as i', 'i.class_id', 'r.id')
    .innerJoin('claims as c', join =>
      join.onRef('c.provider_id', '=', 'i.provider_id').onRef('c.class_id', '=', 'i.class_id'),
    )
    .innerJoin('consumers as k', 'k.id', 'c.consumer_id')
    .leftJoin('servers as s', 's.uuid', 'k.uuid')
    .leftJoin('moves as m', 'm.uuid', 'k.uuid')
    .select(['s.id as server', 'm.id as move', 'm.server_id as moved'])
    .where(on.isIn('r.name', a.classes))
    .where('k.managed_by', '=', OWNER),
)
// Servers that never got a place have no claims, so they are found by their flavor.
const byFlavors = query((db, a: { flavors: readonly string[] }, on) =>
  db.selectFrom('servers').select('id').where(on.isIn('flavor_id', a.flavors)),
)
const byIds = query((db, a: { ids: readonly ServerId[] }, on) =>
  selectServers(db)
    .where(on.isIn('s.id', a.ids, 'bigint'))
    .orderBy('s.id'),
)
const lockByIds = command((db, a: { ids: readonly ServerId[] }, on) =>
  on.lock(
    db
      .selectFrom('servers')
      .select('id')
      .where(on.isIn('id', a.ids, 'bigint'))
      .orderBy('id'),
  ),
)

interface Tenants {
  /** Servers with claims on the classes, or with one of the flavors. */
  servers: ReadonlySet<ServerId>
  /** Moves that hold such claims for a server that has none itself. */
  moves: readonly { id: MoveId; server: ServerId }[]
}

function* tenantsOf(classes: readonly string[], flavors: readonly string[]): Read<Tenants> {
  const [rows, made] = yield* together(holders({ classes }), byFlavors({ flavors }))
  const servers = new Set([...rows.flatMap(({ server }) => server ?? []), ...made.map(({ id }) => id)])
  const moves = rows.flatMap(({ move, moved }) =>
    move === null || moved === null || servers.has(moved) ? [] : { id: move, server: moved },
  )
  return { servers, moves }
}

/**
 * Returns whether anything was evicted. It may miss a claim made at the same moment, but no later one is possible:
 * a second call, in a transaction of its own, finds the rest.
 */
export function* evict(classes: readonly string[], flavors: readonly string[], now: number): Write<boolean> {
  const before = yield* tenantsOf(classes, flavors)
  const locked = new Set([...before.servers, ...before.moves.map(({ server }) => server)])
  if (locked.size === 0) {
    yield* closeShares(classes, [], now)
    return false
  }
  yield* run(lockByIds({ ids: [...locked] }))
  const { servers: ids, moves } = yield* tenantsOf(classes, flavors)
  const servers = yield* all(byIds({ ids: [...ids].filter(id => locked.has(id)) }))
  const ended = yield* movesByIds(moves.filter(({ server }) => locked.has(server)).map(({ id }) => id))
  const leaving = [...(yield* consumersOf(servers)), ...ended.map(({ uuid }) => uuid)]
  yield* closeShares(classes, leaving, now)
  if (servers.length > 0) yield* deleteServers(servers, now)
  for (const move of ended) yield* endMove(move, now)
  return servers.length + ended.length > 0
}
