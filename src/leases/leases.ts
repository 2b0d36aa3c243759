// Leases as clients see them: created, found, changed, deleted.
import type { Principal } from '../metal/offer.ts'
import type { Read } from '../store/transaction.ts'
import type { Leasing } from './leasing.ts'
import type { Lease, LeaseChange, NewLease } from './types.ts'

/** Books all of it, or refuses and leaves nothing. */
export async function createLease(_leasing: Leasing, _who: Principal, _wanted: NewLease): Promise<Lease> {
  throw new Error('not there yet')
}

/** `project` is whose leases may be changed; null for everyone's. A foreign lease isn't there. */
export async function updateLease(
  _leasing: Leasing,
  _id: string,
  _project: string | null,
  _change: LeaseChange,
): Promise<Lease> {
  throw new Error('not there yet')
}

export async function deleteLease(_leasing: Leasing, _id: string, _project: string | null): Promise<void> {
  throw new Error('not there yet')
}

export function* findLease(_id: string, _project: string | null): Read<Lease> {
  throw new Error('not there yet')
}

export function* listLeases(_project: string | null): Read<Lease[]> {
  throw new Error('not there yet')
}
