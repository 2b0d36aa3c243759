// What trials stand on: databases of their own, and a folder that is emptied after each.
import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client, escapeIdentifier } from 'pg'
import { type Postgres, startPostgres, TEMPLATE } from '../support/postgres.ts'
import { migrateDatabase, sqliteTemplate } from '../support/templates.ts'
import type { Job } from '../support/files.ts'
import type { Message } from '../support/worker.ts'
import { type Mutant, ROOT } from './mutants.ts'

const WORKER = join(ROOT, 'test/support/worker.ts')
const HOOK = pathToFileURL(join(ROOT, 'test/mutate/hook.ts')).href
const MIGRATE = join(ROOT, 'test/mutate/migrate.ts')
const KEPT = 'holdfast_kept'
/** One that eats all memory ends here. */
const HEAP_MB = 1_500
const END_MS = 2_000

export const ENDED = 'the process ended'

/** What a file of tests said. */
export interface Verdict {
  job: Job
  /** What failed; null if all passed. */
  failure: string | null
  ms: number
}

export interface Trial {
  mutant: Mutant | null
  jobs: readonly Job[]
  /** Beyond it, a file hangs. */
  limitMsOf: (job: Job) => number
  environment?: Record<string, string>
}

export class Ground {
  readonly #postgres: Postgres
  readonly #sqlite: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdfast-mutate-'))

  private constructor(postgres: Postgres, sqlite: string) {
    this.#postgres = postgres
    this.#sqlite = sqlite
  }

  static async make(): Promise<Ground> {
    const postgres = await startPostgres()
    await migrateDatabase(await postgres.createDatabase(TEMPLATE))
    return new Ground(postgres, await sqliteTemplate())
  }

  async stop(): Promise<void> {
    await this.#postgres.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Runs the files one after the other, up to the first that fails. */
  async try({ mutant, jobs, limitMsOf, environment = {} }: Trial): Promise<Verdict[]> {
    const TMPDIR = join(this.#folder, 'tmp')
    mkdirSync(TMPDIR, { recursive: true, mode: 0o777 })
    const env = { ...this.#environment(mutant), TMPDIR, ...environment }
    const undo = await this.#changeSchema(mutant, env)
    const verdicts: Verdict[] = []
    const child = fork(WORKER, { cwd: ROOT, env, detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
    try {
      for (const job of jobs) {
        const began = performance.now()
        const failure = await failureOf(child, job, limitMsOf(job))
        verdicts.push({ job, failure, ms: Math.round(performance.now() - began) })
        if (failure !== null) break
      }
    } finally {
      await end(child)
      await this.#tidy()
      await undo()
      rmSync(TMPDIR, { recursive: true, force: true, maxRetries: 5 })
    }
    return verdicts
  }

  #environment(mutant: Mutant | null): Record<string, string> {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_')) as [
      string,
      string,
    ][]
    return {
      ...Object.fromEntries(inherited),
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(tmpdir(), 'node-compile-cache'),
      HOLDFAST_TEST_POSTGRES: this.#postgres.url('postgres'),
      ...(mutant?.file.endsWith('.sqlite.sql') ? {} : { HOLDFAST_TEST_SQLITE: this.#sqlite }),
      ...(mutant && {
        HOLDFAST_MUTANT: JSON.stringify(mutant),
        NODE_OPTIONS: `--import ${HOOK} --max-old-space-size=${HEAP_MB}`,
      }),
    }
  }

  /** A mutant of PostgreSQL's schema is in the database that the tests copy. Returns what undoes it. */
  async #changeSchema(mutant: Mutant | null, env: Record<string, string>): Promise<() => Promise<void>> {
    if (!mutant?.file.endsWith('.postgres.sql')) return async () => {}
    const undo = async () => {
      await this.#sql([`drop database ${TEMPLATE} with (force)`, `alter database ${KEPT} rename to ${TEMPLATE}`])
    }
    await this.#sql([`alter database ${TEMPLATE} rename to ${KEPT}`, `create database ${TEMPLATE}`])
    try {
      execFileSync(process.execPath, [MIGRATE, this.#postgres.url(TEMPLATE)], { env, stdio: 'ignore', timeout: 60_000 })
    } catch {
      // It can't be migrated: every test that needs the database says so.
    }
    return undo
  }

  /** Tests that were cut short leave their databases. */
  async #tidy(): Promise<void> {
    const all = await this.#sql([`select datname as name from pg_database where datname not like 'template%'`])
    const left = all.map(({ name }) => name!).filter(name => !['postgres', TEMPLATE, KEPT].includes(name))
    await this.#sql(left.map(name => `drop database if exists ${escapeIdentifier(name)} with (force)`))
  }

  async #sql(statements: readonly string[]): Promise<Record<string, string>[]> {
    if (statements.length === 0) return []
    const client = new Client({ connectionString: this.#postgres.url('postgres') })
    await client.connect()
    try {
      let rows: Record<string, string>[] = []
      for (const statement of statements) ({ rows } = await client.query(statement))
      return rows
    } finally {
      await client.end()
    }
  }
}

/** Sends a file to the process; what fails first, or null when it has passed. */
async function failureOf(child: ChildProcess, job: Job, limitMs: number): Promise<string | null> {
  return new Promise(resolve => {
    const done = (failure: string | null) => {
      clearTimeout(late)
      child.off('message', hear).off('exit', exit)
      resolve(failure)
    }
    const late = setTimeout(() => done('it hangs'), limitMs)
    const exit = () => done(ENDED)
    const hear = (message: Message) => {
      if ('failed' in message) done(message.failed.test || 'the file as a whole')
      if ('outcome' in message) {
        const [first] = message.outcome.failures
        done(first ? first.test || first.error : null)
      }
    }
    child.on('message', hear).on('exit', exit)
    if (child.connected) child.send(job)
    else exit()
  })
}

/** With all that it has started. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), END_MS)
    await exit
    clearTimeout(late)
  }
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {
    // Nobody is left of its group.
  }
}
