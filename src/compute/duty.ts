// The background duty of compute: ends moves, and updates servers on bare metal from their nodes.
import type { Logger } from 'pino'
import { recorded } from '../audit/record.ts'
import type { Deed, Witness } from '../audit/witness.ts'
import type { Clock } from '../clock/clock.ts'
import { limits } from '../shared/limits.ts'
import type { Drivers } from '../metal/drivers/registry.ts'
import { isRefusal } from '../problems/problem.ts'
import type { Store } from '../store/store.ts'
import type { Write } from '../store/transaction.ts'
import { settleServer, type Step, unsettledServers } from './metal-servers.ts'
import { dueMoves, lateMoves } from './move-rows.ts'
import { completeMove, confirmIfLate } from './moves.ts'

interface Working {
  store: Store
  clock: Clock
  drivers: Drivers
  log: Logger
  witness: Witness
  config: { resizeConfirmMinutes: number }
}

type Done = Pick<Deed, 'action' | 'outcome'>

/** The action of each step in the audit; `wait` has none. */
const DEEDS: Record<Exclude<Step['kind'], 'wait'>, Done> = {
  run: { action: 'start_server', outcome: 'done' },
  fail: { action: 'start_server', outcome: 'failed' },
  'tear down': { action: 'delete_server', outcome: 'accepted' },
  'let go': { action: 'delete_server', outcome: 'done' },
  gone: { action: 'delete_server', outcome: 'done' },
}
const COMPLETED: Done = { action: 'complete_move', outcome: 'done' }
const CONFIRMED: Done = { action: 'confirm_resize', outcome: 'done' }

const MINUTE_MS = 60_000

/** Does all work that is due; returns in how many milliseconds to run again, or null. */
export async function workOnServers(working: Working): Promise<number | null> {
  const { store, clock, drivers, config } = working
  for (const move of await store.read(dueMoves)) {
    await attempt(
      working,
      move,
      now => completeMove(move, now),
      () => COMPLETED,
    )
  }
  const windowMs = config.resizeConfirmMinutes * MINUTE_MS
  if (windowMs > 0) {
    const late = await store.read(() => lateMoves(clock.now() - windowMs))
    for (const move of late)
      await attempt(
        working,
        move,
        now => confirmIfLate(move, now),
        () => CONFIRMED,
      )
  }
  const servers = await store.read(unsettledServers)
  for (const one of servers) {
    await attempt(
      working,
      one,
      now => settleServer(one.server, drivers, now),
      kind => (kind === 'wait' ? null : DEEDS[kind]),
    )
  }
  return servers.length > 0 ? limits.serverPollMs : null
}

async function attempt<T>(
  { store, clock, log, witness }: Working,
  { server, project_id: project }: { server: string; project_id: string },
  work: (now: number) => Write<T>,
  deedOf: (value: T) => Done | null,
): Promise<T | null> {
  const entryOf = (value: T) => {
    const deed = deedOf(value)
    return deed ? witness({ ...deed, project }) : undefined
  }
  try {
    return await store.write(() => recorded(work(clock.now()), entryOf))
  } catch (error) {
    if (!isRefusal(error)) throw error
    // The node is locked or in maintenance, or another process was faster: the next run tries again.
    log.debug({ server, reason: error.message }, 'a server has to wait')
    return null
  }
}
