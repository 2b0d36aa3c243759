// Hosts: the compute hosts that may be booked, and what the operator says about them.
import type { Read, Write } from '../store/transaction.ts'
import type { Host, HostAllocation, HostProperty, NewHost } from './types.ts'

export function* createHost(_wanted: NewHost, _now: number): Write<Host> {
  throw new Error('not there yet')
}

export function* listHosts(): Read<Host[]> {
  throw new Error('not there yet')
}

/** The host of this decimal id. */
export function* findHost(_id: string): Read<Host> {
  throw new Error('not there yet')
}

/** Adds or changes capabilities; none can be removed. */
export function* updateHost(_id: string, _capabilities: Readonly<Record<string, string>>, _now: number): Write<Host> {
  throw new Error('not there yet')
}

export function* deleteHost(_id: string): Write<void> {
  throw new Error('not there yet')
}

/** One entry a host that has any. Without a filter those of leases that have not ended; with `host` always one entry. */
export function* hostAllocations(
  _filter: { lease?: string; reservation?: string; host?: string },
  _now: number,
): Read<HostAllocation[]> {
  throw new Error('not there yet')
}

/** The names of all capabilities; private ones only when asked for. */
export function* properties(_which: { all: boolean }): Read<HostProperty[]> {
  throw new Error('not there yet')
}

export function* setPropertyPrivate(_name: string, _isPrivate: boolean, _now: number): Write<HostProperty> {
  throw new Error('not there yet')
}
