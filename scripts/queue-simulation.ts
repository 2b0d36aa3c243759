// A month of a lab in memory: who gets how much, with the real order, the real choice of nodes and the real count of what
// was used. Prints the tables of docs/QUEUE.md: node scripts/queue-simulation.ts
import { seeded } from '../src/clock/chance.ts'
import { CandidateTable } from '../src/ledger/candidates/table.ts'
import { propose, type Supply } from '../src/metal/allocations/matching.ts'
import { Fleet, type FleetNode } from '../src/metal/nodes/fleet.ts'
import { type EndedUse, type Usage, type Use, usagesAt } from '../src/metal/queue/fading.ts'
import type { Waiting } from '../src/metal/queue/line.ts'
import { inServingOrder, type QueueRules, type Standings, UNKNOWN } from '../src/metal/queue/order.ts'
import { limits } from '../src/shared/limits.ts'
import type { Store } from '../src/store/store.ts'
import { fleetNode } from '../test/support/fleet-node.ts'

const HOUR_MS = 3_600_000

interface Project {
  name: string
  share?: number
  priority?: number
  /** It always has so many that wait; 0 for one that comes now and then. */
  waits: number
  /** The hours between two wishes of one that comes now and then. */
  everyHours?: number
  /** How long it has a node, from and to. */
  hours: readonly [number, number]
}

interface Scenario {
  nodes: number
  days: number
  seed: number
  rules: QueueRules
  projects: readonly Project[]
}

interface Result {
  name: string
  share: number
  priority: number
  alwaysWaits: boolean
  nodeHours: number
  served: number
  /** Of a wish, from asking to getting. */
  longestWaitHours: number
  meanWaitHours: number
  /** The longest time in which the project waited and got nothing. */
  longestGapHours: number
}

interface Job extends Waiting {
  lastsMs: number
}

interface Running {
  job: Job
  node: FleetNode
  use: Use
  end: number
}

export function simulate({ nodes, days, seed, rules, projects }: Scenario): Result[] {
  const random = seeded(seed)
  const supply = supplyOf(nodes)
  const end = days * 24 * HOUR_MS
  const tallies = new Map(projects.map(({ name }) => [name, { used: 0, waits: [] as number[], gap: 0, from: 0 }]))
  const waiting = new Set<Job>()
  const running = new Set<Running>()
  const due = new Map(projects.map(({ name, everyHours = Infinity }) => [name, everyHours * HOUR_MS * random()]))
  let [usages, ended, next]: [Usage[], EndedUse[], number] = [[], [], 1]

  const ask = ({ name, hours: [from, to] }: Project, now: number) => {
    const tally = tallies.get(name)!
    if (![...waiting].some(({ project }) => project === name)) tally.from = now
    const id = next++
    const kind = { name: null, resourceClass: 'gpu', traits: [], candidates: null, owner: null }
    const lastsMs = (from + (to - from) * random()) * HOUR_MS
    waiting.add({ id, uuid: `${id}`, project: name, since: now, until: null, waitUntil: null, ...kind, lastsMs })
  }
  const askAll = (now: number) => {
    for (const project of projects) {
      const { name, waits, everyHours } = project
      const present = [...waiting].filter(job => job.project === name).length
      for (let i = present; i < waits; i++) ask(project, now)
      if (everyHours === undefined || due.get(name)! > now) continue
      ask(project, now)
      due.set(name, now + everyHours * HOUR_MS * 2 * random())
    }
  }
  const standings = (): Standings =>
    new Map(
      projects.map(({ name, priority = 0, share = 1 }) => {
        const usage = usages.find(({ project_id }) => project_id === name)
        return [name, { priority, share, used: usage?.used ?? UNKNOWN.used, servedAt: usage?.served_at ?? null }]
      }),
    )
  const serve = (now: number) => {
    const line = inServingOrder([...waiting], standings(), rules)
    for (const [job, node] of propose(supply, line, new Set(), random) as Map<Job, FleetNode>) {
      waiting.delete(job)
      occupy(supply.fleet, node, job.uuid)
      running.add({ job, node, use: { project_id: job.project, from_at: now }, end: now + job.lastsMs })
      const tally = tallies.get(job.project)!
      tally.waits.push(now - job.since)
      tally.gap = Math.max(tally.gap, now - Math.max(tally.from, job.since))
      tally.from = now
    }
  }
  const release = (one: Running, now: number) => {
    running.delete(one)
    ended.push({ ...one.use, until_at: now })
    tallies.get(one.job.project)!.used += now - one.use.from_at
    occupy(supply.fleet, one.node, null)
  }

  for (let now = 0; now < end;) {
    askAll(now)
    serve(now)
    now = Math.min(...[...running].map(one => one.end), ...due.values())
    // The last count before that. How often it is counted changes nothing of what is counted.
    const countedAt = now - (now % limits.usageCountMs)
    usages = usagesAt(
      { before: usages, ended, running: [...running].map(({ use }) => use) },
      rules.halfLifeMs,
      countedAt,
    )
    ended = []
    for (const one of running) if (one.end <= now) release(one, now)
  }
  for (const one of running) release(one, end)
  for (const { project, since } of waiting) {
    const tally = tallies.get(project)!
    tally.gap = Math.max(tally.gap, end - Math.max(tally.from, since))
  }
  return projects.map(({ name, share = 1, priority = 0, waits }) => {
    const tally = tallies.get(name)!
    return {
      name,
      share,
      priority,
      alwaysWaits: waits > 0,
      nodeHours: tally.used / HOUR_MS,
      served: tally.waits.length,
      longestWaitHours: Math.max(0, ...tally.waits) / HOUR_MS,
      meanWaitHours: tally.waits.reduce((sum, ms) => sum + ms, 0) / Math.max(1, tally.waits.length) / HOUR_MS,
      longestGapHours: tally.gap / HOUR_MS,
    }
  })
}

/** What each of those that always wait should have of what they have together, and has; from 0 to 1. */
export function shares(results: readonly Result[]): { name: string; due: number; actual: number }[] {
  const those = results.filter(({ alwaysWaits }) => alwaysWaits)
  const sum = (part: (one: Result) => number) => those.reduce((total, one) => total + part(one), 0)
  const [all, used] = [sum(({ share }) => share), sum(({ nodeHours }) => nodeHours)]
  return those.map(({ name, share, nodeHours }) => ({ name, due: share / all, actual: nodeHours / used }))
}

function supplyOf(count: number): Supply {
  const fleet = new Fleet(null as unknown as Store)
  const table = new CandidateTable()
  const units = { total: 1, reserved: 0, minUnit: 1, maxUnit: 1, stepSize: 1, allocationRatio: 1, used: 0 }
  const nodes = Array.from({ length: count }, (_, i) => fleetNode(i + 1))
  void fleet.absorb(nodes.map(attached))
  table.load(
    nodes.map(({ provider_id: id, uuid }) => ({
      id,
      uuid,
      name: uuid,
      generation: 1,
      parentId: null,
      rootId: id,
      traits: [],
      aggregates: [],
      inventories: [{ resourceClass: 'CUSTOM_GPU', ...units, blocked: false }],
    })),
  )
  return { fleet, table }
}

const attached = (node: FleetNode) => ({ provider: node.provider_id, room: 'metal' as const, attached: node })

function occupy(fleet: Fleet, { provider_id }: FleetNode, instance_uuid: string | null): void {
  const node = fleet.ofProvider(provider_id)!
  void fleet.absorb([attached({ ...node, instance_uuid, revision: node.revision + 1 })])
}

const DAY_MS = 24 * HOUR_MS

export const LAB: Omit<Scenario, 'rules'> = {
  nodes: 12,
  days: 30,
  seed: 1,
  projects: [
    { name: 'greedy', waits: 200, hours: [4, 12] },
    { name: 'steady', waits: 5, hours: [1, 8] },
    { name: 'modest', share: 2, waits: 1, hours: [1, 4] },
    { name: 'visitor', waits: 0, everyHours: 12, hours: [1, 3] },
  ],
}

export const FAIR: QueueRules = { order: 'fair', halfLifeMs: 7 * DAY_MS }
export const FIFO: QueueRules = { order: 'fifo', halfLifeMs: 7 * DAY_MS }

const rounded = (value: number) => (Math.round(value * 10) / 10).toString()

function table(results: readonly Result[]): string {
  const parts = new Map(shares(results).map(one => [one.name, one]))
  const percent = (part: number | undefined) => (part === undefined ? '' : `${rounded(part * 100)} %`)
  const rows = results.map(one => [
    one.name,
    `${one.share}`,
    `${one.priority}`,
    percent(parts.get(one.name)?.due),
    percent(parts.get(one.name)?.actual),
    rounded(one.nodeHours),
    `${one.served}`,
    rounded(one.meanWaitHours),
    rounded(one.longestWaitHours),
    rounded(one.longestGapHours),
  ])
  const head = ['project', 'share', 'priority', 'due', 'had', 'node-hours', 'served']
  const waits = ['mean wait, h', 'longest wait, h', 'longest without a node, h']
  return [[...head, ...waits], Array(10).fill('---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

if (import.meta.main) {
  const ranked = LAB.projects.map(one => ({ ...one, priority: { greedy: 3, modest: -3 }[one.name] ?? 0 }))
  for (const [title, scenario] of [
    ['fifo', { ...LAB, rules: FIFO }],
    ['fair', { ...LAB, rules: FAIR }],
    ['fair, with priorities', { ...LAB, rules: FAIR, projects: ranked }],
    ['fifo, with priorities', { ...LAB, rules: FIFO, projects: ranked }],
  ] as const) {
    console.log(`\n${title}\n\n${table(simulate(scenario))}`)
  }
}
