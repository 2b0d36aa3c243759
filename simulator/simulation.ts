// One run: processes, clients and faults in one world, from a seed.
import { STARTED, setWorld } from './time.ts'
import { limits } from '../src/shared/limits.ts'
import { violations } from './checks/invariants.ts'
import { Stream } from './chance.ts'
import { claims, nodes } from './clients/first.ts'
import type { Server } from './database.ts'
import { History } from './history.ts'
import { Machines } from './machines.ts'
import { Network } from './network.ts'
import type { Finding } from './port.ts'
import { Process, type Role } from './processes.ts'
import { SimulatedService } from './service.ts'
import { real, World } from './world.ts'

export interface Options {
  seed: number
  print?: (line: string) => void
}

export interface Result {
  seed: number
  findings: readonly Finding[]
  hash: string
  steps: number
  lines: number
  commits: number
  checks: number
  virtualMs: number
  realMs: number
  last: readonly string[]
}

const ROLES: readonly Role[] = ['api', 'serve', 'conductor']

export async function simulate(server: Server, { seed, print }: Options): Promise<Result> {
  const began = real.now()
  const database = await server.create()
  const world = new World(STARTED)
  const chance = new Stream(seed)
  const history = new History(() => world.now - STARTED, print ?? null)
  const findings: Finding[] = []
  const told = (finding: Finding) => {
    history.add('finding', `${finding.check}: ${finding.text}`)
    findings.push(finding)
  }
  let commits = 0
  let checks = 0
  let isDirty = false
  const network = new Network({
    world,
    chance: chance.stream('network'),
    database,
    history,
    callLockMs: limits.claimLockMs,
    committed: () => {
      commits++
      isDirty = true
    },
  })
  const machines = new Machines(chance.stream('machines'), history)
  const around = { world, chance: chance.stream('processes'), history, network, machines, database: database.url }
  const processes = ROLES.map((role, number) => new Process(`p${number}`, role, around))
  const service = new SimulatedService({ world, chance: chance.stream('service'), history, processes, told })
  world.afterStep = async () => {
    if (!isDirty) return
    isDirty = false
    checks++
    for (const finding of await violations(database, network.sqlNow)) told(finding)
  }
  setWorld(world)
  try {
    for (const process of processes) process.start()
    await world.runUntil(STARTED + 30_000, () => processes.every(process => process.isUp))
    let busy = 0
    const actors = chance.stream('actors')
    await world.as(service.owner, () => {
      for (const [number, actor] of [claims, claims, nodes, nodes].entries()) {
        busy++
        void actor(service, actors.stream(String(number)), told).finally(() => busy--)
      }
    })
    await world.runUntil(STARTED + 60_000, () => busy === 0)
  } finally {
    for (const { owner } of processes) owner.isDead = true
    setWorld(null)
    network.stop()
    await database.close()
  }
  return {
    seed,
    findings,
    hash: history.digest(),
    steps: world.steps,
    lines: history.count,
    commits,
    checks,
    virtualMs: world.now - STARTED,
    realMs: Math.round(real.now() - began),
    last: history.last(200),
  }
}
