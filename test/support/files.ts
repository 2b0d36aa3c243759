// The test files: which run in which part, and in which order.
import { globSync } from 'node:fs'
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
  // Minutes: processes and databases start, fail and start again.
  'test/faults/@(backup|bmc|clock|network|postgres|power-cut|processes|upgrade).test.ts',
  'test/simulator.test.ts',
  'test/simulator/all-pairs.test.ts',
]

/** Files that `npm test` runs with few rounds and samples, and `npm run test:more` again with all of them. */
const AGAIN = new Set([
  'test/baremetal/conductors-allocations.test.ts',
  'test/baremetal/conductors.test.ts',
  'test/baremetal/races.test.ts',
  'test/candidates/explosion.test.ts',
  'test/cli/kicks.test.ts',
  'test/candidates/processes.test.ts',
  'test/candidates/trees.test.ts',
  'test/events/attacks.test.ts',
  'test/events/order.test.ts',
  'test/policy/matrix.test.ts',
  'test/races/allocations.test.ts',
])

/** Files that need their own process, and why. */
const ALONE: Record<string, string> = {
  'test/store/plans.test.ts': 'explains every statement that is loaded, and means those of the ledger',
}

/** Slow files start first. Otherwise one would run last, alone, while the other cores wait. */
const LONG = [
  'test/docs.test.ts',
  'test/simulator/all-pairs.test.ts',
  'test/simulator.test.ts',
  'test/simulator/short-seeds.test.ts',
  'test/browser/now.test.ts',
  'test/browser/craft.test.ts',
  'test/baremetal/conductors-allocations.test.ts',
  'test/races/allocations.test.ts',
  'test/crash.test.ts',
  'test/baremetal/conductor-faults.test.ts',
  'test/clients/compute.test.ts',
  'test/policy/matrix.test.ts',
  'test/leases/model.test.ts',
  'test/reservation/nodes-kept.test.ts',
  'test/baremetal/races.test.ts',
  'test/clients/baremetal.test.ts',
  'test/cli/waiting.test.ts',
  'test/cli/login.test.ts',
  'test/cli/kicks.test.ts',
  'test/cli/demo.test.ts',
  'test/faults/server.test.ts',
  'test/baremetal/conductors.test.ts',
]

export type Part = 'most' | 'more'

/** The test files of a part, the long ones first. */
export function testFiles(part: Part): string[] {
  const files = globSync('test/**/*.test.ts').sort()
  const mine = files.filter(file => (part === 'more' ? isMore(file) || AGAIN.has(file) : !isMore(file)))
  return inOrder(mine)
}

export function inOrder(files: readonly string[]): string[] {
  const [long, others] = [files.filter(file => LONG.includes(file)), files.filter(file => !LONG.includes(file))]
  return [...long.sort((a, b) => LONG.indexOf(a) - LONG.indexOf(b)), ...others]
}

const isMore = (file: string) => MORE.some(pattern => matchesGlob(file, pattern))

export const isAlone = (file: string): boolean => file in ALONE
