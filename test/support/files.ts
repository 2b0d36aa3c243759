// The test files: which run in which part, and in which order.
import { globSync, readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'

/** Files that only `npm run test:more` runs. */
const MORE = [
  // A browser takes seconds to start; what is served is checked without one.
  'test/browser/!(serving|size).test.ts',
  'test/docs.test.ts',
  'test/docs/**',
  'test/client-package.test.ts',
  'test/package.test.ts',
  'test/clients/**',
  'test/hardware/qemu.test.ts',
  'test/first-hour/beside-openstack.test.ts',
  'test/identity/real-keystone.test.ts',
  'test/store/oldest-postgres.test.ts',
  'test/failover/**',
  'test/soak/soak.test.ts',
  'test/**/crash.test.ts',
  // A fleet with something of everything, and some hundred ways to damage it.
  'test/fsck-corruptions.test.ts',
  // Minutes: processes and databases start, fail and start again.
  'test/cli/kicks.test.ts',
  'test/cli/run-killed.test.ts',
  'test/webhooks/killed.test.ts',
  'test/baremetal/conductor-faults.test.ts',
  'test/hardware/redfish-moments.test.ts',
  'test/nova/races.test.ts',
  'test/races/changes.test.ts',
  'test/faults/@(backup|bmc|clock|network|postgres|power-cut|processes|upgrade).test.ts',
  'test/faults/@(fork|restored).test.ts',
  'test/simulator.test.ts',
  'test/simulator/all-pairs.test.ts',
]

/** Files that `npm test` runs with few rounds and samples, and `npm run test:more` again with all of them. */
const AGAIN = new Set([
  'test/baremetal/conductors-allocations.test.ts',
  'test/baremetal/conductors.test.ts',
  'test/baremetal/races.test.ts',
  'test/candidates/explosion.test.ts',
  'test/candidates/processes.test.ts',
  'test/candidates/trees.test.ts',
  'test/events/attacks.test.ts',
  'test/events/order.test.ts',
  'test/identity/guessing.test.ts',
  'test/openapi/full-fields.test.ts',
  'test/policy/matrix.test.ts',
  'test/races/allocations.test.ts',
])

/** Files that need their own process, and why. */
const ALONE: Record<string, string> = {
  'test/store/plans.test.ts': 'explains every statement that is loaded, and means those of the ledger',
}

/**
 * Files about what differs between the databases: the stores themselves, races, memory that follows the log, faults.
 * `npm test` runs them on both. It runs all others on SQLite, and `npm run test:more` runs these on PostgreSQL.
 */
const ON_BOTH = [
  'test/store/**',
  'test/races/**',
  'test/faults/**',
  'test/candidates/@(feed|load|lost-commit|processes).test.ts',
  'test/events/order.test.ts',
  'test/leases/@(races|last-line|memory).test.ts',
  'test/fsck.test.ts',
  'test/start.test.ts',
]

/** The file that calls every route. `npm test` runs it on PostgreSQL, so that each route is tried there too. */
const EVERY_ROUTE = 'test/policy/matrix.test.ts'

export type Part = 'most' | 'more'
type Kind = 'sqlite' | 'postgres'

/** A file, and the only kind of database that it is to run on, if that matters. */
export interface Job {
  file: string
  only?: Kind
  /** With all rounds and samples. */
  isLong?: true
}

/** The test files of a part, the long ones first. */
export function jobsOf(part: Part): Job[] {
  const files = globSync('test/**/*.test.ts').sort()
  return inOrder(part === 'more' ? files.flatMap(laterJobs) : files.filter(file => !isMore(file)).map(firstJob))
}

const firstJob = (file: string): Job =>
  isOnBoth(file) ? { file } : { file, only: file === EVERY_ROUTE ? 'postgres' : 'sqlite' }

function laterJobs(file: string): Job[] {
  if (isMore(file) || AGAIN.has(file)) return [{ file, isLong: true }]
  return isOnBoth(file) || !hasBoth(file) ? [] : [{ file, only: 'postgres' }]
}

export const hasBoth = (file: string): boolean => HAS_BOTH.test(readFileSync(file, 'utf8'))

/** Groups of tests for each database, by eachStore and its kin. */
const HAS_BOTH = /\beach[A-Z]\w*\(/

/** The files of the command line, on both databases. */
export const jobsFor = (files: readonly string[]): Job[] => inOrder(files.map(file => ({ file })))

/** Otherwise a slow file would run last, alone, while the other cores wait. */
const inOrder = (jobs: readonly Job[]): Job[] => jobs.toSorted((a, b) => secondsOf(b) - secondsOf(a))

/** How long each file took when HOLDFAST_KEEP_SECONDS was set last. A file that is new starts among the first. */
const SECONDS = JSON.parse(readFileSync(new URL('seconds.json', import.meta.url), 'utf8')) as Record<string, number>
const secondsOf = (job: Job) => SECONDS[nameOf(job)] ?? SECONDS[job.file] ?? Infinity

export const nameOf = ({ file, only }: Job): string => (only === undefined ? file : `${file} on ${only}`)

const isMore = (file: string) => MORE.some(pattern => matchesGlob(file, pattern))
const isOnBoth = (file: string) => ON_BOTH.some(pattern => matchesGlob(file, pattern))

export const isAlone = (file: string): boolean => file in ALONE
