// All BMCs that this process talks to. Nodes with the same access share a client, and so its session.
import { limits } from '../../../shared/limits.ts'
import type { Machine } from '../port.ts'
import type { Bmc } from './bmc.ts'
import { Client, PACE, type Pace } from './client.ts'
import { NodeBmc } from './node-bmc.ts'
import { bmcSettingsOf } from './settings.ts'

export class Bmcs {
  readonly #pace: Pace
  /** By access; the one that was not used for longest is first. */
  readonly #clients = new Map<string, Client>()

  constructor(pace: Partial<Pace> = {}) {
    this.#pace = { ...PACE, ...pace }
  }

  /**
   * The BMC of a machine. All requests end with the signal. `tries: 1` is for those who ask again by themselves.
   * Throws a HardwareFailure when driver_info is wrong.
   */
  of(machine: Pick<Machine, 'uuid' | 'driverInfo'>, signal: AbortSignal, { tries }: { tries?: number } = {}): Bmc {
    const { access, systemId } = bmcSettingsOf(machine)
    const key = JSON.stringify(access)
    const client = this.#clients.get(key) ?? new Client(access, this.#pace)
    this.#clients.delete(key)
    this.#clients.set(key, client)
    this.#makeRoom()
    const asking = tries === undefined ? { signal } : { signal, tries }
    return new NodeBmc({ client, systemId, asking, onRefused: () => this.#drop(key, client) })
  }

  /** Logs out everywhere. */
  async stop(): Promise<void> {
    const all = [...this.#clients.values()]
    this.#clients.clear()
    await Promise.all(all.map(client => client.stop()))
  }

  /** After a refused login the next request begins anew, with whatever the BMC takes then. */
  #drop(key: string, client: Client): void {
    if (this.#clients.get(key) === client) this.#clients.delete(key)
    void client.retire()
  }

  #makeRoom(): void {
    for (const [key, client] of this.#clients) {
      if (this.#clients.size <= limits.redfishClientsMax) return
      this.#drop(key, client)
    }
  }
}
