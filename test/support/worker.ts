// Runs test files one after the other in one process, because loading the service takes longer than most files.
// run.ts starts it and sends the name of the next file.
import { stripVTControlCharacters, inspect } from 'node:util'
import { pathToFileURL } from 'node:url'
import { run } from 'node:test'
import type { Job } from './files.ts'
import { undocumented } from './undocumented.ts'

export interface Failure {
  /** The names of the groups and of the test; empty when the file as a whole failed. */
  test: string
  error: string
}

export interface Outcome {
  names: string[]
  skipped: number
  failures: Failure[]
}

/** A failure is told at once, and again with the outcome of its file. */
export type Message = { running: string } | { failed: Failure } | { outcome: Outcome }

const tell = (message: Message) => void process.send?.(message)

// Errors outside of any test fail the file. An error during a test fails that test too.
const stray: unknown[] = []
process.on('uncaughtException', error => stray.push(error))
process.on('unhandledRejection', error => stray.push(error))

// Exits normally instead of dying by the signal, so that exit handlers stop the servers that tests started.
process.once('SIGTERM', () => process.exit(143))
process.once('disconnect', () => process.exit(1))

process.on('message', (job: Job) => void answer(job))

async function answer(job: Job): Promise<void> {
  // A run ends when no handle is left open, and the channel to run.ts must not count.
  process.channel!.unref()
  const outcome = await runFile(job)
  process.channel!.ref()
  tell({ outcome })
}

async function runFile({ file, only }: Job): Promise<Outcome> {
  const environment = { ...process.env }
  if (only !== undefined) process.env['HOLDFAST_TEST_ONLY'] = only
  const outcome = await collect(file)
  const whole = (error: unknown) => outcome.failures.push({ test: '', error: text(error) })
  // node:test hides an error at load time if the file has already defined tests, so the import is repeated to get it.
  await import(pathToFileURL(file).href).catch(whole)
  for (const error of [...undocumented.splice(0), ...stray.splice(0)]) whole(error)
  if (outcome.names.length + outcome.skipped === 0) whole('there is no test in it')
  restore(environment)
  return outcome
}

async function collect(file: string): Promise<Outcome> {
  const outcome: Outcome = { names: [], skipped: 0, failures: [] }
  const path: string[] = []
  let unfinished = 0
  for await (const { type, data } of run({ files: [file], isolation: 'none' })) {
    if (type === 'test:dequeue') tell({ running: data.name })
    if (type === 'test:enqueue') unfinished++
    if (type === 'test:complete' && --unfinished === 0)
      tell({ running: 'all tests have ended, but something is left open' })
    if (type === 'test:start') path.splice(data.nesting, Infinity, data.name)
    if (type === 'test:summary' && !data.success && outcome.failures.length === 0) {
      outcome.failures.push({ test: '', error: 'it failed' })
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { details, nesting, name, skip } = data
    path.splice(nesting, Infinity, name)
    const test = path.filter(part => part !== '' && part !== '<anonymous>').join(' › ')
    // Node reports a file without tests as a test, and a hook of the file under the file's name.
    const isFile = nesting === 0 && name.endsWith(file)
    if (skip !== undefined) outcome.skipped++
    else if (details.type === 'test' && !isFile) outcome.names.push(test)
    if (type === 'test:pass') continue
    const { error } = data.details
    const { failureType } = error as { failureType?: string }
    if (failureType !== 'subtestsFailed') {
      const failed = { test: isFile ? '' : test, error: text(error.cause ?? error) }
      outcome.failures.push(failed)
      tell({ failed })
    }
  }
  return outcome
}

function restore(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
}

function text(error: unknown): string {
  return stripVTControlCharacters(typeof error === 'string' ? error : inspect(error))
}
