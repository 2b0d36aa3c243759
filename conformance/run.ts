// npm run conformance: Placement's own gabbi files against Holdfast, on each store, with a table and totals at the end.
import { freePort, holdfast, startServer, type ServerCommand } from '../bench/server.ts'
import { findGabbits, readGabbits, WHERE_TO_GET_THEM, type Gabbit, type Profile } from './gabbits.ts'
import { fail, readOptions } from './options.ts'
import { openFolders, openStore, type Store } from './stores.ts'
import { hasGabbi, startWorker, WHERE_TO_GET_GABBI, type FileReport, type Worker } from './worker.ts'

const FILE_TIMEOUT_MS = 120_000
const POLICIES: Record<Profile, string> = {
  default: 'legacy',
  'legacy-rbac': 'legacy',
  cors: 'legacy',
  'open-policy': 'open',
  'secure-rbac': 'secure',
}

const options = readOptions()
const folder = findGabbits(options.gabbits)
if (folder === undefined) fail(WHERE_TO_GET_THEM)
if (!hasGabbi()) fail(WHERE_TO_GET_GABBI)
const gabbits = readGabbits(folder, options.only, options.exclude)
if (gabbits.length === 0) fail(`no file in ${folder} matches`)
process.exitCode = (await runAll(gabbits)) ? 0 : 1

async function runAll(files: Gabbit[]): Promise<boolean> {
  const began = performance.now()
  const stores = options.server === undefined ? await Promise.all(options.stores.map(openStore)) : [openFolders()]
  const nameWidth = Math.max(...files.map(file => file.name.length))
  const headings = stores.map(store => `  ${store.name.padEnd(12)}`).join('')
  console.log(
    `${''.padEnd(nameWidth)}${headings}\n${'file'.padEnd(nameWidth)}${' passed failed'.repeat(stores.length)}`,
  )

  // All stores of a file before the next file, so that rows complete early; they are printed in order.
  const queue = files.flatMap(file => stores.map(store => ({ file, store })))
  const reports = new Map<string, FileReport>()
  let printed = 0
  const printRows = () => {
    for (let file = files[printed]; file !== undefined; file = files[++printed]) {
      const row = stores.map(store => reports.get(key(file, store)))
      if (!row.every(report => report !== undefined)) return
      console.log(file.name.padEnd(nameWidth) + row.map(report => cell(count(report, 'pass'), failed(report))).join(''))
      row.forEach((report, at) => printFailures(stores[at]?.name ?? '', report))
    }
  }
  const work = async (worker: Worker) => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      reports.set(key(job.file, job.store), await runFile(worker, job.file, job.store))
      printRows()
    }
    worker.stop()
  }
  await Promise.all(Array.from({ length: options.jobs }, () => work(startWorker())))
  await Promise.all(stores.map(store => store.stop()))

  const totals = stores.map(store => {
    const all = files.map(file => reports.get(key(file, store)) ?? { tests: [] })
    const sum = (of: (report: FileReport) => number) => all.reduce((total, report) => total + of(report), 0)
    return { passed: sum(report => count(report, 'pass')), failed: sum(failed), skipped: sum(r => count(r, 'skip')) }
  })
  console.log('total'.padEnd(nameWidth) + totals.map(total => cell(total.passed, total.failed)).join(''))
  const tests = files.reduce((sum, file) => sum + file.tests.length, 0)
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  const skipped = totals.some(total => total.skipped > 0) ? ', some skipped by the files themselves' : ''
  console.log(`${files.length} files, ${tests} tests${skipped}, ${seconds} s`)
  return totals.every(total => total.failed === 0)
}

async function runFile(worker: Worker, file: Gabbit, store: Store): Promise<FileReport> {
  let report: FileReport
  try {
    const server = await startServer(await command(file.profile, store))
    // Without its server, a file that hangs fails quickly.
    const timer = setTimeout(() => void server.stop(), FILE_TIMEOUT_MS)
    report = await worker.run(file.path, server.origin + options.prefix)
    clearTimeout(timer)
    await server.stop()
    if (report.tests.some(test => test.message?.includes('Connection refused'))) report.error ??= server.log()
  } catch (error) {
    report = { tests: [], error: error instanceof Error ? error.message : String(error) }
  }
  const missing = file.tests.slice(report.tests.length)
  report.tests.push(
    ...missing.map(name => ({ name, outcome: 'fail' as const, message: report.error ?? 'did not run' })),
  )
  return report
}

async function command(profile: Profile, store: Store): Promise<ServerCommand> {
  const port = await freePort()
  const readyPath = `${options.prefix}/`
  if (options.server !== undefined) {
    const env = {
      PORT: `${port}`,
      DATA_DIR: await store.database(),
      PREFIX: options.prefix,
      PLACEMENT_PROFILE: profile,
    }
    return { argv: ['/bin/sh', '-c', options.server], port, env, readyPath }
  }
  const argv = [holdfast, 'serve', '--port', `${port}`, '--database', await store.database(), '--auth', 'noauth2']
  argv.push('--placement-policy', POLICIES[profile])
  if (profile === 'cors') argv.push('--cors-origin', 'http://valid.example.com')
  return { argv, port, readyPath }
}

function key(file: Gabbit, store: Store): string {
  return `${store.name} ${file.name}`
}

function cell(passed: number, failed: number): string {
  return `${passed}`.padStart(7) + `${failed || ''}`.padStart(7)
}

function count(report: FileReport, outcome: 'pass' | 'skip'): number {
  return report.tests.filter(test => test.outcome === outcome).length
}

function failed(report: FileReport): number {
  return report.tests.filter(test => test.outcome === 'fail').length
}

function printFailures(store: string, report: FileReport) {
  const failures = report.tests.filter(test => test.outcome === 'fail')
  for (const test of options.verbose ? failures : failures.slice(0, 1)) {
    const reason = (test.message ?? '').replaceAll(/\s+/g, ' ').slice(0, options.verbose ? 600 : 160)
    console.log(`    ${store}: ${test.name} (${test.request ?? 'no request'})\n        ${reason}`)
  }
  if (options.verbose && report.error) console.log(`    ${store}: ${report.error}`)
}
