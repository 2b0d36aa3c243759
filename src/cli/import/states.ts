// The provision state of a node in a fleet file, and the next step towards it.
import type { Verb } from '../../client/index.ts'

export const WANTED = ['enroll', 'manageable', 'available'] as const
export type Wanted = (typeof WANTED)[number]

export interface Seen {
  provision_state: string
  target_provision_state: string | null
  instance_uuid: string | null
  inspection_finished_at?: unknown
  inspect_interface?: unknown
}

/** A conductor or the node itself is working, so it can't be changed now. */
export const isBusy = ({ provision_state: state }: Seen) => /ing$| wait$|^wait /.test(state)

/** Failed states that only `manage` leads out of. */
const STRANDED = new Set(['clean failed', 'inspect failed', 'adopt failed'])

const wantedIn = (state: string | null) => WANTED.find(wanted => wanted === state)

/** The state for an export: the last one that an operator chose. What a user does with the node isn't exported. */
export function standingOf({ provision_state, target_provision_state }: Seen): Wanted {
  const target = wantedIn(target_provision_state)
  return wantedIn(provision_state) ?? target ?? (STRANDED.has(provision_state) ? 'manageable' : 'available')
}

/** Deployed, being deployed, or given to someone: then its user decides on its state. */
export const isInUse = (node: Seen) =>
  node.instance_uuid !== null ||
  (!isBusy(node) && !wantedIn(node.provision_state) && !STRANDED.has(node.provision_state))

/** Whether inspection would find out something: it never ran, and the driver can. */
const isUnseen = ({ inspection_finished_at: at, inspect_interface: by }: Seen) =>
  (at ?? null) === null && typeof by === 'string' && by !== 'no-inspect'

/** The verb that leads towards the wanted state; null if there is none. `inspects`: a new machine is inspected first. */
export function nextStep(node: Seen, wanted: Wanted, inspects = false): 'there' | 'wait' | Verb | null {
  const { provision_state: state } = node
  if (isBusy(node)) return 'wait'
  if (state === wanted || isInUse(node)) return 'there'
  if (wanted === 'enroll') return null
  if (state !== 'manageable') return 'manage'
  return inspects && isUnseen(node) ? 'inspect' : 'provide'
}
