// Who may hear of an event: whoever may read the object that it is about.
import type { HoldfastEvent } from '../events/event.ts'
import type { EventKind } from '../events/kinds.ts'
import type { Caller } from '../identity/caller.ts'
import type { Policy } from '../identity/policy.ts'
import type { Action } from './policy.ts'

interface Rights {
  /** The action that reads an object of this kind. */
  readonly reads: Action
  /** Whoever is not allowed this sees only what is their project's. Left out where all see the same. */
  readonly seesAll?: Action
}

const RIGHTS: Readonly<Record<EventKind, Rights>> = {
  allocation: { reads: 'baremetal:allocation:get', seesAll: 'baremetal:node:list_all' },
  hold: { reads: 'baremetal:reservation:get', seesAll: 'baremetal:node:list_all' },
  node: { reads: 'baremetal:node:get', seesAll: 'baremetal:node:list_all' },
  lease: { reads: 'blazar:leases:get', seesAll: 'blazar:leases:list_all' },
  server: { reads: 'os_compute_api:servers:show', seesAll: 'os_compute_api:servers:list_all' },
  provider: { reads: 'placement:resource_providers:show' },
  claim: { reads: 'placement:allocations:list' },
  conductor: { reads: 'baremetal:conductor:get' },
  webhook: { reads: 'holdfast:webhooks:get', seesAll: 'holdfast:webhooks:list_all' },
}

export function sees(
  policy: Pick<Policy<Action>, 'allows'>,
  caller: Caller,
  { kind, whose }: Pick<HoldfastEvent, 'kind' | 'whose'>,
): boolean {
  const { reads, seesAll } = RIGHTS[kind]
  return (
    policy.allows(reads, caller, whose) &&
    (seesAll === undefined || isOf(caller.project, whose) || policy.allows(seesAll, caller, {}))
  )
}

const isOf = (project: string | null, { project: its, owner, lessee }: HoldfastEvent['whose']) =>
  project !== null && [its, owner, lessee].includes(project)
