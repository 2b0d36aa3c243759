// Runs seeds in a real process of its own, with a PostgreSQL of its own: the parent sends them one at a time. A mutant is
// applied before anything else is loaded.
import './time.ts'
import type { Dialect } from '../src/store/statement.ts'
import type { CastOptions, Databases, Result } from './simulation.ts'
import { mutantNamed } from './mutants.ts'
import { applyMutant } from './mutate.ts'

const [mutant] = process.argv.slice(2)
if (mutant) applyMutant(mutant.startsWith('{') ? JSON.parse(mutant) : mutantNamed(mutant))
const { Cast } = await import('./cast.ts')
const { startServer } = await import('./database.ts')
const { SqliteFiles } = await import('./file.ts')
const { minimise } = await import('./minimise.ts')
const { simulate } = await import('./simulation.ts')
const castFor = (options: CastOptions) => new Cast(options)

export interface Wish {
  seed: number
  store: Dialect
  mix: string
  faults: string
  loadMs: number
  stepsMax?: number
  /** The faults that happen; all by default. */
  only?: readonly number[]
  isTraced: boolean
  isMinimised: boolean
  /** The first finding is enough. */
  isHunt?: boolean
}

export interface Outcome {
  result: Result
  /** The faults that the finding needs; null if nothing was found, or it was not looked for. */
  kept: readonly number[] | null
}

interface Stoppable extends Databases {
  stop(): void | Promise<void>
}

const started: Partial<Record<Dialect, Promise<Stoppable>>> = {}
const start = { sqlite: async () => new SqliteFiles(), postgres: startServer }

async function fulfil({ only, isTraced, isMinimised, store, ...wish }: Wish): Promise<Outcome> {
  const databases = await (started[store] ??= start[store]())
  const { print } = { print: isTraced ? (line: string) => process.stdout.write(`${line}\n`) : undefined }
  const leftOut =
    only && new Set(Array.from({ length: 100 }, (_, number) => number).filter(number => !only.includes(number)))
  const options = { ...wish, castFor, ...(print && { print }) }
  const result = await simulate(databases, { ...options, ...(leftOut && { leftOut }) })
  if (result.findings.length === 0 || !isMinimised || only) return { result, kept: null }
  return minimise(result, leftOut => simulate(databases, { ...options, leftOut }))
}

process.on('message', (wish: Wish | 'end') => {
  const answer = (message: object) => process.send!(message)
  if (wish === 'end') void end()
  else fulfil(wish).then(answer, (error: unknown) => answer({ error: String((error as Error).stack) }))
})

async function end(): Promise<void> {
  for (const databases of Object.values(started)) await (await databases).stop()
  process.exit(0)
}

// The parent is gone; the guard of PostgreSQL sees that we are too.
process.on('disconnect', () => process.exit(1))
