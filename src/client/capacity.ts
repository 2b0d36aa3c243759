// What the providers have, and how much of it is used.
import type { Booking } from './status.ts'
import type { Api } from './wire.ts'

export interface CapacityProvider {
  uuid: string
  name: string
  /** The uuid of its parent. */
  parent: string | null
  traits: string[]
  /** By resource class. */
  inventories: Record<string, [used: number, capacity: number]>
  /** The lease that has it as a whole now. */
  lease: Booking | null
}

/** Trees together, each parent before its children, the trees by name. */
export const capacityAt = (api: Api) => async (): Promise<CapacityProvider[]> =>
  (await api.get<{ providers: CapacityProvider[] }>('/capacity')).providers
