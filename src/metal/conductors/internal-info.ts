// What drivers keep of a node for themselves: driver_internal_info.
import { jsonIn, jsonText, MEMBERS } from '../../shared/json.ts'
import type { Json } from '../drivers/port.ts'
import { withoutAgent } from '../nodes/agent-info.ts'
import type { NodeRow } from '../nodes/rows.ts'
import type { Work } from '../nodes/transitions.ts'

/** What the driver has found is added. An agent's word ends with its step, except in a rescue, where it stays. */
export function internalAfter(node: NodeRow, work: Work, found: Json | undefined) {
  const isRescue = work.kind === 'provision' && work.steps[work.step] === 'rescue'
  const driver_internal_info = isRescue ? node.driver_internal_info : withoutAgent(node.driver_internal_info)
  return found ? withInternal({ ...node, driver_internal_info }, found) : driver_internal_info
}

export function withInternal({ driver_internal_info }: NodeRow, found: Json) {
  const kept = Object.entries({ ...jsonIn(driver_internal_info, MEMBERS), ...found }).filter(
    ([, value]) => value !== null,
  )
  return jsonText(Object.fromEntries(kept))
}
