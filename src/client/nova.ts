// The Nova beside the service, for operators.
import type { Api } from './wire.ts'

export interface NovaHealth {
  url: string
  /** The newest that it speaks; null when it could not be asked. */
  version: string | null
  /** How many hosts it shows. */
  hypervisors: number | null
  /** Why it could not be asked, or what it refuses. */
  problem: string | null
  /** Reservations of which it doesn't have what it should have yet. */
  due: number
  failing: number
  /** Some of those that fail. */
  troubles: { lease: string; reservation: string; reason: string; failures: number }[]
}

/** Null where the servers are not those of a Nova. */
export const novaAt = (api: Api) => async (): Promise<NovaHealth | null> =>
  (await api.get<{ nova: NovaHealth | null }>('/nova')).nova
