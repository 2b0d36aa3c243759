// All BMCs that this process talks to. Nodes with the same access share a client, and so its session.
import { countdown } from '../../../clock/countdown.ts'
import { atOnce } from '../../../shared/at-once.ts'
import { limits } from '../../../shared/limits.ts'
import type { Machine } from '../port.ts'
import type { Bmc } from './bmc.ts'
import { Client, PACE, type Pace, type Wanted } from './client.ts'
import { NodeBmc } from './node-bmc.ts'
import { bmcSettingsOf } from './settings.ts'

interface Kept {
  readonly client: Client
  /** Milliseconds until nobody seems to need it any more. */
  readonly left: () => number
}

export class Bmcs {
  readonly #pace: Pace
  /** By access; the one that was not used for longest is first. */
  readonly #clients = new Map<string, Kept>()

  constructor(pace: Partial<Pace> = {}) {
    this.#pace = { ...PACE, ...pace }
  }

  /**
   * The BMC of a machine. All requests end with the signal. `tries: 1` is for those who ask again by themselves.
   * Throws a HardwareFailure when driver_info is wrong.
   */
  of(
    machine: Pick<Machine, 'uuid' | 'driverInfo'>,
    signal: AbortSignal,
    how: Pick<Wanted, 'tries' | 'requireLock'> = {},
  ): Bmc {
    const { access, systemId } = bmcSettingsOf(machine)
    const key = JSON.stringify(access)
    const client = this.#clients.get(key)?.client ?? new Client(access, this.#pace)
    this.#clients.delete(key)
    this.#clients.set(key, { client, left: countdown(this.#pace.idleMs) })
    this.#tidy(client)
    return new NodeBmc({ client, systemId, asking: { ...how, signal }, onRefused: () => this.#drop(key, client) })
  }

  /** Logs out everywhere, as far as that goes in a short time: sessions end by themselves, too. */
  async stop(): Promise<void> {
    const all = [...this.#clients.values()]
    this.#clients.clear()
    const left = countdown(limits.redfishLogoutMs)
    await atOnce(all, ({ client }) => client.stop({ logoutMs: left() }), { width: limits.redfishLogoutsAtOnce })
  }

  /** After a refused login the next request begins anew, with whatever the BMC takes then. */
  #drop(key: string, client: Client): void {
    if (this.#clients.get(key)?.client === client) this.#clients.delete(key)
    void client.retire()
  }

  /** Those of nodes that are gone, or have another password now, and those that are too many. */
  #tidy(newest: Client): void {
    for (const [key, { client, left }] of this.#clients) {
      if (client === newest || (left() > 0 && this.#clients.size <= limits.redfishClientsMax)) return
      this.#drop(key, client)
    }
  }
}
