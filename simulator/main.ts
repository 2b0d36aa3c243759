// npm run simulate: runs seeds of the simulator, as many at a time as there are cores.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { ANY, areFaults, chosen, isMix } from './choice.ts'
import { Worker } from './employed.ts'
import { AIMED as AIMED_FAULTS, MIXES as FAULTS } from './faults.ts'
import { AIMED, MIXES } from './mixes.ts'
import type { Dialect } from '../src/store/statement.ts'
import type { Outcome } from './worker.ts'

const STORY_LINES = 60
/** What has crashed in a simulation is never collected: some 15 MB a seed. */
const SEEDS_PER_WORKER = 40

const HELP = `usage: npm run simulate -- [options]
  --seed <n>       the first seed (1)
  --seeds <n>      how many seeds, one after the other (1)
  --every <n>      only each n-th of them: with the number of mixes and one more, seeds in a row differ in mix and in
                   faults (1)
  --store <name>   postgres or sqlite (postgres)
  --mix <name>     which clients act; by default each seed has another mix
  --faults <name>  which faults happen: ${Object.keys(FAULTS).join(', ')};
                   by default all of these in turn, without those aimed at certain bugs: ${Object.keys(AIMED_FAULTS).join(', ')}
  --only <list>    only these faults, by number, with commas between
  --load <s>       for how many virtual seconds the clients act (3)
  --steps <n>      the load ends after so many events at the latest
  --workers <n>    how many runs at a time (one for each core)
  --mutants        runs the mutants, or those that are named, each with its own mix, faults and seeds
  --trace          prints all that happens
  --whole          leaves a failure as it is: doesn't look for the faults that it needs`

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string' },
    every: { type: 'string', default: '1' },
    store: { type: 'string', default: 'postgres' },
    mix: { type: 'string', default: ANY },
    faults: { type: 'string', default: ANY },
    only: { type: 'string' },
    load: { type: 'string' },
    steps: { type: 'string' },
    workers: { type: 'string', default: String(availableParallelism()) },
    mutants: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    whole: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const whole = (name: string, text: string, least = 1): number => {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= least) return number
  console.error(`--${name} must be a whole number from ${least}, not '${text}'`)
  return process.exit(2)
}

const load = given.load ?? '3'

function tell({ result, kept }: Outcome, { mix, faults: kinds }: { mix: string; faults: string }): void {
  const { seed, findings, hash, steps, commits, virtualMs, realMs, faults } = result
  const facts = `${faults} faults, ${steps} events, ${commits} commits, ${(virtualMs / 1_000).toFixed(1)} virtual s in ${(realMs / 1_000).toFixed(1)} s`
  console.log(`seed ${seed}: ${findings.length === 0 ? 'green' : 'RED'}, hash ${hash}, ${mix}, ${kinds}: ${facts}`)
  if (findings.length === 0) return
  for (const { check, text } of findings) console.log(`  ${check}: ${text}`)
  for (const line of result.story.filter(line => / fault /.test(line.slice(0, 30)))) console.log(`  ${line}`)
  console.log('  what happened before it was found:')
  for (const line of result.story.slice(-STORY_LINES)) console.log(`    ${line.slice(0, 240)}`)
  const only = kept === null ? '' : ` --only '${kept.join(',')}'`
  console.log(
    `  to see all of it: npm run simulate -- --seed ${seed} --store ${given.store} --mix ${mix} --faults ${kinds} --load ${load}${only} --trace`,
  )
}

if (given.help) {
  console.log(HELP)
  process.exit(0)
}
if (given.mutants) {
  const { runMutants } = await import('./mutation.ts')
  const workers = whole('workers', given.workers)
  const load = given.load === undefined ? {} : { loadMs: whole('load', given.load) * 1_000 }
  const seeds = given.seeds === undefined ? {} : { seeds: whole('seeds', given.seeds) }
  process.exit((await runMutants({ names: positionals, workers, ...load, ...seeds })) > 0 ? 1 : 0)
}
const first = whole('seed', given.seed, 0)
const every = whole('every', given.every)
const seeds = Array.from({ length: whole('seeds', given.seeds ?? '1') }, (_, place) => first + place * every)
const wish = {
  store: given.store as Dialect,
  mix: given.mix,
  faults: given.faults,
  loadMs: whole('load', load) * 1_000,
  ...(given.steps && { stepsMax: whole('steps', given.steps) }),
  ...(given.only !== undefined && {
    only: given.only
      .split(',')
      .filter(Boolean)
      .map(text => whole('only', text, 0)),
  }),
  isTraced: given.trace,
  isMinimised: !given.whole,
}
if (!['postgres', 'sqlite'].includes(wish.store)) {
  console.error(`there is no store '${wish.store}'; there are postgres, sqlite`)
  process.exit(2)
}
if (!areFaults(wish.faults)) {
  console.error(
    `there are no faults '${wish.faults}'; there are ${Object.keys({ ...FAULTS, ...AIMED_FAULTS }).join(', ')}`,
  )
  process.exit(2)
}
if (!isMix(wish.mix)) {
  console.error(`there is no mix '${wish.mix}'; there are ${Object.keys({ ...MIXES, ...AIMED }).join(', ')}`)
  process.exit(2)
}
const left = [...seeds]
const began = performance.now()
const results: Outcome['result'][] = []
const work = async () => {
  let worker = new Worker()
  let done = 0
  for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
    if (++done % SEEDS_PER_WORKER === 0) {
      await worker.end()
      worker = new Worker()
    }
    const choice = chosen(seed, wish)
    const outcome = await worker.run({ seed, ...wish, ...choice })
    tell(outcome, choice)
    results.push({ ...outcome.result, story: [] })
  }
  await worker.end()
}
await Promise.all(Array.from({ length: Math.min(whole('workers', given.workers), seeds.length) }, work))
const red = results.filter(({ findings }) => findings.length > 0).length
if (seeds.length > 1) sum()
process.exitCode = red > 0 ? 1 : 0

/** What all of them were together. */
function sum(): void {
  const all = (of: (result: Outcome['result']) => number) => results.reduce((total, result) => total + of(result), 0)
  const minutes = (performance.now() - began) / 60_000
  const load = `${all(({ faults }) => faults)} faults, ${all(({ steps }) => steps)} events, ${all(({ commits }) => commits)} commits`
  const virtual = Math.round(all(({ virtualMs }) => virtualMs) / 1_000)
  console.log(`${seeds.length - red} of ${seeds.length} seeds are green: ${load}, ${virtual} virtual s`)
  console.log(
    `${(seeds.length / minutes).toFixed(0)} seeds a minute, ${Math.round(all(({ cpuMs }) => cpuMs) / seeds.length)} ms of CPU each, without PostgreSQL's`,
  )
}
