// The board follows the log: after any changes, by any process, it shows what a fresh one would read, and whoever goes on
// with the events after its sequence hears of everything that changed.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { seeded } from '../../src/clock/chance.ts'
import { Board } from '../../src/status/board.ts'
import { PROMISE_KINDS } from '../../src/status/machine.ts'
import { openStore } from '../../src/store/open.ts'
import { Baremetal, waitFor } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'
import { Reservation, type Shown } from '../support/reservation.ts'
import { type Server, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { randomChanges } from './random-changes.ts'

const MACHINES = 8
const STEPS = 30
const ROUNDS = 2

eachDatabase('the board', ({ kind, create }) => {
  let database: string
  const servers: Server[] = []
  const metal = new Baremetal()
  const leases = new Reservation()
  const nodes: string[] = []

  before(async () => {
    database = await create()
    const names = kind === 'sqlite' ? ['one'] : ['one', 'two']
    for (const conductorName of names) servers.push(await startServer(database, { conductorName, testClock: true }))
    const origins = servers.map(({ origin }) => origin)
    metal.origins = metal.placement.origins = origins
    leases.at(...origins)
    for (let i = 0; i < MACHINES; i++) {
      const node = await metal.node({ name: `m${i}`, resource_class: 'some', owner: i % 2 ? 'p1' : 'p2' }, 'available')
      if (i < 3) expectStatus(await metal.operator('PUT', `/leasable-nodes/${node}`), 200, 201)
      nodes.push(node)
    }
  })
  after(async () => {
    metal.close()
    leases.close()
    for (const server of servers) await server.stop()
  })

  /** From every process. */
  const statuses = async (): Promise<Shown[]> => {
    const found = []
    for (const { origin } of servers) {
      const answer = await fetch(`${origin}/holdfast/v1/status`, { headers: { 'x-auth-token': 'admin' } })
      found.push(await answer.json())
    }
    return found
  }
  /** What a board shows that reads all of it now. */
  const readAfresh = async (): Promise<Shown[]> => {
    const store = openStore(database)
    try {
      const now = await metal.now()
      const board = new Board({
        id: 'a board',
        store,
        catchUp: async () => {},
        now: () => now,
        names: { user: id => id, project: id => id },
      })
      await board.fresh()
      const all = [true, true, true, true]
      const sight = {
        key: '',
        project: null,
        seesAll: true,
        ports: all,
        bmc: all,
        open: new Set(PROMISE_KINDS),
        own: new Set<never>(),
      }
      const viewpoint = board.viewpoint(sight)
      const rows = board.entries.map(entry => JSON.parse(`${String(board.lookOf(entry, viewpoint)).slice(1)}}`))
      return rows.map(row => withNames(row, [...viewpoint.traits.keys()]))
    } finally {
      await store.close()
    }
  }
  void test('a reading that fails is tried again, and what was forgotten is read again', async () => {
    const store = openStore(database)
    let failures = 0
    const flaky = new Proxy(store, {
      get(target, name) {
        if (name === 'read' && failures > 0 && --failures === 0) return () => Promise.reject(new Error('no database'))
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
    const names = { user: (id: string) => id, project: (id: string) => id }
    const board = new Board({ id: 'a board', store: flaky, catchUp: async () => {}, now: () => 0, names })
    const note = () => board.entryOf('m1')?.row.source.node.description
    try {
      // The number of the reading that fails: of all, of what changed, and of all again.
      for (const [step, at] of [3, 1, 2, 3].entries()) {
        expectStatus(await metal.change('m1', 'description', `try ${step}`), 200)
        if (step === 3) board.forget()
        failures = at
        await assert.rejects(board.fresh(), /no database/)
        const [{ sequence }] = await statuses()
        assert.ok((await board.fresh()) >= Number.parseInt(sequence))
        assert.equal(note(), `try ${step}`)
      }
    } finally {
      await store.close()
    }
  })

  const withNames = ({ mine: _, may: __, ...row }: Shown, traits: readonly string[]) => ({
    ...row,
    traits: row.traits.map((place: number) => traits[place]),
  })
  const rowsOf = (status: Shown) => status.machines.map((row: Shown) => withNames(row, status.traits))
  const isAtWork = (status: Shown) =>
    status.machines.some(({ verb }: Shown) => verb) || status.waiting.some(({ state }: Shown) => state === 'waiting')

  const change = randomChanges({ metal, leases, nodes })

  void test('every process shows at once what another has committed', async () => {
    for (let i = 0; i < 10; i++) {
      // The one that answers is each in turn.
      expectStatus(await metal.change('m0', 'description', `note ${i}`), 200)
      for (const { machines } of await statuses()) {
        assert.equal(machines.find(({ name }: Shown) => name === 'm0').note, `note ${i}`)
      }
    }
  })

  void test('also the claims of other services', async () => {
    const states = async () =>
      (await statuses()).map(({ machines }) => machines.find(({ name }: Shown) => name === 'm7').state)
    for (let i = 0; i < 10; i++) {
      const consumer = randomUUID()
      expectStatus(await metal.placement.claim(consumer, { [nodes[7]!]: { CUSTOM_SOME: 1 } }), 204)
      assert.deepEqual(new Set(await states()), new Set(['taken']))
      expectStatus(await metal.placement.del(`/allocations/${consumer}`), 204)
      assert.deepEqual(new Set(await states()), new Set(['free']))
    }
  })

  for (let seed = 1; seed <= ROUNDS; seed++) {
    void test(`shows what is there after random changes, and misses no event (${seed})`, async () => {
      const random = seeded(seed * 7 + kind.length)
      let [before] = await statuses()
      for (let step = 0; step < STEPS; step++) await change(random)
      const [now] = await waitFor('nobody is at work', async () => {
        const all = await statuses()
        return !all.some(isAtWork) && all
      })
      const fresh = await readAfresh()
      for (const status of await statuses()) assert.deepEqual(rowsOf(status), fresh)

      const { events } = expectStatus(
        await metal.operator('GET', `/events?after=${before.sequence}&kind=${KINDS}`),
        200,
      ).body
      const told = JSON.stringify(events)
      const isLeaseTold = events.some(({ type }: Shown) => type.startsWith('holdfast.lease.'))
      const rowsBefore = new Map<string, Shown>(rowsOf(before).map((row: Shown) => [row.uuid, row]))
      for (const row of rowsOf(now)) {
        const old = rowsBefore.get(row.uuid)
        if (isDeepEqual(old, row)) continue
        const isBooked = isLeaseTold && !isDeepEqual(old?.next ?? null, row.next)
        assert.ok(
          told.includes(row.uuid) || told.includes(row.id ?? old?.id ?? '?') || isBooked,
          JSON.stringify([old, row]),
        )
      }
      before = now
      await metal.fsck()
    })
  }
})

const KINDS = 'node,allocation,hold,lease,claim,provider,server'

function isDeepEqual(one: unknown, other: unknown): boolean {
  try {
    assert.deepEqual(one, other)
    return true
  } catch {
    return false
  }
}
