// One mix over some seeds, with a mutant or without: `node simulator/hunt.ts MIX FAULTS FIRST COUNT [MUTANT]`. Ends with the
// first finding. A process of its own, because a mutant is loaded once.
import './time.ts'
import { mutantNamed } from './mutants.ts'
import { applyMutant } from './mutate.ts'

const [mix = 'claims', faults = 'general', first = '1', count = '1', mutant = ''] = process.argv.slice(2)
if (mutant !== '') applyMutant(mutantNamed(mutant))
const { Cast } = await import('./cast.ts')
const { startServer } = await import('./database.ts')
const { simulate } = await import('./simulation.ts')

const loadMs = Number(process.env['LOAD_MS'] ?? 8_000)
const server = await startServer()
const print = process.env['SHOW'] ? { print: (line: string) => console.log(line.slice(0, 400)) } : {}
let found = 0
try {
  for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
    const result = await simulate(server, {
      seed,
      mix,
      faults,
      loadMs,
      castFor: options => new Cast(options),
      ...print,
    })
    const { findings, story, ...numbers } = result
    console.log(JSON.stringify(numbers))
    for (const { check, text } of findings.slice(0, 8)) console.log(`  ${check}: ${text.slice(0, 600)}`)
    if (findings.length > 0 && process.env['LAST']) console.log(story.join('\n'))
    found += findings.length
    if (found > 0 && mutant !== '') break
  }
} finally {
  await server.stop()
}
process.exitCode = found > 0 ? 1 : 0
