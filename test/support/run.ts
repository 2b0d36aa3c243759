// npm run test:http and test:more: runs test files in several processes, many files in each.
// Arguments are files to run instead, or `more`.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync, writeSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from '../browser/build.ts'
import { isAlone, type Job, jobsFor, jobsOf, nameOf } from './files.ts'
import { globalSetup, globalTeardown } from './global-setup.ts'
import type { Failure, Message, Outcome } from './worker.ts'

const SECONDS_FILE = fileURLToPath(new URL('seconds.json', import.meta.url))
const WORKER = fileURLToPath(new URL('worker.ts', import.meta.url))
/** Two a core, because tests wait for most of their time: with one a core, three quarters of two cores were idle. */
const LANES = 2 * Math.max(2, availableParallelism())
/** If no test has begun for this long, the file hangs. Generous, because machines can be busy. */
const HANG_MS = 10 * 60_000
const END_MS = 5_000
const SLOWEST = 10
/** So many files that fail get a second run, alone on the machine. If more fail, it isn't the load. */
const AGAIN_MAX = 6

interface Result extends Outcome {
  job: Job
  seconds: number
}

/** One process and the file that it runs. */
class Worker {
  readonly #child: ChildProcess
  #printed = ''

  constructor({ isLong }: Pick<Job, 'isLong'> = {}) {
    // The same folder as the command's, so that servers started by tests reuse the compiled code.
    const NODE_COMPILE_CACHE = process.env['NODE_COMPILE_CACHE'] ?? join(tmpdir(), 'node-compile-cache')
    this.#child = fork(WORKER, {
      env: { ...process.env, NODE_COMPILE_CACHE, ...(isLong && { HOLDFAST_LONG: '1' }) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => (this.#printed += chunk))
    }
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** Runs a file to its end. If the process dies, that is a failure of the file. */
  async run(job: Job): Promise<Result> {
    const began = performance.now()
    this.#printed = ''
    const outcome = await this.#outcome(job)
    if (this.#printed !== '') say(`  ${nameOf(job)} printed:\n${indented(this.#printed)}`)
    return { job, seconds: (performance.now() - began) / 1000, ...outcome }
  }

  #outcome(job: Job): Promise<Outcome> {
    let running = 'no test has begun'
    let isHanging = false
    const failed = (error: string): Outcome => ({ names: [], skipped: 0, failures: [{ test: running, error }] })
    return new Promise(resolve => {
      const hang = setTimeout(() => {
        isHanging = true
        void this.end()
      }, HANG_MS)
      const hear = (message: Message) => {
        hang.refresh()
        if ('outcome' in message) done(message.outcome)
        else if ('running' in message) ({ running } = message)
      }
      const exit = (code: number | null, signal: string | null) => {
        const hanging = `it hangs: nothing has begun for ${HANG_MS / 60_000} minutes`
        done(failed(isHanging ? hanging : `the process ended with ${code ?? signal}`))
      }
      const done = (outcome: Outcome) => {
        clearTimeout(hang)
        this.#child.off('message', hear).off('exit', exit)
        resolve(outcome)
      }
      this.#child.on('message', hear).on('exit', exit)
      this.#child.send(job)
    })
  }

  async end(): Promise<void> {
    if (this.hasEnded) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    const late = setTimeout(() => this.#child.kill('SIGKILL'), END_MS)
    await exit
    clearTimeout(late)
  }
}

const args = process.argv.slice(2)
const isPart = args.length === 0 || args[0] === 'more'
const queue = isPart ? jobsOf(args[0] === 'more' ? 'more' : 'most') : jobsFor(args)
const results: Result[] = []
/** Files that failed beside others and passed alone. */
const unsteady: string[] = []
const began = performance.now()

// Once, and not by each file for itself.
if (queue.some(({ file }) => file.startsWith('test/browser/'))) build()
await globalSetup()
try {
  await Promise.all(Array.from({ length: LANES }, takeFiles))
  await runFailedAgain()
} finally {
  await globalTeardown()
}
report()
if (process.env['HOLDFAST_KEEP_SECONDS'] !== undefined) keepSeconds()

/** Runs files until none is left. */
async function takeFiles(): Promise<void> {
  // Who asks how many rounds there are asks once in a process, so long jobs share another one.
  const shared = new Map<boolean, Worker>()
  for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
    const isLong = job.isLong === true
    const present = shared.get(isLong)
    const worker = present === undefined || present.hasEnded || isAlone(job.file) ? new Worker(job) : present
    const result = await worker.run(job)
    if (isAlone(job.file)) await worker.end()
    else shared.set(isLong, worker)
    results.push(result)
    tell(result)
  }
  for (const worker of shared.values()) await worker.end()
}

/** What fails alone too has failed. What passes then is still named: its test is broken, or a race is lost now and then. */
async function runFailedAgain(): Promise<void> {
  const failed = results.filter(hasFailed)
  if (failed.length > AGAIN_MAX) return
  for (const before of failed) {
    say(`again, alone: ${nameOf(before.job)}`)
    const worker = new Worker(before.job)
    const result = await worker.run(before.job)
    await worker.end()
    tell(result)
    results[results.indexOf(before)] = result
    if (!hasFailed(result))
      unsteady.push(...before.failures.map(failure => `${nameOf(before.job)}: ${testOf(failure)}`))
  }
}

function hasFailed({ failures }: Result): boolean {
  return failures.length > 0
}

function tell({ job, seconds, names, skipped, failures }: Result): void {
  const counts = `${names.length} tests${skipped > 0 ? `, ${skipped} skipped` : ''}`
  say(`${failures.length > 0 ? '✖' : '✔'} ${seconds.toFixed(1).padStart(6)} s  ${nameOf(job)} (${counts})`)
  for (const failure of failures) say(`    ✖ ${testOf(failure)}\n${indented(failure.error)}`)
}

function testOf({ test }: Failure): string {
  return test || 'the file as a whole'
}

/** Prints the failures, the slowest files, and the totals. */
function report(): void {
  const failed = results.filter(hasFailed)
  if (unsteady.length > 0) say('\nunsteady (failed beside others, passed alone; to be mended):')
  for (const line of unsteady) say(`  ${line}`)
  if (failed.length > 0) say('\nfailed:')
  for (const { job, failures } of failed) {
    for (const name of new Set(failures.map(testOf))) say(`  ${nameOf(job)}: ${name}`)
  }
  say(`\nthe ${SLOWEST} slowest files:`)
  for (const { job, seconds } of results.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST)) {
    say(`${seconds.toFixed(1).padStart(8)} s  ${nameOf(job)}`)
  }
  const sum = (of: (result: Result) => number) => results.reduce((total, result) => total + of(result), 0)
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  const counts = `${sum(({ names }) => names.length)} tests, ${sum(({ skipped }) => skipped)} skipped`
  say(`\n${results.length} files, ${counts}, ${unsteady.length} unsteady, ${failed.length} files failed, ${seconds} s`)
  if (failed.length > 0 || results.length === 0) process.exitCode = 1
}

/** Keeps how long each file took, so that the next run starts with the longest. */
function keepSeconds(): void {
  const kept = JSON.parse(readFileSync(SECONDS_FILE, 'utf8')) as Record<string, number>
  for (const { job, seconds } of results) kept[nameOf(job)] = Math.ceil(seconds)
  const sorted = Object.entries(kept).toSorted(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(SECONDS_FILE, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
}

function indented(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, '        ')
}

/** Written synchronously, so that nothing is lost if the process is killed. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}
