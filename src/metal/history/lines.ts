// What the history of a node says of a change, in words. Names of people and projects go into `details`.
import { shownIn, MEMBERS } from '../../shared/json.ts'
import type { HistoryLine } from '../../store/node-history.ts'
import type { AllocationRow } from '../allocations/rows.ts'
import type { Hold } from '../holds/lookup.ts'
import type { NodeRow } from '../nodes/rows.ts'

type Named = Pick<NodeRow, 'uuid'>

export const enrolled = ({ uuid, driver, provision_state }: Omit<NodeRow, 'id'>): HistoryLine => ({
  node: uuid,
  type: 'change',
  event: `Enrolled with the driver ${driver}, in state ${provision_state}.`,
})

export const driverChanged = (before: NodeRow, { uuid, driver }: NodeRow): HistoryLine => ({
  node: uuid,
  type: 'change',
  event: `The driver changed from ${before.driver} to ${driver}.`,
})

export function traitsLine({ uuid }: Named, added: readonly string[], removed: readonly string[]): HistoryLine {
  const parts = [
    ...(added.length > 0 ? [`added ${added.join(', ')}`] : []),
    ...(removed.length > 0 ? [`removed ${removed.join(', ')}`] : []),
  ]
  return { node: uuid, type: 'change', event: `Traits: ${parts.join('; ')}.` }
}

/** A failure that is new: an old last_error stays in the row until the next verb. */
const failureIn = (before: NodeRow, after: NodeRow): string | null =>
  after.last_error !== before.last_error ? after.last_error : null

export function stateChanged(before: NodeRow, after: NodeRow): HistoryLine {
  const { uuid, provision_state: to, target_provision_state: target } = after
  const change = `From ${before.provision_state} to ${to}`
  const failure = failureIn(before, after)
  if (failure !== null) return { node: uuid, type: 'provisioning', event: `${change}: ${failure}`, severity: 'error' }
  return {
    node: uuid,
    type: 'provisioning',
    event: target === null ? `${change}.` : `${change}, on the way to ${target}.`,
  }
}

const powerWord = (state: NodeRow['power_state']) => state?.replace('power ', '') ?? 'unknown'

/** Without work on the node, it was the power sync that found the change. */
export function powerChanged(before: NodeRow, { uuid, power_state }: NodeRow): HistoryLine {
  const [was, is] = [powerWord(before.power_state), powerWord(power_state)]
  const isFound = before.transition === null && power_state !== null
  const changed = isFound
    ? `Power changed behind our back: it was ${was} and is ${is}.`
    : `Power changed from ${was} to ${is}.`
  const event = isFound && before.power_state === null ? `Power is ${is}, as the machine says.` : changed
  return { node: uuid, type: 'power', event }
}

/** Somebody asked for a power change. A reboot leaves no other trace. */
export function powerAsked(before: NodeRow, { uuid, target_power_state, transition }: NodeRow): HistoryLine | null {
  if (target_power_state === null || transition === null || before.transition !== null) return null
  const { target = target_power_state } = shownIn(transition, MEMBERS) as { target?: string }
  return { node: uuid, type: 'power', event: `Asked for: ${target}.` }
}

/** A power change failed: the state of the node is as it was. */
export function powerFailed(before: NodeRow, after: NodeRow): HistoryLine | null {
  const failure = failureIn(before, after)
  if (failure === null || after.provision_state !== before.provision_state) return null
  return { node: after.uuid, type: 'power', event: failure, severity: 'error' }
}

export function maintenanceChanged(before: NodeRow, after: NodeRow): HistoryLine {
  const { uuid, maintenance, maintenance_reason: reason, fault } = after
  const line = { node: uuid, type: 'maintenance', ...(fault !== null && { severity: 'error' as const }) } as const
  if (maintenance === 0) return { ...line, event: 'Maintenance is over.' }
  const what = before.maintenance === 1 ? 'The reason for the maintenance is now' : 'Maintenance began'
  return { ...line, event: reason === null ? `${what}${before.maintenance ? ' unknown' : ''}.` : `${what}: ${reason}` }
}

type Given = Pick<AllocationRow, 'uuid' | 'name' | 'owner' | 'user_id' | 'expires_at'> &
  Partial<Pick<AllocationRow, 'project_id'>>

const until = (ms: number | null) => (ms === null ? '' : ` until ${new Date(ms).toISOString()}`)

function allocationIn({ uuid, name, owner, user_id, project_id }: Given) {
  const called = name === null ? uuid : `${name} (${uuid})`
  return { details: `${called}, of user ${user_id} in project ${project_id ?? owner ?? 'unknown'}`, detailsOf: owner }
}

export const given = (to: Given, { uuid }: Named, what: 'allocation' | 'lease' = 'allocation'): HistoryLine => ({
  node: uuid,
  type: 'hand-over',
  event: `Given to ${what === 'lease' ? 'a lease' : 'an allocation'}${until(to.expires_at)}`,
  ...allocationIn(to),
})

const WHY: Readonly<Record<string, string>> = {
  deleted: 'it was ended',
  expired: 'its time is over',
  lease: 'the lease is over or has moved',
  torn_down: 'the machine was torn down',
  instance_removed: 'someone took the instance away',
  node_deleted: 'the node is deleted',
}

export const takenBack = (from: Given, { uuid }: Named, reason: string): HistoryLine => ({
  node: uuid,
  type: 'hand-over',
  event: `Taken back from an allocation, because ${WHY[reason] ?? reason}`,
  ...allocationIn(from),
})

interface Instance {
  uuid: string
  project: string
  user: string
}

const instanceIn = ({ uuid, project, user }: Instance) => ({
  details: `${uuid}, of user ${user} in project ${project}`,
  detailsOf: project,
})

export const givenToInstance = (instance: Instance, { uuid }: Named): HistoryLine => ({
  node: uuid,
  type: 'hand-over',
  event: 'Given to an instance',
  ...instanceIn(instance),
})

export const takenFromInstance = (instance: string, { uuid }: Named, reason: string): HistoryLine => ({
  node: uuid,
  type: 'hand-over',
  event: `Taken back from an instance, because ${WHY[reason] ?? reason}`,
  details: instance,
})

const HOLD: Readonly<Record<string, string>> = {
  created: 'Held',
  renewed: 'Held on',
  released: 'The hold was released',
  redeemed: 'The hold was redeemed',
}

export function heldLine(hold: Omit<Hold, 'id'>, became: string, { uuid }: Named): HistoryLine | null {
  const event = HOLD[became]
  if (event === undefined) return null
  const isHeld = became === 'created' || became === 'renewed'
  return {
    node: uuid,
    type: 'hand-over',
    event: isHeld ? `${event}${until(hold.expires_at)}` : event,
    details: `${hold.uuid}, for instance ${hold.instance_uuid} of project ${hold.project_id ?? hold.owner ?? 'unknown'}`,
    detailsOf: hold.owner,
  }
}

export const takenOver = ({ uuid, reservation, provision_state }: NodeRow): HistoryLine => ({
  node: uuid,
  type: 'take-over',
  event: `Conductor ${reservation} died while the node was ${provision_state}; another one goes on.`,
})
