// npm run simulate: runs seeds of the simulator, as many at a time as there are cores.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Worker } from './employed.ts'
import { MIXES as FAULTS } from './faults.ts'
import { MIXES } from './mixes.ts'
import type { Outcome } from './worker.ts'

const STORY_LINES = 60

const HELP = `usage: npm run simulate -- [options]
  --seed <n>       the first seed (1)
  --seeds <n>      how many seeds, one after the other (1)
  --mix <name>     which clients act (everything)
  --faults <name>  which faults happen: ${Object.keys(FAULTS).join(', ')} (general)
  --only <list>    only these faults, by number, with commas between
  --load <s>       for how many virtual seconds the clients act (10)
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
    mix: { type: 'string', default: 'everything' },
    faults: { type: 'string', default: 'general' },
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

const load = given.load ?? '10'

function tell({ result, kept }: Outcome): void {
  const { seed, findings, hash, steps, commits, virtualMs, realMs, faults } = result
  const facts = `${faults} faults, ${steps} events, ${commits} commits, ${(virtualMs / 1_000).toFixed(1)} virtual s in ${(realMs / 1_000).toFixed(1)} s`
  console.log(`seed ${seed}: ${findings.length === 0 ? 'green' : 'RED'}, hash ${hash}, ${facts}`)
  if (findings.length === 0) return
  for (const { check, text } of findings) console.log(`  ${check}: ${text}`)
  for (const line of result.story.filter(line => / fault /.test(line.slice(0, 30)))) console.log(`  ${line}`)
  console.log('  what happened before it was found:')
  for (const line of result.story.slice(-STORY_LINES)) console.log(`    ${line.slice(0, 240)}`)
  const only = kept === null ? '' : ` --only '${kept.join(',')}'`
  console.log(
    `  to see all of it: npm run simulate -- --seed ${seed} --mix ${given.mix} --faults ${given.faults} --load ${load}${only} --trace`,
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
const seeds = Array.from({ length: whole('seeds', given.seeds ?? '1') }, (_, place) => first + place)
const wish = {
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
if (!Object.hasOwn(FAULTS, wish.faults)) {
  console.error(`there are no faults '${wish.faults}'; there are ${Object.keys(FAULTS).join(', ')}`)
  process.exit(2)
}
if (!Object.hasOwn(MIXES, wish.mix)) {
  console.error(`there is no mix '${wish.mix}'; there are ${Object.keys(MIXES).join(', ')}`)
  process.exit(2)
}
const left = [...seeds]
let red = 0
const work = async () => {
  const worker = new Worker()
  for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
    const outcome = await worker.run({ seed, ...wish })
    if (outcome.result.findings.length > 0) red++
    tell(outcome)
  }
  await worker.end()
}
await Promise.all(Array.from({ length: Math.min(whole('workers', given.workers), seeds.length) }, work))
if (seeds.length > 1) console.log(`${seeds.length - red} of ${seeds.length} seeds are green`)
process.exitCode = red > 0 ? 1 : 0
