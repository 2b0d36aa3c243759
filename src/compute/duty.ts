// What happens to servers by itself: moves come to their end, and servers on bare metal follow their nodes.
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import { limits } from '../limits.ts'
import type { Drivers } from '../metal/drivers/registry.ts'
import { Problem } from '../problem.ts'
import type { Bell } from '../store/bell.ts'
import type { Store } from '../store/store.ts'
import type { Write } from '../store/transaction.ts'
import { settleServer, unsettledServers } from './metal-servers.ts'
import { completeMove, dueMoves } from './moves.ts'

interface Working {
  store: Store
  clock: Clock
  drivers: Drivers
  bell: Bell
  log: Logger
}

/** Does all that can be done now; says in how many milliseconds to look again. */
export async function workOnServers({ store, clock, drivers, bell, log }: Working): Promise<number | null> {
  const attempt = async (server: string, work: (now: number) => Write<boolean>) => {
    try {
      if (await store.write(() => work(clock.now()))) bell.ring('nodes')
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      // The node is locked or in maintenance, or another process was faster: the next look will tell.
      log.debug({ server, reason: error.message }, 'a server has to wait')
    }
  }
  for (const move of await store.read(dueMoves)) await attempt(move.server, now => completeMove(move, now))
  const servers = await store.read(unsettledServers)
  for (const uuid of servers) await attempt(uuid, now => settleServer(uuid, drivers, now))
  return servers.length > 0 ? limits.serverPollMs : null
}
