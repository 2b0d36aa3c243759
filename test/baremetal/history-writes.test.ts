// How lines get into the history of nodes and out again: with their change or not at all, fenced, and within bounds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { recorded } from '../../src/audit/record.ts'
import { witnessOf } from '../../src/audit/witness.ts'
import { systemClock } from '../../src/clock/clock.ts'
import { EVERYTHING } from '../../src/metal/access.ts'
import { Conductor } from '../../src/metal/conductors/conductor.ts'
import { signIn } from '../../src/metal/conductors/rows.ts'
import { FakeHardware } from '../../src/metal/drivers/fake.ts'
import type { Machine, Site, Task } from '../../src/metal/drivers/port.ts'
import { driversOf } from '../../src/metal/drivers/registry.ts'
import { historyDuty } from '../../src/metal/history/duty.ts'
import { listHistory } from '../../src/metal/history/rows.ts'
import { createNode, setMaintenance } from '../../src/metal/nodes/lifecycle.ts'
import { NOBODY } from '../../src/metal/nodes/provider.ts'
import { findNode } from '../../src/metal/nodes/rows.ts'
import { startVerb } from '../../src/metal/nodes/transitions.ts'
import { limits } from '../../src/shared/limits.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { Baremetal, spawnConductor, uuid, waitFor } from '../support/baremetal.ts'
import { as } from '../support/callers.ts'
import { FaultyStore } from '../support/faulty-store.ts'
import { expectStatus } from '../support/placement.ts'
import { spawnServer, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const clock = systemClock
const log = pino({ level: 'silent' })
const DAY_MS = 24 * 60 * 60_000

/** Hardware that tells the conductor something at each step. */
class Telling extends FakeHardware {
  tell: (site: Site) => Promise<unknown> = async () => {}
  constructor() {
    super({ delayMs: 0, pause: async () => {} })
  }
  override async run(task: Task, machine: Machine, site: Site) {
    await this.tell(site)
    return super.run(task, machine, site)
  }
}

const drivers = driversOf(new Telling())
const witness = witnessOf({ clock, isAudited: true }, () => 'tester')
const entry = () => witness({ action: 'test', outcome: 'done' })

/** A store with a conductor that has signed in, and does nothing. */
async function staffed(database: string): Promise<Store> {
  const store = openStore(database)
  const registration = { hostname: 'idle', incarnation: uuid(), group: '', drivers: ['fake-hardware'] }
  await store.write(() => signIn(registration, true, 1_000, 'spare'))
  return store
}

/** The lines of hooks are on the machine's page too. What they printed is for operators. */
async function expectShown(database: string, node: string) {
  const server = await startServer(database)
  const api = new Baremetal(server.origin)
  try {
    for (const [caller, isOperator] of [
      [{}, true],
      [as('reader', 'lab'), false],
    ] as const) {
      const { body } = expectStatus(await api.operator('GET', `/status/${node}`, undefined, caller), 200)
      const told = body.history.filter(({ what }: { what: string }) => what === 'node hook')
      assert.deepEqual(
        told.map(({ reason, output }: { reason: string; output: string | null }) => [reason, output !== null]),
        [
          ['hook clean said no', isOperator],
          ['hook clean began', false],
        ],
      )
      const history = expectStatus(await api.get(`/v1/nodes/${node}/history/detail`, caller), 200).body.history
      assert.equal(
        history.some(({ output }: { output: string | null }) => output !== null),
        isOperator,
      )
    }
  } finally {
    api.close()
    await server.stop()
  }
}

const newNode = (store: Store, more: object = {}) =>
  store.write(() =>
    recorded(
      createNode(
        { uuid: uuid(), attributes: { driver: 'fake-hardware', ...more }, state: 'available' },
        drivers,
        NOBODY,
        clock.now(),
      ),
      entry(),
    ),
  )
const maintain = (store: Store, node: string, reason: string, at = clock.now()) =>
  store.write(() => recorded(setMaintenance(node, EVERYTHING, reason, at), { ...entry(), at }))

async function linesOf(store: Store, ident: string) {
  const page = { descending: false, limit: 1_000, marker: null }
  return store.read(function* () {
    return yield* listHistory((yield* findNode(ident, EVERYTHING)).id, page)
  })
}

const employ = async (store: Store, driver: Telling, hostname: string, takeOverMs = 120_000) => {
  const conductor = new Conductor({
    store,
    clock,
    log,
    drivers: driversOf(driver),
    rules: [],
    hostname,
    isNameGiven: true,
    group: '',
    takeOverMs,
    isAudited: true,
    tookOver: () => {},
  })
  await conductor.start()
  return conductor
}

const undeploy = { verb: 'manage', word: 'manage', args: {}, reservation: null, who: NOBODY } as const
const clean = { verb: 'provide', word: 'provide', args: {}, reservation: null, who: NOBODY } as const

/** Has the node cleaned: a step of a conductor. */
async function begin(store: Store, node: string) {
  await store.write(() => startVerb(node, EVERYTHING, undeploy, drivers, clock.now()))
  await store.write(() => startVerb(node, EVERYTHING, clean, drivers, clock.now()))
}
const until = (store: Store, node: string, state: string) =>
  waitFor(`${node} is ${state}`, async () => {
    const found = await store.read(() => findNode(node, EVERYTHING))
    return found.provision_state === state && found.lock_incarnation === null && found
  })

eachDatabase('the history', ({ kind, create }) => {
  void test('has what a driver says of a step, and the end of what a program printed', async () => {
    const database = await create()
    const store = openStore(database)
    const driver = new Telling()
    const conductor = await employ(store, driver, 'c1')
    let node = ''
    try {
      node = (await newNode(store, { owner: 'lab' })).uuid
      driver.tell = async site => {
        await site.note({ event: 'hook clean began' })
        const output = `${'x'.repeat(limits.historyOutputMax)}\0 disk is worn \ud800`
        await site.note({ event: 'hook clean said no', severity: 'error', output })
      }
      await begin(store, node)
      conductor.wake()
      await until(store, node, 'available')
      const told = (await linesOf(store, node)).filter(({ type }) => type === 'hook')
      assert.deepEqual(
        told.map(({ event, severity, conductor: by }) => [event, severity, by]),
        [
          ['hook clean began', 'info', 'c1'],
          ['hook clean said no', 'error', 'c1'],
        ],
      )
      assert.equal(told[0]!.output, null)
      assert.ok(told[1]!.output!.startsWith('… x'))
      assert.ok(told[1]!.output!.endsWith('x disk is worn �'))
      assert.ok(told[1]!.output!.length <= limits.historyOutputMax)
    } finally {
      await conductor.stop()
      await store.close()
    }
    await expectShown(database, node)
  })

  void test('gets a line although the database was away for a moment', async () => {
    const store = openStore(await create())
    const faulty = new FaultyStore(store)
    const driver = new Telling()
    const conductor = await employ(faulty, driver, 'c1')
    try {
      const node = await newNode(store)
      driver.tell = async site => {
        faulty.isAway = true
        const noted = site.note({ event: 'told' })
        await new Promise(setImmediate)
        faulty.isAway = false
        await noted
      }
      await begin(store, node.uuid)
      conductor.wake()
      await until(store, node.uuid, 'available')
      assert.equal((await linesOf(store, node.uuid)).filter(({ event }) => event === 'told').length, 1)
    } finally {
      await conductor.stop()
      await store.close()
    }
  })

  void test('a transaction that fails leaves no line', async () => {
    const store = await staffed(await create())
    try {
      const node = await newNode(store)
      const before = await linesOf(store, node.uuid)
      const failing = store.write(function* () {
        yield* recorded(setMaintenance(node.uuid, EVERYTHING, 'x', clock.now()), entry())
        throw new Error('no')
      })
      await assert.rejects(failing, /no/)
      assert.deepEqual(await linesOf(store, node.uuid), before)
    } finally {
      await store.close()
    }
  })

  void test('only the newest lines of each node are kept, and none that are too old', async () => {
    const store = await staffed(await create())
    try {
      const [busy, quiet] = [await newNode(store), await newNode(store)]
      const long = limits.historyPruneBatch + 20
      for (let i = 0; i < long; i++) await maintain(store, busy.uuid, `${i}`)
      await maintain(store, quiet.uuid, 'old', clock.now() - 10 * DAY_MS)
      await maintain(store, quiet.uuid, 'new')
      const prune = (keep: number, keepDays: number) => historyDuty({ store, clock, log, keep, keepDays }).wake()
      await prune(0, 0)
      assert.equal((await linesOf(store, busy.uuid)).length, long + 1)
      await prune(0, 9)
      const kept = (await linesOf(store, quiet.uuid)).map(({ event }) => event)
      assert.deepEqual(kept, [
        'Enrolled with the driver fake-hardware, in state available.',
        'The reason for the maintenance is now: new',
      ])
      await prune(3, 9)
      const newest = (await linesOf(store, busy.uuid)).map(({ event }) => event)
      assert.deepEqual(
        newest,
        [3, 2, 1].map(back => `The reason for the maintenance is now: ${long - back}`),
      )
      assert.equal((await linesOf(store, quiet.uuid)).length, 2)
    } finally {
      await store.close()
    }
  })

  void test('after a crash each change has its line, and each line its change', async () => {
    const database = await create()
    const doomed = await spawnServer(database)
    const api = new Baremetal(doomed.origin)
    const nodes = await Promise.all(Array.from({ length: 8 }, () => api.node()))
    const storm = nodes.map(async node => {
      for (let i = 0; ; i++) await api.put(`/v1/nodes/${node}/maintenance`, { reason: `${i}` })
    })
    const ended = Promise.allSettled(storm)
    await waitFor('some of it is done', async () => (await api.show(nodes[7]!)).maintenance_reason > 5)
    await doomed.kill9()
    await ended
    const server = await startServer(database)
    api.origins = api.placement.origins = [server.origin]
    try {
      for (const node of nodes) {
        const { maintenance_reason } = await api.show(node)
        const { body } = expectStatus(await api.get(`/v1/nodes/${node}/history`), 200)
        const told = body.history.map(({ event }: { event: string }) => event).slice(1)
        const expected = Array.from({ length: Number(maintenance_reason) + 1 }, (_, i) =>
          i === 0 ? 'Maintenance began: 0' : `The reason for the maintenance is now: ${i}`,
        )
        assert.deepEqual(told, expected)
      }
      await api.fsck()
    } finally {
      api.close()
      await server.stop()
    }
  })

  if (kind === 'sqlite') return

  void test('a conductor that was given up writes no line, and who takes over is told', async () => {
    const database = await create()
    const server = await startServer(database, {}, 'api')
    const api = new Baremetal(server.origin)
    const dying = await spawnConductor(database, 'dying', ['--take-over-ms', '1000', '--fake-delay-ms', '60000'])
    try {
      const node = expectStatus(await api.post('/v1/nodes', { driver: 'fake-hardware' }), 201).body.uuid
      expectStatus(await api.provision(node, 'manage'), 202)
      await waitFor('it is locked', async () => (await api.show(node)).reservation === 'dying')
      dying.child.kill('SIGKILL')
      await dying.exit
      const store = openStore(database)
      const conductor = await employ(store, new Telling(), 'heir', 1_000)
      await api.until(node, 'manageable')
      const events = (await linesOf(store, node)).map(({ event }) => event)
      assert.ok(
        events.includes('Conductor dying died while the node was verifying; another one goes on.'),
        events.join(),
      )
      await conductor.stop()
      await store.close()
    } finally {
      api.close()
      await server.stop()
    }
  })

  void test('a driver whose conductor has lost the lock can write no line', async () => {
    const store = openStore(await create())
    const [slow, heir] = [new Telling(), new Telling()]
    const faulty = new FaultyStore(store)
    const sleeper = await employ(faulty, slow, 'sleeper', 1_000)
    let refusal: unknown = null
    const node = await newNode(store)
    const woken = Promise.withResolvers<void>()
    slow.tell = async site => {
      // Asleep: it sends no heartbeat until the other has taken over.
      faulty.isAway = true
      await woken.promise
      faulty.isAway = false
      await site.note({ event: 'late' }).catch((error: unknown) => (refusal = error))
    }
    await store.write(() => startVerb(node.uuid, EVERYTHING, undeploy, drivers, clock.now()))
    await store.write(() =>
      startVerb(node.uuid, EVERYTHING, { ...undeploy, verb: 'inspect', word: 'inspect' }, drivers, clock.now()),
    )
    sleeper.wake()
    await waitFor('the first has it', async () => faulty.isAway)
    const other = await employ(store, heir, 'heir', 1_000)
    try {
      await until(store, node.uuid, 'manageable')
      woken.resolve()
      await waitFor('the late line is refused', async () => refusal)
      const events = (await linesOf(store, node.uuid)).map(({ event }) => event)
      assert.ok(!events.includes('late'), events.join())
    } finally {
      woken.resolve()
      await sleeper.stop()
      await other.stop()
      await store.close()
    }
  })
})
