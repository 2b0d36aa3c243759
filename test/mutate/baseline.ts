// What each file of tests does without a mutant: whether it passes, how long it takes, what it runs. Kept among the temporary
// files until the tests change.
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { AREAS, ELSEWHERE } from './areas.ts'
import { coverageIn, isWithin, type Spans } from './coverage.ts'
import { type Job, nameOf } from '../support/files.ts'
import { ENDED, type Ground } from './ground.ts'
import { type Mutant, ROOT, sourcesOf } from './mutants.ts'

const FOLDER = join(tmpdir(), 'holdfast-mutate')
const LIMIT_MS = 300_000

interface Baseline {
  passes: boolean
  ms: number
  /** What it runs of each source, and the source's text then. */
  runs: Record<string, { hash: string; spans: Spans }>
}

const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
const placeOf = (job: Job) => join(FOLDER, `${hash(nameOf(job) + textOf(job.file))}.json`)

export const isUnitTest = ({ file }: Job): boolean => file.startsWith('src/')

export class Baselines {
  readonly #known = new Map<string, Baseline>()

  /** Runs those that aren't known yet. */
  async learn(ground: Ground, job: Job): Promise<Baseline> {
    const known = this.#known.get(nameOf(job)) ?? readBaseline(job)
    const baseline = known ?? (await measured(ground, job))
    this.#known.set(nameOf(job), baseline)
    return baseline
  }

  isKnown = (job: Job): boolean => this.#known.has(nameOf(job)) || existsSync(placeOf(job))

  limitMs = (job: Job): number => 20_000 + 6 * (this.#known.get(nameOf(job))?.ms ?? LIMIT_MS)
  ms = (job: Job): number => this.#known.get(nameOf(job))?.ms ?? 0
}

function readBaseline(job: Job): Baseline | undefined {
  const place = placeOf(job)
  return existsSync(place) ? (JSON.parse(readFileSync(place, 'utf8')) as Baseline) : undefined
}

async function measured(ground: Ground, job: Job): Promise<Baseline> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-coverage-'))
  const environment = { NODE_V8_COVERAGE: folder }
  const [verdict] = await ground.try({ mutant: null, jobs: [job], limitMsOf: () => LIMIT_MS, environment })
  const spans = Object.entries(coverageIn(folder))
  rmSync(folder, { recursive: true, force: true })
  const runs = Object.fromEntries(
    spans.flatMap(([source, ran]) =>
      existsSync(join(ROOT, source)) ? [[source, { hash: hash(textOf(source)), spans: ran }]] : [],
    ),
  )
  const baseline = { passes: verdict!.failure === null, ms: verdict!.ms, runs }
  mkdirSync(FOLDER, { recursive: true })
  if (verdict!.failure === ENDED) throw new Error(`the tests of ${job.file} can't be run`)
  if (baseline.passes) writeFileSync(placeOf(job), JSON.stringify(baseline))
  else console.log(`${nameOf(job)} is left out, because it fails without a mutant: ${verdict!.failure}`)
  return baseline
}

/** Whether these tests run the place of the mutant. What V8 doesn't see counts as run, and so does what has changed since. */
export function covers({ passes, runs }: Baseline, { file, start }: Mutant): boolean {
  if (!passes) return false
  if (file.endsWith('.sql')) return true
  const run = runs[file]
  return run !== undefined && (run.hash !== hash(textOf(file)) || isWithin(run.spans, start))
}

const IMPORT = /^(?:import|export) (?!type )[^;'"]*?from '(\.[^']+)'|^import '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm
const imports = new Map<string, readonly string[]>()

function importsOf(file: string): readonly string[] {
  const known = imports.get(file)
  if (known) return known
  const found = [...textOf(file).matchAll(IMPORT)].map(([, a, b, c]) => join(dirname(file), (a ?? b ?? c)!))
  const there = found.filter(one => existsSync(join(ROOT, one)))
  imports.set(file, there)
  return there
}

/** Unit tests that load the source, those of its own folder first. */
function unitTestsOf(source: string): string[] {
  const loads = (file: string, seen: Set<string>): boolean => {
    if (file === source) return true
    if (seen.has(file)) return false
    seen.add(file)
    return importsOf(file).some(one => loads(one, seen))
  }
  const tests = globSync('src/**/*.test.ts', { cwd: ROOT }).filter(file => file !== 'src/tidy.test.ts')
  const near = (file: string) => (dirname(file) === dirname(source) ? 0 : 1)
  return tests.filter(file => loads(file, new Set())).toSorted((a, b) => near(a) - near(b))
}

/** The tests that may tell a mutant of this source from the code: unit tests first. */
export function testsOf(source: string): string[] {
  const areas = Object.values(AREAS).filter(({ sources }) => sourcesOf(sources).includes(source))
  const patterns = areas.length > 0 ? areas.flatMap(({ tests }) => tests) : elsewhere(source)
  const overHttp = patterns.flatMap(pattern => globSync(pattern, { cwd: ROOT }).toSorted())
  const units = source.endsWith('.ts') ? unitTestsOf(source) : []
  return [...new Set([...units, ...overHttp])]
}

const elsewhere = (source: string) =>
  Object.entries(ELSEWHERE).flatMap(([room, tests]) => (source.startsWith(`${room}/`) ? tests : []))
