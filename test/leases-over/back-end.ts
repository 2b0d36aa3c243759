// What the suite of leases needs of a cloud: Holdfast's APIs, a Compute API, hosts, and time that passes.
import type { Client, Options } from '../support/client.ts'
import type { ComputeClient } from '../support/nova-client.ts'
import type { Placement } from '../support/placement.ts'

export interface Size {
  vcpus: number
  memory_mb: number
  disk_gb: number
}

/** root is an admin; alice and bob are members of projects of their own. */
export type Person = 'root' | 'alice' | 'bob'

export interface BackEnd {
  readonly kind: 'own' | 'nova'
  readonly reservation: Client
  readonly placement: Placement
  /** Ours or Nova's. All that it is asked for is in 2.38. */
  readonly compute: ComputeClient
  readonly image: Client
  /** Of leases: from now to their start, and how long they are. Short where time can't be moved. */
  readonly minutes: { lead: number; length: number }
  /** The most hosts that a test can have at a time. */
  readonly hostsMax: number
  as(person: Person): Promise<Options>
  /** Hosts without servers, which Compute and Placement know and no lease does. */
  hosts(count: number, size: Size): Promise<string[]>
  /** The test needs them no longer. */
  giveBack(hosts: readonly string[]): Promise<void>
  turn(host: string, state: 'up' | 'down'): Promise<void>
  /** The time of Holdfast. */
  now(): Promise<number>
  /** Returns when it is at least that late, in Holdfast. */
  passTo(time: number): Promise<void>
  /** Fails if the ledger's rules are broken. */
  check(): Promise<void>
}
