// One run: processes, clients and faults in one world, from a seed.
import { STARTED, setWorld } from './time.ts'
import { limits } from '../src/shared/limits.ts'
import type { Inside } from './checks/inside.ts'
import { Stream } from './chance.ts'
import type { Database } from './database.ts'
import { Disk } from './disk.ts'
import { diskFaults } from './disk-faults.ts'
import { areCalm, type Catalogue, faultsOf, heal, networkFaults, roundMsOf, unleash } from './faults.ts'
import { SqliteFile } from './file.ts'
import type { Ground } from './ground.ts'
import { History } from './history.ts'
import { Machines } from './machines.ts'
import { Network } from './network.ts'
import type { Chance, Finding, Service } from './port.ts'
import { Process, TAKE_OVER_MS } from './processes.ts'
import type { Scene } from './scene.ts'
import { SimulatedService } from './service.ts'
import { setFiles } from './virtual-sqlite.ts'
import { real, World } from './world.ts'

export interface CastOptions {
  mix: string
  service: Service
  chance: Chance
  told: (finding: Finding) => void
  loadMs: number
}

/** Who acts in a run, and what is checked of it. */
export interface Cast {
  /** While nothing fails: makes what the clients need. */
  prepare(): Promise<void>
  /** Resolves when all clients have ended. */
  act(): Promise<void>
  afterCommit(inside: Inside, touched: ReadonlySet<string>): Promise<Finding[]>
  /** Now and then between two commits. */
  between(inside: Inside): Promise<Finding[]>
  /** Nothing is stuck so far, among what was due before. */
  isAtRest(inside: Inside, quietSince: number): Promise<boolean>
  /** While nobody acts and nothing fails, and all processes have had time to follow. */
  whenQuiet(inside: Inside): Promise<Finding[]>
  /** At the end. `quietSince`: since then nothing failed. */
  examine(inside: Inside, quietSince: number): Promise<Finding[]>
}

export interface Options {
  seed: number
  mix: string
  faults: string
  loadMs: number
  /** The load ends after so many events, if it hasn't before. */
  stepsMax?: number
  castFor: (options: CastOptions) => Cast
  /** The numbers of faults that don't happen. */
  leftOut?: ReadonlySet<number>
  /** The first finding is enough: the run ends there. */
  isHunt?: boolean
  print?: (line: string) => void
}

export interface Result {
  seed: number
  findings: readonly Finding[]
  hash: string
  faults: number
  steps: number
  commits: number
  virtualMs: number
  realMs: number
  /** Of this process, without PostgreSQL's. */
  cpuMs: number
  /** The history before the first finding, as far as it is kept. */
  story: readonly string[]
}

/** What polls is slower: nothing comes of most polls, and each costs real time. */
Object.assign(limits, { feedPollMs: 400, eventPollMs: 400, conductorPollMs: 2_000 })

const STORY_LINES = 4_000
const START_MS = 60_000
const PREPARE_MS = 120_000
/** All clients end within this time after the load. */
const ACT_MS = 120_000
/** Within this time all processes have followed a commit. */
const FOLLOW_MS = 1_200
/** Silent connections are noticed late. */
const recessMsOf = (faults: string) => (faults === 'none' ? 2_500 : 9_000)
/** For how long the clients act, recesses and all. */
const wholeMsOf = ({ faults, loadMs }: Options) =>
  loadMs + (Math.ceil(loadMs / Math.min(roundMsOf(faults), loadMs)) - 1) * recessMsOf(faults)
/** It ends when all is well. What still differs after a rest of `following` is told; what is stuck, at the latest. */
const SETTLE_MS = { least: 1_500, following: 8_000, most: 90_000, look: 500 }
/** So often all invariants are checked, and not only those of the tables that were written to. */
const WHOLE_CHECK = 40
/** Between two commits, memory is looked at after so many events. */
const BETWEEN = 8
/** Something is on its way. */
const BUSY = `select 1 from nodes where lock_incarnation is not null or transition is not null
  union all select 1 from allocations where state = 'allocating' limit 1`

/** Makes the database of a run. */
export interface Databases {
  create(): Promise<Database | SqliteFile>
}

export async function simulate(databases: Databases, options: Options): Promise<Result> {
  const began = real.now()
  const cpu = process.cpuUsage()
  const database = await databases.create()
  const run = new Run(database, options)
  setWorld(run.world)
  const failed = (error: unknown) => run.failed(error)
  process.on('unhandledRejection', failed).on('uncaughtException', failed)
  try {
    await run.play()
  } finally {
    run.stop()
    process.off('unhandledRejection', failed).off('uncaughtException', failed)
    setWorld(null)
    setFiles(null)
    await database.close()
  }
  const { user, system } = process.cpuUsage(cpu)
  return { ...run.result(), realMs: Math.round(real.now() - began), cpuMs: Math.round((user + system) / 1_000) }
}

class Run {
  readonly world = new World(STARTED)
  readonly #options: Options
  readonly #chance: Stream
  readonly #history: History
  readonly #findings: Finding[] = []
  readonly #ground: Ground
  readonly #catalogue: Catalogue
  readonly #scene: Scene
  readonly #processes: readonly Process[]
  readonly #service: SimulatedService
  readonly #cast: Cast
  readonly #inside: Inside
  #story: readonly string[] = []
  #faults = 0
  #commits = 0
  #touchedAt = 0
  /** Since the last check. */
  #touched = new Set<string>()
  #checks = 0

  constructor(database: Database | SqliteFile, options: Options) {
    const { world } = this
    const { seed, mix, castFor, print } = options
    const chance = new Stream(seed, mix)
    const history = new History(() => world.now - STARTED, print)
    const committed = (touched: ReadonlySet<string>) => {
      this.#commits++
      if (touched.size > 0) this.#touchedAt = world.now
      for (const table of touched) this.#touched.add(table)
    }
    // Few tasks at a time, so that work waits; or as many as there are.
    Object.assign(limits, { conductorTasksMax: chance.stream('limits').pick([2, 256]) })
    const callLockMs = limits.claimLockMs
    const circled = (line: string) =>
      this.#told({ check: 'deadlock', text: `${line} waits for someone who waits for it` })
    const below = { world, chance: chance.stream('network'), history, committed }
    const disk = database instanceof SqliteFile ? new Disk({ ...below, file: database }) : null
    const network = database instanceof SqliteFile ? null : new Network({ ...below, database, circled, callLockMs })
    const ground = (disk ?? network)!
    setFiles(disk)
    const machines = new Machines(chance.stream('machines'), history, () => world.now)
    const around = { world, chance: chance.stream('processes'), history, ground, machines }
    const roles = ground.castOf(mix) ?? chance.stream('roles').pick<Ground['casts'][number]>(ground.casts)
    const processes = roles.map((role, number) => new Process(`p${number}`, role, around))
    const told = (finding: Finding) => this.#told(finding)
    const clients = { world, chance: chance.stream('service'), history, processes, told }
    this.#service = new SimulatedService({ ...clients, isCalm: areCalm(options.faults) })
    this.#cast = castFor({
      mix,
      service: this.#service,
      chance: chance.stream('cast'),
      told,
      loadMs: wholeMsOf(options),
    })
    this.#inside = {
      dialect: ground.dialect,
      rows: (text, values) => world.hold(ground.rows(text, values)),
      now: () => world.now,
      takeOverMs: TAKE_OVER_MS,
      memories: () => processes.flatMap(({ name, memory }) => (memory ? [{ name, memory }] : [])),
      deeds: machines.deeds,
      conductors: () => processes.filter(({ role, isUp }) => role !== 'api' && isUp).map(({ name }) => name),
      outage: ground.outage,
    }
    this.#options = options
    this.#chance = chance
    this.#history = history
    this.#ground = ground
    this.#processes = processes
    this.#scene = { world, ground, machines, processes, history }
    this.#catalogue = disk ? diskFaults({ ...this.#scene, disk }) : networkFaults({ ...this.#scene, network: network! })
    world.afterStep = () => this.#check()
  }

  async play(): Promise<void> {
    const { world } = this
    const skews = this.#chance.stream('skews')
    const { skewMsMax } = this.#ground
    for (const process of this.#processes) process.start(skews.between(-skewMsMax, skewMsMax))
    const areUp = () => this.#processes.every(process => process.isUp)
    await world.runUntil(world.now + START_MS, areUp)
    if (!areUp()) return this.#told({ check: 'start', text: 'not all processes are up' })
    await this.#clients(PREPARE_MS, () => this.#cast.prepare())
    if (world.isStopped) return
    await this.#clients(
      this.#options.loadMs * 10 + ACT_MS,
      () => this.#cast.act(),
      () => this.#rounds(areUp),
    )
    const quietSince = world.now
    await this.#settle(areUp, quietSince)
    if (world.isStopped) return
    await this.#check({ isWhole: true })
    if (!areUp()) this.#told({ check: 'start', text: 'not all processes are up again' })
    this.#tellAll(await this.#cast.whenQuiet(this.#inside))
    await this.#clients(PREPARE_MS, async () => this.#tellAll(await this.#cast.examine(this.#inside, quietSince)))
  }

  stop(): void {
    for (const { owner } of this.#processes) if (owner) owner.isDead = true
    this.#service.owner.isDead = true
    this.#ground.stop()
  }

  result(): Omit<Result, 'realMs' | 'cpuMs'> {
    const { seed } = this.#options
    return {
      seed,
      findings: this.#findings,
      hash: this.#history.digest(),
      faults: this.#faults,
      steps: this.world.steps,
      commits: this.#commits,
      virtualMs: this.world.now - STARTED,
      story: this.#story,
    }
  }

  /** Code of a process failed where nobody catches it: the real process would end. */
  failed(error: unknown): void {
    const owner = this.world.current
    this.#told({ check: 'crash', text: `${owner?.name}: ${(error as Error).stack}` })
    this.#processes.find(process => process.owner === owner)?.crash()
  }

  /** Load and faults for a while, then a recess, in which memory must become right; and so on. */
  async #rounds(areUp: () => boolean): Promise<void> {
    const { world } = this
    const { faults: mix, loadMs, leftOut = new Set(), stepsMax = Infinity } = this.#options
    const faults = faultsOf(mix, this.#catalogue, this.#chance.stream('faults'), loadMs)
    this.#faults = faults.length
    const roundMs = Math.min(roundMsOf(mix), loadMs)
    const steps = world.steps + stepsMax
    for (let from = 0; from < loadMs && world.steps < steps && !world.isStopped; from += roundMs) {
      const now = faults.filter(({ at }) => at >= from && at < from + roundMs)
      unleash(
        this.#scene,
        this.#catalogue,
        now.map(fault => ({ ...fault, at: fault.at - from })),
        leftOut,
        this.#chance,
      )
      await world.runUntil(world.now + Math.min(roundMs, loadMs - from), () => world.steps >= steps)
      heal(this.#scene)
      if (from + roundMs < loadMs && !world.isStopped) await this.#recess(areUp)
    }
  }

  async #recess(areUp: () => boolean): Promise<void> {
    const { world } = this
    const end = world.now + recessMsOf(this.#options.faults)
    this.#service.hushUntil(end)
    await world.runUntil(end)
    // Machines, leases and ends of promises go on: what is committed just now can't be everywhere.
    if (areUp() && world.now - this.#touchedAt > FOLLOW_MS) this.#tellAll(await this.#cast.whenQuiet(this.#inside))
  }

  /** Lets clients work until they are done, and `meanwhile` be done. */
  async #clients(most: number, work: () => Promise<void>, meanwhile = async () => {}): Promise<void> {
    const { world } = this
    let isDone = false
    await world.as(this.#service.owner, () => {
      work().then(
        () => (isDone = true),
        (error: unknown) => this.#told({ check: 'clients', text: String((error as Error).stack) }),
      )
    })
    const began = world.now
    await meanwhile()
    await world.runUntil(began + most, () => isDone)
    if (!isDone && !world.isStopped) this.#told({ check: 'clients', text: 'they did not end in time' })
  }

  async #settle(areUp: () => boolean, quietSince: number): Promise<void> {
    const { world } = this
    const began = world.now
    let busyUntil = began
    await world.runUntil(began + SETTLE_MS.least)
    while (world.now < began + SETTLE_MS.most && !world.isStopped) {
      if (!areUp() || (await this.#ground.rows(BUSY)).length > 0) busyUntil = world.now
      else if (await this.#isSettled(world.now - busyUntil, quietSince)) return
      await world.runUntil(world.now + SETTLE_MS.look)
    }
  }

  /** Memory may be a moment behind the last change. */
  async #isSettled(restMs: number, quietSince: number): Promise<boolean> {
    const isBehind = restMs < SETTLE_MS.following && (await this.#cast.whenQuiet(this.#inside)).length > 0
    return !isBehind && this.#cast.isAtRest(this.#inside, quietSince)
  }

  async #check({ isWhole = false } = {}): Promise<void> {
    const touched = this.#touched
    if (touched.size === 0 && !isWhole) {
      if (this.world.steps % BETWEEN === 0) this.#tellAll(await this.#cast.between(this.#inside))
      return
    }
    this.#touched = new Set()
    const isAll = isWhole || ++this.#checks % WHOLE_CHECK === 0
    this.#tellAll(await this.#ground.violations(isAll ? undefined : touched))
    this.#tellAll(await this.#cast.afterCommit(this.#inside, touched))
  }

  #tellAll(findings: readonly Finding[]): void {
    for (const finding of findings) this.#told(finding)
  }

  #told(finding: Finding): void {
    // What is wrong stays wrong: it is told once.
    if (this.#findings.some(({ check, text }) => check === finding.check && text === finding.text)) return
    this.#history.add('finding', `${finding.check}: ${finding.text}`)
    if (this.#options.isHunt) this.world.isStopped = true
    if (this.#findings.push(finding) === 1) this.#story = this.#history.last(STORY_LINES)
  }
}
