// npm run conformance -- baremetal: the API tests of ironic-tempest-plugin against Holdfast, on each store.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { freePort, holdfast, startServer } from '../bench/server.ts'
import { fail, storesNamed } from './options.ts'
import { openStore, type StoreName } from './stores.ts'

const HELP = `npm run conformance -- baremetal [options]
  --tempest DIR   the folder with tempest.sh (or HOLDFAST_TEMPEST)
  --store NAME    sqlite, postgres or all (default all)
  --only REGEX    only the tests whose names match
  -v              print the whole output of tempest`

const USUAL_PLACE = fileURLToPath(new URL('../../shared/conformance/baremetal', import.meta.url))
const PLUGIN = '/usr/lib/python3/dist-packages/ironic_tempest_plugin'
const TIMEOUT_MS = 20 * 60_000

interface Result {
  passed: number
  failed: number
  skipped: number
  /** The names of the tests that failed. */
  failures: string[]
  /** The end of the output, if tempest did not come to its end. */
  error?: string
}

const options = read()
const script = join(resolve(options.tempest), 'tempest.sh')
if (!existsSync(script)) fail(`${script} is not there: name its folder with --tempest DIR or HOLDFAST_TEMPEST.`)
if (!existsSync(PLUGIN)) {
  fail('Needed: apt-get install --no-install-recommends tempest ironic-tempest-plugin')
}
let isGood = true
for (const store of options.stores) {
  const result = await run(store)
  print(store, result)
  isGood &&= result.failed === 0 && result.passed > 0 && result.error === undefined
}
process.exitCode = isGood ? 0 : 1

function read() {
  try {
    const { values } = parseArgs({
      allowPositionals: true,
      options: {
        tempest: { type: 'string', default: process.env['HOLDFAST_TEMPEST'] ?? USUAL_PLACE },
        store: { type: 'string', default: 'all' },
        only: { type: 'string' },
        verbose: { type: 'boolean', short: 'v', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) fail(HELP, 0)
    return { ...values, stores: storesNamed(values.store) }
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)}\n${HELP}`)
  }
}

async function run(name: StoreName): Promise<Result> {
  const store = await openStore(name)
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-tempest-'))
  try {
    const port = await freePort()
    const argv = [holdfast, 'serve', '--port', `${port}`, '--database', await store.database(), '--auth', 'none']
    const server = await startServer({ argv, port, readyPath: '/baremetal/' })
    try {
      return await tempest(`${server.origin}/baremetal`, folder)
    } finally {
      await server.stop()
    }
  } finally {
    await store.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function tempest(url: string, folder: string): Promise<Result> {
  const env = { ...process.env, WORKDIR: folder, KEYSTONE_PORT: `${await freePort()}` }
  const args = [url, ...(options.only === undefined ? [] : [options.only])]
  const child = spawn(script, args, { env, stdio: ['ignore', 'pipe', 'inherit'], timeout: TIMEOUT_MS })
  let shown = ''
  child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()))
  await once(child, 'close')
  const whole = join(folder, 'out.txt')
  const output = existsSync(whole) ? readFileSync(whole, 'utf8') : shown
  if (options.verbose) console.log(output)
  return resultIn(output)
}

/** What tempest says of the run at its end. */
function resultIn(output: string): Result {
  const count = (word: string) => Number(new RegExp(`^ - ${word}: (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  const failures = [...output.matchAll(/^\{\d+\} (\S+) \[[^\]]*\] \.\.\. FAILED$/gm)].map(match => match[1]!)
  const isWhole = /^Totals$/m.test(output)
  return {
    passed: count('Passed'),
    failed: count('Failed'),
    skipped: count('Skipped'),
    failures,
    ...(!isWhole && { error: output.slice(-2_000) }),
  }
}

function print(store: StoreName, { passed, failed, skipped, failures, error }: Result): void {
  console.log(`${store.padEnd(10)} ${passed} passed, ${failed} failed, ${skipped} skipped`)
  for (const name of failures) console.log(`    ${name}`)
  if (error !== undefined) console.log(`    tempest did not come to its end:\n${error}`)
}
