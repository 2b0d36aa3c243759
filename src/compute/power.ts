// Stops, starts and reboots servers. On bare metal, a conductor switches the node.
import { EVERYTHING } from '../metal/access.ts'
import type { PowerTarget } from '../metal/drivers/port.ts'
import { startPower } from '../metal/nodes/transitions.ts'
import { findInstance } from '../metal/nodes/rows.ts'
import { problem } from '../problems/problem.ts'
import type { Write } from '../store/transaction.ts'
import { vmState } from './moves.ts'
import { lockServer, saveServer, type Status } from './servers.ts'

export type PowerAction = 'os-start' | 'os-stop' | 'reboot'

const ACTIONS: Record<PowerAction, { from: readonly Status[]; to: Status; target: PowerTarget }> = {
  'os-start': { from: ['SHUTOFF'], to: 'ACTIVE', target: 'power on' },
  'os-stop': { from: ['ACTIVE'], to: 'SHUTOFF', target: 'power off' },
  reboot: { from: ['ACTIVE'], to: 'ACTIVE', target: 'rebooting' },
}

/** Says whether there is work for a conductor. */
export function* switchServer(uuid: string, action: PowerAction, visibleTo: string | null, now: number): Write<void> {
  const server = yield* lockServer(uuid, visibleTo)
  const { from, to, target } = ACTIONS[action]
  const refuse = (attribute: string, state: string) =>
    problem('server_state_refused', { server: uuid, action: action.replace('os-', ''), attribute, state })
  if (server.task !== null) throw refuse('task_state', server.task)
  if (!from.includes(server.status)) throw refuse('vm_state', vmState(server.status))
  const node = server.is_metal ? yield* findInstance(uuid) : undefined
  if (node) yield* startPower(node.uuid, EVERYTHING, { target, args: {} }, now)
  yield* saveServer(server, { ...server, status: to, updated_at: now })
}
