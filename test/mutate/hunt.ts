// Which test kills a mutant, or which seed of the simulator finds it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from '../../simulator/employed.ts'
import type { Dialect } from '../../src/store/statement.ts'
import { hasBoth, type Job, nameOf } from '../support/files.ts'
import { type Baselines, covers, isUnitTest, testsOf } from './baseline.ts'
import { coverageIn, isWithin, type Spans } from './coverage.ts'
import type { Ground } from './ground.ts'
import { isThere, type Mutant } from './mutants.ts'

export interface Fate {
  mutant: Mutant
  /**
   * `undecided`: some tests that run its place were not asked, for lack of time. `unreached`: no test runs its place.
   */
  fate: 'unit' | 'http' | 'simulator' | 'survived' | 'undecided' | 'unreached'
  /** What found it. */
  by: string
}

interface Hunt {
  ground: Ground
  baselines: Baselines
  /** How long the tests of one mutant may take. */
  eachMs: number
  isOver: () => boolean
}

/** Kills of a file's mutants, by test file: who killed one is asked first for the next. */
const killers = new Map<string, number>()

export async function hunt(mutant: Mutant, options: Hunt): Promise<Fate> {
  if (!isThere(mutant)) return { mutant, fate: 'undecided', by: 'the file was changed meanwhile' }
  const files = testsOf(mutant.file)
  // Most of the code is the same on both databases, and SQLite is quicker. What only one of them has is in its own SQL.
  const kinds = mutant.file.endsWith('.sqlite.sql')
    ? (['sqlite'] as const)
    : mutant.file.endsWith('.postgres.sql')
      ? (['postgres'] as const)
      : (['sqlite', 'postgres'] as const)
  for (const only of kinds) {
    const jobs: Job[] = files.flatMap(file =>
      isUnitTest({ file }) || !hasBoth(file) ? (only === kinds[0] ? [{ file }] : []) : [{ file, only }],
    )
    const fate = await huntIn(mutant, jobs, options)
    if (fate.fate !== 'unreached') return fate
  }
  return { mutant, fate: 'unreached', by: '' }
}

async function huntIn(mutant: Mutant, all: readonly Job[], { ground, baselines, eachMs, isOver }: Hunt): Promise<Fate> {
  const jobs: Job[] = []
  for (const job of all) {
    if (isOver() && !baselines.isKnown(job)) return { mutant, fate: 'undecided', by: 'out of time' }
    if (covers(await baselines.learn(ground, job), mutant)) jobs.push(job)
  }
  if (jobs.length === 0) return { mutant, fate: 'unreached', by: '' }
  const price = (job: Job) => baselines.ms(job) / (1 + (killers.get(`${mutant.file} ${job.file}`) ?? 0))
  const sorted = jobs.toSorted((a, b) => Number(!isUnitTest(a)) - Number(!isUnitTest(b)) || price(a) - price(b))
  const asked: Job[] = []
  let ms = 0
  for (const job of sorted) if ((ms += baselines.ms(job)) <= eachMs || asked.length === 0) asked.push(job)
  const verdicts = await ground.try({ mutant, jobs: asked, limitMsOf: baselines.limitMs })
  const { job, failure } = verdicts.at(-1)!
  if (failure === null) {
    const left = jobs.length - asked.length
    return { mutant, fate: left > 0 ? 'undecided' : 'survived', by: `${asked.length} of ${jobs.length} files pass` }
  }
  const pair = `${mutant.file} ${job.file}`
  killers.set(pair, (killers.get(pair) ?? 0) + 1)
  return { mutant, fate: isUnitTest(job) ? 'unit' : 'http', by: `${nameOf(job)}: ${failure}` }
}

const SEED_LIMIT_MS = 120_000
const wishFor = (seed: number, mix: string, store: Dialect) =>
  ({ seed, store, mix, faults: 'none', loadMs: 3_000, isTraced: false, isMinimised: false }) as const

/** What the clients of each mix run, by the first two seeds. */
const reached = new Map<string, Promise<Record<string, Spans>>>()

async function reachOf(mix: string, store: Dialect): Promise<Record<string, Spans>> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-coverage-'))
  const worker = new Worker(undefined, { NODE_V8_COVERAGE: folder })
  for (const seed of [1, 2]) await worker.run(wishFor(seed, mix, store))
  await worker.end()
  const found = coverageIn(folder)
  rmSync(folder, { recursive: true, force: true })
  return found
}

/** Seeds without faults, of the mixes that run its place, until something is found. */
export async function simulate(mutant: Mutant, mixes: readonly string[], seeds: number): Promise<Fate> {
  const store = mutant.file.endsWith('.postgres.sql') ? 'postgres' : 'sqlite'
  const able: string[] = []
  for (const mix of mixes) {
    const reach = await reached.getOrInsertComputed(`${mix} ${store}`, () => reachOf(mix, store))
    if (mutant.file.endsWith('.sql') || isWithin(reach[mutant.file] ?? [], mutant.start)) able.push(mix)
  }
  if (able.length === 0) return { mutant, fate: 'unreached', by: `by ${mixes.join(', ')}` }
  const worker = new Worker(JSON.stringify(mutant))
  let last = ''
  const late = setTimeout(() => worker.kill(), SEED_LIMIT_MS)
  try {
    for (let seed = 1; seed <= seeds; seed++) {
      late.refresh()
      const mix = able[(seed - 1) % able.length]!
      last = `seed ${seed} of ${mix}`
      const { result } = await worker.run({ ...wishFor(seed, mix, store), isHunt: true })
      const [finding] = result.findings
      if (finding) return { mutant, fate: 'simulator', by: `${last}: ${finding.check}: ${finding.text.slice(0, 160)}` }
    }
    await worker.end()
    return { mutant, fate: 'survived', by: `${seeds} seeds of ${able.join(', ')}` }
  } catch (error) {
    return { mutant, fate: 'simulator', by: `${last}: ${(error as Error).message.slice(0, 160)}` }
  } finally {
    clearTimeout(late)
    worker.kill()
  }
}
