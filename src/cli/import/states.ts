// How far a node has come, and the next step on its way to where the file wants it.
import type { Verb } from '../../client/index.ts'

export const WANTED = ['enroll', 'manageable', 'available'] as const
export type Wanted = (typeof WANTED)[number]

export interface Seen {
  provision_state: string
  target_provision_state: string | null
  instance_uuid: string | null
}

/** A conductor is at work on it, or it works by itself: it can't be changed now. */
export const isBusy = ({ provision_state: state }: Seen) => /ing$| wait$|^wait /.test(state)

/** From here a person has to say how it goes on, and `manage` is how. */
const STRANDED = new Set(['clean failed', 'inspect failed', 'adopt failed'])

const wantedIn = (state: string | null) => WANTED.find(wanted => wanted === state)

/** What a file says of a node that is like this: how far it was brought, not what its user does with it. */
export function standingOf({ provision_state, target_provision_state }: Seen): Wanted {
  const target = wantedIn(target_provision_state)
  return wantedIn(provision_state) ?? target ?? (STRANDED.has(provision_state) ? 'manageable' : 'available')
}

/** Deployed, on the way to it, or given to someone: its state is theirs. */
export const isInUse = (node: Seen) =>
  node.instance_uuid !== null ||
  (!isBusy(node) && !wantedIn(node.provision_state) && !STRANDED.has(node.provision_state))

/** The verb that brings it nearer; null when it can't get there. */
export function nextStep(node: Seen, wanted: Wanted): 'there' | 'wait' | Verb | null {
  const { provision_state: state } = node
  if (isBusy(node)) return 'wait'
  if (state === wanted || isInUse(node)) return 'there'
  if (wanted === 'enroll') return null
  return state === 'manageable' ? 'provide' : 'manage'
}
