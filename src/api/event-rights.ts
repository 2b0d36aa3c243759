// Who may hear of an event: whoever may read the object that it is about.
import type { HoldfastEvent } from '../events/event.ts'
import type { EventKind } from '../events/kinds.ts'
import type { Caller } from '../identity/caller.ts'
import type { Policy } from '../identity/policy.ts'
import type { Action } from './policy.ts'

/** The action that reads an object of each kind. */
const READS: Readonly<Record<EventKind, Action>> = {
  allocation: 'baremetal:allocation:get',
  hold: 'baremetal:reservation:get',
  node: 'baremetal:node:get',
  lease: 'blazar:leases:get',
  server: 'os_compute_api:servers:show',
  provider: 'placement:resource_providers:show',
  claim: 'placement:allocations:list',
  conductor: 'baremetal:conductor:get',
  webhook: 'holdfast:webhooks:get',
}

export const sees = (
  policy: Pick<Policy<Action>, 'allows'>,
  caller: Caller,
  { kind, whose }: Pick<HoldfastEvent, 'kind' | 'whose'>,
): boolean => policy.allows(READS[kind], caller, whose)
