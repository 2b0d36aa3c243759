// Whether the console of a node may be opened. The line itself is opened when somebody looks.
import { problem } from '../../problems/problem.ts'
import type { Write } from '../../store/transaction.ts'
import type { Access } from '../access.ts'
import type { Drivers } from '../drivers/registry.ts'
import { lockNode, saveNode } from './rows.ts'
import { driverOf } from './transitions.ts'
import { machineOf } from './validation.ts'

interface Wish {
  enabled: boolean
  drivers: Drivers
}

/** Also while a conductor works on the node: a deployment is when people want to see the console. */
export function* setConsole(ident: string, access: Access, { enabled, drivers }: Wish, now: number): Write<void> {
  const node = yield* lockNode(ident, access)
  const wrong = enabled ? driverOf(node, drivers).validate('console', machineOf(node)) : null
  if (wrong !== null) throw problem('invalid_parameter', { reason: wrong })
  const flag = enabled ? 1 : 0
  if (node.console_enabled !== flag) yield* saveNode(node, { ...node, console_enabled: flag, updated_at: now })
}
