// Bookings are replaced: what memory is told of them is what the database has.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { EVERYTHING } from '../../metal/access.ts'
import { signIn } from '../../metal/conductors/rows.ts'
import { FakeHardware } from '../../metal/drivers/fake.ts'
import { driversOf } from '../../metal/drivers/registry.ts'
import { createNode } from '../../metal/nodes/lifecycle.ts'
import { NOBODY } from '../../metal/nodes/provider.ts'
import { findNode } from '../../metal/nodes/rows.ts'
import { migrate } from '../../store/migrate.ts'
import { SqliteStore } from '../../store/sqlite.ts'
import { command } from '../../store/statement.ts'
import { run, runAll } from '../../store/transaction.ts'
import { CalendarMirror } from '../calendar/mirror.ts'
import { leasablesOf, lockLeasables } from '../calendar/resources.ts'
import { bookedFor } from '../calendar/wishes.ts'
import { newLeaseWrites } from '../lifecycle/writes.ts'
import { enrolNode } from '../pool/nodes.ts'
import type { Lease, NodeTerms } from '../types.ts'
import { replaceBookings } from './rows.ts'

const drivers = driversOf(new FakeHardware({ delayMs: 0, pause: async () => {} }))
const terms: NodeTerms = { resource_type: 'physical:node', resource_class: 'gold', traits: [], min: 1, max: 1 }
const give = command((db, a: { allocation: string }) => db.updateTable('bookings').set({ allocation: a.allocation }))

function leaseOf(id: string, reservation: string): Lease {
  const now = { created_at: 1, updated_at: null }
  const flags = { missing_resources: false, resources_changed: false }
  const only = { id: reservation, lease_id: id, status: 'pending', terms, ...flags, nodes: [], ...now } as const
  const who = { name: 'lease', user_id: 'u', project_id: 'p', start_at: 1, end_at: 2 }
  return {
    id,
    ...who,
    status: 'PENDING',
    status_reason: null,
    degraded: false,
    reservations: [only],
    events: [],
    ...now,
  }
}

void test('a node that was given to a lease keeps its allocation in memory too, when the lease is prolonged', async () => {
  await using opened = new AsyncDisposableStack()
  const store = new SqliteStore(':memory:')
  opened.defer(() => store.close())
  await migrate(store, 1)
  const calendar = new CalendarMirror(
    store,
    async () => {},
    error => assert.fail(String(error)),
  )
  store.onCommit(({ changes }) => calendar.absorb(changes))
  const [node, lease, reservation, allocation] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  const conductor = { hostname: 'c', incarnation: 'i', group: '', drivers: [...drivers.keys()] }
  await store.write(() => signIn(conductor, true, 60_000, 'spare'))
  const attributes = { driver: 'fake-hardware', resource_class: 'gold' }
  await store.write(() => createNode({ uuid: node, attributes, state: 'enroll' }, drivers, NOBODY, 1))
  await store.write(() => enrolNode(node, 1))
  await calendar.load()
  const { provider_id: id } = await store.read(() => findNode(node, EVERYTHING))
  await store.write(() => runAll(newLeaseWrites({ ...leaseOf(lease, reservation), is_deleted: false, due: {} })))
  const bookUntil = (end: number) =>
    store.write(function* () {
      const booking = bookedFor(lease, reservation, terms, { start: 1, end, free: end }, 1)
      yield* replaceBookings(yield* lockLeasables([id]), lease, new Map([[id, [booking]]]))
    })
  await bookUntil(2)
  await store.write(() => run(give({ allocation })))
  await bookUntil(3)
  const [there] = await store.read(() => leasablesOf([id]))
  assert.equal(there!.booked[0]!.allocation, allocation)
  assert.deepEqual(calendar.get(id)!.booked, there!.booked)
})
