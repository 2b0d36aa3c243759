// The test files: which run in which part, and in which order.
import { globSync } from 'node:fs'
import { matchesGlob } from 'node:path'

/** Files that `npm run test:more` runs. `npm test` runs all others. */
const MORE = [
  'test/docs.test.ts',
  'test/docs/**',
  'test/package.test.ts',
  'test/clients/**',
  'test/identity/real-keystone.test.ts',
  'test/store/oldest-postgres.test.ts',
  // Long rounds.
  'test/**/crash.test.ts',
]

/** Files that need their own process, and why. */
const ALONE: Record<string, string> = {
  'test/store/plans.test.ts': 'explains every statement that is loaded, and means those of the ledger',
}

/** Slow files start first. Otherwise one would run last, alone, while the other cores wait. */
const LONG = [
  'test/docs.test.ts',
  'test/baremetal/conductors-allocations.test.ts',
  'test/races/allocations.test.ts',
  'test/cli/demo.test.ts',
  'test/cli/import.test.ts',
  'test/crash.test.ts',
  'test/baremetal/conductors.test.ts',
  'test/cli/seeds.test.ts',
  'test/clients/compute.test.ts',
  'test/cli/login.test.ts',
  'test/cli.test.ts',
  'test/cli/run-killed.test.ts',
  'test/policy/matrix.test.ts',
  'test/clients/baremetal.test.ts',
]

export type Part = 'most' | 'more'

/** The test files of a part, the long ones first. */
export function testFiles(part: Part): string[] {
  const files = globSync('test/**/*.test.ts').sort()
  const mine = files.filter(file => isMore(file) === (part === 'more'))
  return inOrder(mine)
}

export function inOrder(files: readonly string[]): string[] {
  const [long, others] = [files.filter(file => LONG.includes(file)), files.filter(file => !LONG.includes(file))]
  return [...long.sort((a, b) => LONG.indexOf(a) - LONG.indexOf(b)), ...others]
}

const isMore = (file: string) => MORE.some(pattern => matchesGlob(file, pattern))

export const isAlone = (file: string): boolean => file in ALONE
