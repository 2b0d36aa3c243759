// Where the promises are, and the tests over HTTP that are likely to speak of them, the likeliest first.
// Unit tests need no list: whoever imports a file tests it.

export interface Area {
  sources: readonly string[]
  tests: readonly string[]
  /** The simulator's, the likeliest first; without any the simulator doesn't know the area. */
  mixes?: readonly string[]
}

const MIGRATIONS = 'src/store/migrations'

export const AREAS: Record<string, Area> = {
  claims: {
    sources: [
      'src/ledger/claims',
      `${MIGRATIONS}/0001-ledger.postgres.sql`,
      `${MIGRATIONS}/0041-claim-calls.postgres.sql`,
    ],
    mixes: ['ledgers', 'claims', 'crowd'],
    tests: [
      'test/rooms/claims.test.ts',
      'test/placement/*.test.ts',
      'test/races/@(claims|calls|consumers|on-memory).test.ts',
    ],
  },
  candidates: {
    sources: ['src/ledger/candidates'],
    mixes: ['ledgers', 'claims'],
    tests: ['test/candidates/*.test.ts', 'test/placement/*.test.ts'],
  },
  leases: {
    sources: ['src/leases', `${MIGRATIONS}/0008-leases.sqlite.sql`, `${MIGRATIONS}/0047-bookings-fit.postgres.sql`],
    mixes: ['diaries', 'leases', 'hosts', 'heirs', 'lodgers', 'bookings'],
    tests: ['test/reservation/*.test.ts', 'test/leases/*.test.ts', 'test/nova/*.test.ts'],
  },
  quotas: {
    sources: ['src/quotas', `${MIGRATIONS}/0018-quotas.sqlite.sql`],
    mixes: ['wards', 'diaries', 'quota'],
    tests: ['test/rooms/quotas.test.ts', 'test/quotas.test.ts', 'test/identity/changes.test.ts'],
  },
  allocations: {
    sources: ['src/metal/allocations', 'src/metal/expiry.ts', `${MIGRATIONS}/0004-allocations.sqlite.sql`],
    mixes: ['wards', 'metal', 'expiry', 'bookings', 'queue', 'fickle'],
    tests: [
      'test/baremetal/*allocations*.test.ts',
      'test/baremetal/@(expiry|kept|forecast|queue|races|usage|fsck|history).test.ts',
    ],
  },
  holds: {
    sources: ['src/metal/holds'],
    mixes: ['wards', 'holds'],
    tests: ['test/rooms/holds.test.ts', 'test/baremetal/reservations*.test.ts'],
  },
  queue: {
    sources: ['src/metal/queue', `${MIGRATIONS}/0026-queue.sqlite.sql`],
    mixes: ['wards', 'queue', 'alone'],
    tests: ['test/rooms/queue.test.ts', 'test/baremetal/@(queue|forecast|usage).test.ts'],
  },
  webhooks: {
    sources: ['src/webhooks', `${MIGRATIONS}/0022-webhooks.sqlite.sql`],
    mixes: ['webhooks'],
    tests: ['test/rooms/webhooks.test.ts', 'test/webhooks/*.test.ts'],
  },
  identity: {
    sources: ['src/identity', `${MIGRATIONS}/0005-identity.sqlite.sql`],
    tests: ['test/identity/!(real-keystone).test.ts', 'test/policy/identity.test.ts'],
  },
}

/** Everywhere else: these come first for their room. */
export const ELSEWHERE: Record<string, readonly string[]> = {
  'src/ledger': ['test/placement/*.test.ts'],
  'src/metal': ['test/baremetal/*.test.ts'],
  'src/compute': ['test/compute/*.test.ts'],
  'src/audit': ['test/audit/entries.test.ts', 'test/audit/chain.test.ts'],
  'src/events': ['test/events/*.test.ts'],
  'src/calendars': ['test/calendars/*.test.ts'],
  'src/status': ['test/status/*.test.ts'],
}
