// The options of the conformance run.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { STORES, type StoreName } from './stores.ts'

const HELP = `npm run conformance -- [options]
  --gabbits DIR      the YAML files, or a checkout of openstack/placement (or HOLDFAST_GABBITS)
  --store NAME       sqlite, postgres or all (default all)
  --only GLOB        only these files (repeatable, commas allowed)
  --exclude GLOB     not these files (repeatable, commas allowed)
  --jobs N           files at the same time (default: one a core, at most 4)
  --server COMMAND   test another server: a shell command that listens on $PORT, starts empty, may keep data in
                     $DATA_DIR, and configures itself for $PLACEMENT_PROFILE
  --prefix PATH      where the API is mounted (default /placement)
  -v                 print every failing test with its reason`

export function readOptions() {
  const values = parse()
  if (values.help) fail(HELP, 0)
  const stores = storesNamed(values.store)
  const jobs = Number(values.jobs)
  if (!Number.isInteger(jobs) || jobs < 1) fail(`--jobs ${values.jobs}: a whole number from 1`)
  return { ...values, stores, jobs, only: split(values.only), exclude: split(values.exclude) }
}

/** The stores that `--store` names; ends the run if it names none. */
export function storesNamed(word: string): StoreName[] {
  const stores = STORES.filter(name => word === 'all' || word === name)
  return stores.length > 0 ? stores : fail(`--store ${word}: sqlite, postgres or all`)
}

/** Exit code 2: wrong options or a missing requirement. Exit code 1: failed tests. */
export function fail(message: string, status = 2): never {
  console.error(message)
  process.exit(status)
}

function parse() {
  try {
    return parseArgs({
      options: {
        gabbits: { type: 'string', default: process.env['HOLDFAST_GABBITS'] },
        store: { type: 'string', default: 'all' },
        only: { type: 'string', multiple: true, default: [] },
        exclude: { type: 'string', multiple: true, default: [] },
        jobs: { type: 'string', default: `${Math.min(4, availableParallelism())}` },
        server: { type: 'string' },
        prefix: { type: 'string', default: '/placement' },
        verbose: { type: 'boolean', short: 'v', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)}\n${HELP}`)
  }
}

function split(globs: string[]): string[] {
  return globs.flatMap(item => item.split(',')).filter(item => item !== '')
}
