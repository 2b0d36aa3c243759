// Who acts in a run, and what is checked of it: after each commit, at quiet points, at the end.
import { type Actor, Client } from './clients/actor.ts'
import { Following } from './checks/following.ts'
import { type Inside } from './checks/inside.ts'
import { liveness } from './checks/liveness.ts'
import { Locks } from './checks/locks.ts'
import { memoryEqualsDatabase } from './checks/memory.ts'
import { withinLimit } from './checks/quota.ts'
import { LIMITED, mixNamed } from './mixes.ts'
import { Model } from './model.ts'
import type { Chance, Finding, Service } from './port.ts'

interface Options {
  mix: string
  service: Service
  chance: Chance
  told: (finding: Finding) => void
  loadMs?: number
  pauseMs?: number
  toleranceMs?: number
}

/** What is written here says nothing of nodes and conductors. */
const OF_LEDGER = new Set(['providers', 'inventories', 'claims', 'consumers', 'provider_traits'])

export class Cast {
  readonly #options: Options
  readonly #model = new Model()
  readonly #locks = new Locks()
  readonly #following = new Following()
  #actors: readonly Actor[] = []

  constructor(options: Options) {
    mixNamed(options.mix)
    this.#options = options
  }

  /** While nothing fails: makes what the clients need. */
  async prepare(): Promise<void> {
    const { mix, service, chance, told, loadMs = 10_000, pauseMs = 600, toleranceMs = 1_000 } = this.#options
    const client = new Client(service, told)
    const stage = { client, chance: chance.stream('stage'), model: this.#model, loadMs, pauseMs, toleranceMs }
    this.#actors = await mixNamed(mix)(stage)
  }

  /** Resolves when all clients have ended. One that fails is a finding, and the others go on. */
  async act(): Promise<void> {
    const { service, chance, told } = this.#options
    const failed = (error: unknown) => told({ check: 'actor', text: String((error as Error).stack ?? error) })
    await Promise.all(this.#actors.map((actor, i) => actor(service, chance.stream(`actor ${i}`), told).catch(failed)))
  }

  /** `touched`: the tables that were written to, where each commit is seen. */
  async afterCommit(inside: Inside, touched?: ReadonlySet<string>): Promise<Finding[]> {
    const limit = this.#options.mix === 'quota' ? await withinLimit(inside, LIMITED.project, LIMITED.nodes) : []
    const isMetals = !touched || [...touched].some(table => !OF_LEDGER.has(table))
    const locks = isMetals ? await this.#locks.look(inside) : []
    const following = touched ? await this.#following.committed(inside, touched) : []
    return [...locks, ...limit, ...following]
  }

  /** Between two commits. */
  between(inside: Inside): Promise<Finding[]> {
    return this.#following.look(inside)
  }

  async isAtRest(inside: Inside, quietSince: number): Promise<boolean> {
    return (await liveness(inside, quietSince)).length === 0
  }

  /** While nobody acts and nothing fails, and all processes have had time to follow. */
  whenQuiet(inside: Inside): Promise<Finding[]> {
    return memoryEqualsDatabase(inside)
  }

  /** At the end: what clients were told is there, and nothing is stuck. `quietSince`: since then nothing failed. */
  async examine(inside: Inside, quietSince: number): Promise<Finding[]> {
    const { service, told } = this.#options
    await this.#model.examine(new Client(service, told))
    return liveness(inside, quietSince)
  }
}
