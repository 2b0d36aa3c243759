// Compares this tree with the last release, in turns, and fails when something lost more than it may.
import { type GuardLoad, LOADS, makeWorld, type World } from './guard-loads.ts'
import { inWords, isDoubtful, isLost, LOSS_MAX, type Look, lookAt, type Round, type Turn } from './guard-verdict.ts'
import type { BenchOptions, StoreName } from './options.ts'
import { checkOut, findRelease } from './release.ts'
import { figure, type Report } from './report.ts'
import { freePort, holdfast, startServer } from './server.ts'
import { median } from './statistics.ts'
import { openStore } from './stores.ts'

/** The time of other benches, cut into shorter turns: other load on the machine then meets both alike. */
const PARTS = 8
/** CPU is counted in hundredths of a second. */
const TURN_SECONDS_MIN = 0.25
const WARM_UP_ROUNDS = 2
const ENDLESS = 1_000_000

interface Side {
  world: World
  /** Of the server and its database. */
  cpuSeconds(): number
  stop(): Promise<void>
}

interface Sides {
  ours: Side
  theirs: Side
}

export async function benchGuard(options: BenchOptions): Promise<Report> {
  const release = findRelease(options.against)
  options.progress(`${release.title}: checking out`)
  const command = checkOut(release)
  const report: Report = {
    title: `This tree beside ${release.title}: at most ${LOSS_MAX * 100} % may be lost`,
    measured: {
      columns: ['request', 'clients', 'a second then', 'now', 'times', 'CPU µs then', 'now', 'times', ''],
      rows: [],
    },
    limits: { columns: ['besides', ''], rows: [] },
    goals: [],
    faults: [],
  }
  for (const name of options.stores) {
    options.progress(`${name}: filling`)
    const nodes = Math.ceil(options.nodes / 50)
    const theirs = await startSide(name, command, nodes)
    const ours = await startSide(name, holdfast, nodes)
    try {
      await compareAll({ ours, theirs }, name, options, report)
    } finally {
      await ours.stop()
      await theirs.stop()
    }
  }
  return report
}

/** Each has its own database server, so that neither's writes are the other's. */
async function startSide(name: StoreName, command: string, nodes: number): Promise<Side> {
  const store = await openStore(name)
  const port = await freePort()
  const argv = [command, 'serve', '--port', `${port}`, '--database', await store.database(), '--auth', 'noauth2']
  const server = await startServer({ argv, port, readyPath: '/placement/' })
  const stop = async () => {
    await server.stop()
    await store.stop()
  }
  try {
    const world = await makeWorld(port, nodes)
    return { world, cpuSeconds: () => server.cpuSeconds() + store.cpuSeconds(), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Compared {
  load: GuardLoad
  count: number
  rounds: Round[]
}

async function compareAll(sides: Sides, store: StoreName, options: BenchOptions, report: Report): Promise<void> {
  const seconds = Math.max(TURN_SECONDS_MIN, options.seconds / PARTS)
  const compared: Compared[] = []
  for (const load of LOADS) {
    options.progress(`${store}: ${load.name}, how many fit a turn`)
    compared.push({ load, count: await countFor(load, sides, seconds), rounds: [] })
  }
  const look = async (some: readonly Compared[], rounds: number) => {
    for (let at = 1; at <= rounds; at++) {
      for (const one of some) {
        options.progress(`${store}: round ${at} of ${rounds}, ${one.load.name}`)
        one.rounds.push(await runRound(one, sides, at % 2 === 0))
      }
    }
  }
  await look(compared, WARM_UP_ROUNDS)
  for (const one of compared) {
    // Both are faster now than they were at first.
    one.count = Math.ceil(
      seconds * Math.min(...one.rounds.flatMap(({ ours, theirs }) => [ours.perSecond, theirs.perSecond])),
    )
    one.rounds = []
  }
  await look(compared, options.rounds * PARTS)
  const first = new Map(compared.map(one => [one, lookAt(one.rounds)]))
  const doubtful = compared.filter(one => isDoubtful(first.get(one)!))
  const again = doubtful.map(one => ({ ...one, rounds: [] }))
  await look(again, options.rounds * PARTS)
  for (const one of compared) {
    const second = again[doubtful.indexOf(one)]
    const looks = [first.get(one)!, ...(second ? [lookAt(second.rounds)] : [])]
    tell({ ...one, rounds: second?.rounds ?? one.rounds }, looks, store, report)
  }
}

/** How many requests fill a turn of the slower one. */
async function countFor(load: GuardLoad, sides: Sides, seconds: number): Promise<number> {
  for (let count = load.connections * 2; count < ENDLESS; count *= 4) {
    const { ours, theirs } = await runRound({ load, count }, sides, false)
    const slowest = count / Math.min(ours.perSecond, theirs.perSecond)
    if (slowest > seconds / 3) return Math.ceil((count * seconds) / slowest)
  }
  throw new Error(`${load.name}: no number of requests fills ${seconds} s`)
}

async function runRound(one: Pick<Compared, 'load' | 'count'>, sides: Sides, oursFirst: boolean): Promise<Round> {
  if (oursFirst) {
    const ours = await runTurn(one, sides.ours)
    return { ours, theirs: await runTurn(one, sides.theirs) }
  }
  const theirs = await runTurn(one, sides.theirs)
  return { ours: await runTurn(one, sides.ours), theirs }
}

async function runTurn({ load, count }: Pick<Compared, 'load' | 'count'>, side: Side): Promise<Turn> {
  await load.prepare?.(side.world, count)
  const before = side.cpuSeconds()
  const seconds = await load.run(side.world, count)
  return { perSecond: count / seconds, cpuMicroseconds: ((side.cpuSeconds() - before) / count) * 1e6 }
}

function tell({ load, rounds }: Compared, looks: readonly Look[], store: StoreName, report: Report): void {
  const of = (value: (round: Round) => number) => figure(median(rounds.map(value)))
  const { rateTimes, cpuTimes } = looks.at(-1)!
  const [first, second] = looks
  const lost = isLost(first!, second)
  const what = `${store}: ${load.name}`
  report.measured.rows.push([
    what,
    load.connections,
    of(({ theirs }) => theirs.perSecond),
    of(({ ours }) => ours.perSecond),
    rateTimes.toFixed(2),
    of(({ theirs }) => theirs.cpuMicroseconds),
    of(({ ours }) => ours.cpuMicroseconds),
    cpuTimes.toFixed(2),
    lost ? 'lost' : second ? 'looked at twice' : '',
  ])
  if (lost) report.faults.push(inWords(what, looks))
}
