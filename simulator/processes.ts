// The simulated processes: the real service in one thread, each with its own memory and its own connections. A crash takes
// all of it away at once; a new life begins with nothing but the database.
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { type Config, loadConfig } from '../src/config/config.ts'
import { Metrics } from '../src/measure/metrics.ts'
import type { Memory } from '../src/process/memory.ts'
import { assembleApi, assembleConductor } from '../src/process/serve.ts'
import { SimulatedCarrier } from './carrier.ts'
import type { Stream } from './chance.ts'
import type { Ground } from './ground.ts'
import type { History } from './history.ts'
import type { Machines } from './machines.ts'
import { Owner, type World } from './world.ts'

export type Role = 'serve' | 'api' | 'conductor'

export interface Surroundings {
  world: World
  chance: Stream
  history: History
  ground: Ground
  machines: Machines
}

/** The pause before whatever watches over a process starts it again. */
const RESTART_MS = 500
export const TAKE_OVER_MS = 5_000

export class Process {
  readonly name: string
  readonly role: Role
  owner!: Owner
  /** Null until it takes requests. */
  app: FastifyInstance | null = null
  /** Null until it is up. */
  memory: Memory | null = null
  readonly #around: Surroundings
  readonly #supervisor: Owner
  #lives = 0
  #leaves: (() => void)[] = []

  constructor(name: string, role: Role, around: Surroundings) {
    this.name = name
    this.role = role
    this.#around = around
    this.#supervisor = new Owner(`${name} supervisor`, around.chance)
  }

  get isUp(): boolean {
    return this.memory !== null && !this.owner.isDead
  }

  /** Is called when the process dies. Returns how not to be. */
  onDeath(leave: () => void): () => void {
    this.#leaves.push(leave)
    return () => void (this.#leaves = this.#leaves.filter(each => each !== leave))
  }

  start(skewMs = 0): void {
    const { world, chance, history } = this.#around
    const name = `${this.name}.${++this.#lives}`
    const owner = new Owner(name, chance.stream(name))
    owner.skewMs = skewMs
    this.owner = owner
    history.add(name, `starts as ${this.role}`)
    world.after(0, owner, () => {
      this.#assemble(owner).catch((error: unknown) => {
        history.add(name, `could not start: ${(error as Error).message}`)
        this.crash()
        this.startAfter(RESTART_MS)
      })
    })
  }

  startAfter(ms: number): void {
    const { world } = this.#around
    world.after(ms, this.#supervisor, () => {
      if (this.owner.isDead) this.start()
    })
  }

  /** As kill -9. The server learns of it when the sockets are closed, at once or much later. */
  crash(socketsMs: number = 0): void {
    if (this.owner.isDead) return
    const { history, ground } = this.#around
    history.add(this.owner.name, 'dies')
    this.owner.isDead = true
    this.app = null
    this.memory = null
    ground.left(this.owner, socketsMs)
    for (const leave of this.#leaves.splice(0)) leave()
  }

  async #assemble(owner: Owner): Promise<void> {
    const { history, machines, ground } = this.#around
    const config = configFor(this.name, ground.address)
    const surroundings = {
      log: pino({ level: 'warn', base: {} }, { write: line => history.add(owner.name, `says: ${wordsOf(line)}`) }),
      metrics: new Metrics({ isWhole: false }),
      ...ground.surroundings(owner),
      drivers: machines.driversFor(owner.name),
      carrier: new SimulatedCarrier(owner.chance.stream('carrier')),
    }
    // Never closed: these processes end by dying.
    const opened = new AsyncDisposableStack()
    if (this.role === 'conductor') {
      const { place } = await assembleConductor(config, opened, surroundings)
      this.memory = place.memory
    } else {
      const { app, memory } = await assembleApi(config, this.role, opened, surroundings)
      await app.ready()
      this.app = app
      this.memory = memory
    }
    history.add(owner.name, 'is up')
  }
}

/** A line of the log without what differs from machine to machine. */
function wordsOf(line: string): string {
  const { msg, err, duty } = JSON.parse(line) as { msg: string; err?: { message: string }; duty?: string }
  return [msg, duty, err?.message].filter(Boolean).join(': ')
}

/** Checked once: that takes longer than all else at a start. A mutant of a migration is served: others are to find it. */
const CHECKED = loadConfig(
  {
    port: 0,
    auth: 'noauth2',
    placementPolicy: 'legacy',
    ui: 'off',
    conductorName: 'simulated',
    powerSyncSeconds: 0,
    damagedSchema: true,
  },
  {},
  undefined,
)

const configFor = (conductorName: string, database: string): Config => ({
  ...CHECKED,
  conductorName,
  database,
  databaseConnections: 4,
  takeOverMs: TAKE_OVER_MS,
})
