// Runs mutants: each must be found within its number of seeds. One that survives is a gap in the checks.
import type { Server } from './database.ts'
import { Worker } from './employed.ts'
import { isInSchema } from './mutate.ts'
import { MUTANTS, mutantNamed } from './mutants.ts'
import type { Mutant } from './mutants/mutant.ts'

interface Settings {
  /** All by default. */
  names: readonly string[]
  workers: number
  /** Instead of each mutant's own time. */
  loadMs?: number
  /** Instead of each mutant's own number. */
  seeds?: number
}

interface Fate {
  mutant: Mutant
  /** The seed that found it; null if it survived. */
  seed: number | null
  text: string
}

/** Returns how many survived. */
export async function runMutants({ names, workers, seeds, ...settings }: Settings): Promise<number> {
  const left = names.length > 0 ? names.map(mutantNamed) : [...MUTANTS]
  const { length } = left
  await import('./time.ts')
  const { startServer } = await import('./database.ts')
  const fates: Fate[] = []
  const work = async () => {
    // Starting a PostgreSQL takes longer than a seed, so those that run one after the other share one, but for mutants of
    // the schema. Two at the same time would not be the same runs again: they share transaction numbers, so each sees
    // in a snapshot that the other has committed, and the lock that a commit with a notification takes.
    let server: Server | null = null
    try {
      for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
        if (mutant.store !== 'sqlite') server ??= await startServer()
        const shared = server && !isInSchema(mutant) ? { HOLDFAST_SIMULATOR_POSTGRES: server.url('postgres') } : {}
        const worker = new Worker(mutant.name, shared)
        const fate = await hunt(worker, mutant, settings.loadMs ?? loadMsOf(mutant), seeds ?? mutant.seeds)
        fates.push(fate)
        await worker.end()
        const found = fate.seed === null ? 'SURVIVED' : `found by seed ${fate.seed}`
        console.log(`${mutant.name}: ${found}${fate.text && `: ${fate.text.slice(0, 200)}`}`)
      }
    } finally {
      await server?.stop()
    }
  }
  await Promise.all(Array.from({ length: Math.min(workers, length) }, work))
  const survivors = fates.filter(({ seed }) => seed === null)
  console.log(`${length - survivors.length} of ${length} mutants were found`)
  return survivors.length
}

// A fault must come at the one bad moment: it takes longer until one does.
const loadMsOf = ({ load, faults }: Mutant) => (load ?? (faults === 'none' ? 6 : 12)) * 1_000

async function hunt(worker: Worker, mutant: Mutant, loadMs: number, seeds: number): Promise<Fate> {
  const { mix, faults, store = 'postgres' } = mutant
  for (let seed = 1; seed <= seeds; seed++) {
    try {
      const wish = { seed, store, mix, faults, loadMs, isTraced: false, isMinimised: false, isHunt: true }
      const { result } = await worker.run(wish)
      const [finding] = result.findings
      if (finding) return { mutant, seed, text: `${finding.check}: ${finding.text}` }
    } catch (error) {
      // That is trouble with the run, and no finding.
      return { mutant, seed: null, text: (error as Error).message }
    }
  }
  return { mutant, seed: null, text: '' }
}
