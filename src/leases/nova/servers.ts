// Deletes what uses a lease that is over: the servers that the ledger names, those whose move still holds a slot, and
// those that never got a place. Nova's answer is never the proof: only the claims say what is gone.
import { inParallel } from '../../shared/in-parallel.ts'
import { limits } from '../../shared/limits.ts'
import { NovaAway, type NovaMigration, NovaRefusal, type NovaServer } from '../../nova/port.ts'
import type { Round } from './flavors.ts'
import { type Holder, isOurs } from './wish.ts'

/** What is wrong, in sentences; it is empty while things only take their time. */
type Sentences = string[]

/** Deletes the consumers of a closed class, or confirms the move of a server that has left it. */
export async function clearHolders(round: Round, holders: readonly Holder[]): Promise<Sentences> {
  const said: Sentences = []
  const unknown: Holder[] = []
  await onEach(holders, async holder => {
    const server = await round.nova.server(holder.consumer)
    if (server) said.push(...(await remove(round, server)))
    else unknown.push(holder)
  })
  if (unknown.length > 0) said.push(...(await endMoves(round, unknown, new Set(holders.map(one => one.consumer)))))
  return said
}

/**
 * Deletes servers that have the flavor and no claim: they failed, or are shelved. Returns how many there are. Each must
 * say itself which flavor it has: whatever drops the filter on the way would have every server of the cloud deleted.
 */
export async function clearFlavor(
  round: Round,
  flavor: string,
  except: ReadonlySet<string>,
): Promise<{ left: number; said: Sentences }> {
  const servers = (await round.nova.serversOfFlavor(flavor)).filter(
    server => !except.has(server.id) && isOurs({ id: flavor, name: server.flavor ?? '' }),
  )
  const said: Sentences = []
  await onEach(servers, async server => {
    said.push(...(await remove(round, server)))
  })
  return { left: servers.length, said }
}

/** One that fails, such as a server on a dead host, doesn't keep the others. Throws the first failure at the end. */
async function onEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const failures: unknown[] = []
  await inParallel(items, limits.novaWorkAtOnce, async item => {
    if (failures.length >= limits.novaFailuresMax) return
    await work(item).catch((error: unknown) => failures.push(error))
  })
  if (failures.length > 0) throw failures.find(isLost) ?? failures[0]
}

/** Whose work it is no more must not say what came of it. */
const isLost = (error: unknown) => !(error instanceof NovaAway) && !(error instanceof NovaRefusal)

async function remove({ nova, attempts, hold }: Round, server: NovaServer): Promise<Sentences> {
  const isStuck = attempts >= limits.novaForceAfter
  await hold()
  try {
    // Where deletion is put off, the claim stays until someone forces it.
    await nova.deleteServer(server.id, isStuck || server.status === 'SOFT_DELETED')
  } catch (error) {
    if (!(error instanceof NovaRefusal) || error.status !== 409) throw error
    return isStuck ? [error.message] : []
  }
  const isLate = attempts >= 2 * limits.novaForceAfter
  return isLate ? [`Server ${server.id} is ${server.task ?? server.status} and does not go`] : []
}

/**
 * Consumers that are no servers: moves that hold the place that their server has left. A server that is elsewhere by now
 * is its user's: its move is confirmed, as with our own servers, and only if that fails it is deleted.
 */
async function endMoves(round: Round, holders: readonly Holder[], claiming: ReadonlySet<string>): Promise<Sentences> {
  const moves = await movesFrom(round, holders)
  const said: Sentences = []
  for (const { consumer } of holders) {
    const move = moves.get(consumer)
    // It goes with its server, which is being deleted.
    if (move && claiming.has(move.server)) continue
    const server = move && (await round.nova.server(move.server))
    if (server) said.push(...(await endMove(round, server)))
    // A server's record may be gone a moment before its claim.
    else if (round.attempts > 1) {
      said.push(
        `Nova knows no server and no migration ${consumer}, which still holds a slot; ` +
          `if it is a leftover, delete its allocation in Placement`,
      )
    }
  }
  return said
}

async function endMove(round: Round, server: NovaServer): Promise<Sentences> {
  if (server.status !== 'VERIFY_RESIZE') return round.attempts < limits.novaForceAfter ? [] : remove(round, server)
  if (round.attempts >= limits.novaForceAfter) return remove(round, server)
  await round.hold()
  try {
    await round.nova.confirmResize(server.id)
  } catch (error) {
    // It was confirmed or reverted just now, or something else is done with it: the next round sees. 400 means that it is
    // being confirmed; while the source is dead that lasts for ever, and it is deleted after some rounds.
    if (!(error instanceof NovaRefusal) || ![400, 409].includes(error.status)) throw error
  }
  return []
}

/** The moves away from the hosts of these consumers, by their uuid. */
async function movesFrom({ nova }: Round, holders: readonly Holder[]): Promise<Map<string, NovaMigration>> {
  const services = new Map((await nova.hypervisors()).map(({ id, service }) => [id, service]))
  const hosts = new Set(
    holders.flatMap(one => one.hosts.map(({ hypervisor, name }) => services.get(hypervisor) ?? name)),
  )
  const wanted = new Set(holders.map(({ consumer }) => consumer))
  const found = new Map<string, NovaMigration>()
  for (const host of hosts) {
    for (const move of await nova.migrationsFrom(host)) if (wanted.has(move.uuid)) found.set(move.uuid, move)
  }
  return found
}
