// npm run mutate: changes the domain by rule, one place at a time, and sees whether some test notices.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { AREAS } from './areas.ts'
import { Baselines } from './baseline.ts'
import { Ground } from './ground.ts'
import { type Fate, hunt, simulate } from './hunt.ts'
import { described, judgementOf, type Mutant, mutantsOf, ROOT, sampleOf, sourcesOf } from './mutants.ts'

const HELP = `usage: npm run mutate -- [options] [areas and paths]
Areas: ${Object.keys(AREAS).join(', ')} (all of them if nothing is named). Paths: files and folders of src/.
  --sample <n>     so many mutants of each area, path or change; always the same ones for a seed (40)
  --seed <n>       another sample (1)
  --all            every mutant, instead of a sample
  --changed        only mutants in lines that differ from --since; fails if one survives that isn't judged
  --since <ref>    what to compare with (where this branch left main; on main, the commit before)
  --budget <s>     begin nothing new after so many seconds
  --each <s>       how long the tests of one mutant may take, as they take without it (90)
  --workers <n>    how many trials at a time, each with a PostgreSQL of its own (1)
  --simulator      asks the simulator alone, instead of the tests
  --seeds <n>      how many seeds of the simulator for each mutant (5)
  --key <list>     only these mutants, by the key that is printed with a survivor
  --list           only lists the mutants
  --out <file>     writes all fates as JSON`

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    all: { type: 'boolean', default: false },
    changed: { type: 'boolean', default: false },
    since: { type: 'string' },
    budget: { type: 'string', default: 'Infinity' },
    each: { type: 'string', default: '90' },
    workers: { type: 'string', default: '1' },
    simulator: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '5' },
    key: { type: 'string' },
    list: { type: 'boolean', default: false },
    out: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (given.help) {
  console.log(HELP)
  process.exit(0)
}
const number = (name: 'sample' | 'seed' | 'budget' | 'each' | 'workers' | 'seeds'): number => {
  const value = Number(given[name])
  if (value > 0) return value
  console.error(`--${name} must be a number above 0, not '${given[name]}'`)
  return process.exit(2)
}

/** The share of mutants in an area that some test must kill. */
const SHARE = 0.9
const began = performance.now()
const isOver = () => performance.now() - began > number('budget') * 1_000
const groups = new Map<string, Mutant[]>()
for (const [name, mutants] of given.changed ? [['changed', inChangedLines()] as const] : named()) {
  const wanted = given.key ? mutants.filter(({ key }) => given.key!.split(',').includes(key)) : mutants
  groups.set(name, given.all || given.key ? [...wanted] : sampleOf(wanted, number('sample'), number('seed')))
  console.log(`${name}: ${groups.get(name)!.length} of ${mutants.length} mutants`)
}
if (given.list) {
  for (const mutant of [...groups.values()].flat()) console.log(`${mutant.key} ${mutant.name} ${described(mutant)}`)
  process.exit(0)
}
const fates = await decided([...groups.values()].flat())
report()
if (given.out) writeFileSync(given.out, JSON.stringify(fates, null, 1))

function named(): [string, Mutant[]][] {
  const names = positionals.length > 0 ? positionals : Object.keys(AREAS)
  return names.map(name => {
    const sources = sourcesOf(AREAS[name]?.sources ?? [name])
    if (sources.length === 0) {
      console.error(`there is no area and no source '${name}'; there are ${Object.keys(AREAS).join(', ')}`)
      process.exit(2)
    }
    return [name, sources.flatMap(mutantsOf)]
  })
}

/** Of all of src but what only shows: commands, the API's tables and the dashboard. */
function inChangedLines(): Mutant[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
  const since = given.since ?? sinceMain(git)
  const diff = git('diff', '--unified=0', '--no-color', since, '--', 'src')
  const lines = new Map<string, Set<number>>()
  let file = ''
  for (const line of diff.split('\n')) {
    if (line.startsWith('+++ ')) file = line.slice('+++ b/'.length)
    const [, from, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? []
    if (from === undefined) continue
    const changed = lines.get(file) ?? new Set()
    for (let i = 0; i < Number(count); i++) changed.add(Number(from) + i)
    lines.set(file, changed)
  }
  const rooms = /^src\/(ledger|leases|quotas|metal|compute|webhooks|identity|audit|events|calendars|status|store)\//
  return sourcesOf([...lines.keys()].filter(name => rooms.test(name) && /\.(ts|sql)$/.test(name)))
    .flatMap(mutantsOf)
    .filter(({ file, line }) => lines.get(file)!.has(line))
}

function sinceMain(git: (...args: string[]) => string): string {
  try {
    const left = git('merge-base', 'HEAD', 'main')
    return left === git('rev-parse', 'HEAD') && git('status', '--porcelain') === '' ? git('rev-parse', 'HEAD~1') : left
  } catch {
    console.log('This clone has no main and nothing before it: there is nothing to compare with.')
    return process.exit(0)
  }
}

async function decided(mutants: readonly Mutant[]): Promise<Fate[]> {
  const left = [...mutants]
  const found: Fate[] = []
  const baselines = new Baselines()
  const work = async () => {
    const ground = given.simulator ? null : await Ground.make()
    try {
      for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
        if (isOver()) found.push({ mutant, fate: 'undecided', by: 'out of time' })
        else found.push(await fateOf(mutant, ground, baselines))
        tell(found.at(-1)!, found.length, mutants.length)
      }
    } finally {
      await ground?.stop()
    }
  }
  await Promise.all(Array.from({ length: Math.min(number('workers'), mutants.length) }, work))
  return found
}

function fateOf(mutant: Mutant, ground: Ground | null, baselines: Baselines): Promise<Fate> {
  if (ground) return hunt(mutant, { ground, baselines, eachMs: number('each') * 1_000, isOver })
  const mixes = Object.values(AREAS).find(({ sources }) => sourcesOf(sources).includes(mutant.file))?.mixes
  return simulate(mutant, mixes ?? ['everything'], number('seeds'))
}

function tell({ mutant, fate, by }: Fate, done: number, all: number): void {
  const seconds = ((performance.now() - began) / 1_000).toFixed(0)
  console.log(`[${done}/${all}, ${seconds} s] ${fate}: ${mutant.name} ${described(mutant)} (${by.slice(0, 160)})`)
}

function report(): void {
  const isFound = ({ fate }: Fate) => ['unit', 'http', 'simulator'].includes(fate)
  const live = fates.filter(fate => !isFound(fate))
  for (const { mutant, fate, by } of live) {
    const why = judgementOf(mutant)
    console.log(`\n${fate}${why === undefined ? '' : ', judged'}: ${mutant.name}, key ${mutant.key} (${why ?? by})`)
    console.log(`  ${mutant.source}\n  ${described(mutant)}`)
  }
  console.log('')
  let isBad = false
  for (const [name, mutants] of groups) {
    const own = fates.filter(({ mutant }) => mutants.includes(mutant))
    const judged = own.filter(fate => !isFound(fate) && judgementOf(fate.mutant) !== undefined)
    const count = (kind: Fate['fate']) => own.filter(({ fate }) => fate === kind).length
    const killed = own.filter(isFound).length
    const share = killed / (own.length - judged.length)
    const survivors = own.filter(fate => ['survived', 'unreached'].includes(fate.fate) && !judged.includes(fate))
    isBad ||= given.changed ? survivors.length > 0 : !given.simulator && share < SHARE
    const run = own.length - count('unreached')
    const how = given.simulator
      ? `found (it runs ${run}, and finds ${((100 * killed) / run).toFixed(0)} % of them)`
      : `killed (${count('unit')} by unit tests, ${count('http')} over HTTP)`
    const rest = `${survivors.length} survive, ${count('undecided')} undecided, ${judged.length} judged`
    console.log(`${name}: ${killed} of ${own.length} ${how}, ${rest}: ${(share * 100).toFixed(0)} %`)
  }
  if (isBad) process.exitCode = 1
}
