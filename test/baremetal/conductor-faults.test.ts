// A conductor whose database goes away, or takes a commit and never answers: each step is done once, in its order, and no
// node stays locked.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { witnessOf } from '../../src/audit/witness.ts'
import { systemClock } from '../../src/clock/clock.ts'
import { EVERYTHING } from '../../src/metal/access.ts'
import { assign, failAllocations } from '../../src/metal/allocations/conductor-writes.ts'
import { createAllocation } from '../../src/metal/allocations/lifecycle.ts'
import { createNode, patchNode } from '../../src/metal/nodes/lifecycle.ts'
import { Conductor } from '../../src/metal/conductors/conductor.ts'
import { signIn } from '../../src/metal/conductors/rows.ts'
import { FakeHardware } from '../../src/metal/drivers/fake.ts'
import type { Driver, Machine, Site, Task } from '../../src/metal/drivers/port.ts'
import { driversOf } from '../../src/metal/drivers/registry.ts'
import { findNode, type NodeRow } from '../../src/metal/nodes/rows.ts'
import { Presence } from '../../src/metal/conductors/presence.ts'
import { NOBODY } from '../../src/metal/nodes/provider.ts'
import type { Verb } from '../../src/metal/nodes/states.ts'
import { startVerb } from '../../src/metal/nodes/transitions.ts'
import { migrateStore } from '../../src/process/migrate.ts'
import { StoreUnavailable } from '../../src/store/failure.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { EMPTY } from '../../src/shared/json.ts'
import { Baremetal, uuid, waitFor } from '../support/baremetal.ts'
import { FaultyStore } from '../support/faulty-store.ts'
import { expectStatus } from '../support/placement.ts'
import { startPostgres } from '../support/postgres.ts'
import { startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const TAKE_OVER_MS = 600
const OUTAGE_MS = 2_000

/** Hardware that writes down what was asked of it, and takes as long as it is told. */
class Watched extends FakeHardware {
  override readonly name: string
  readonly steps: string[] = []
  pause: (step: string) => Promise<unknown> = async () => {}

  constructor(name = 'fake-hardware') {
    super({ delayMs: 0, pause: async () => {} })
    this.name = name
  }

  override async run(task: Task, machine: Machine, site: Site) {
    this.steps.push(task.step)
    await this.pause(task.step)
    return super.run(task, machine, site)
  }
}

const isTaking = (value: unknown): value is NodeRow[] =>
  Array.isArray(value) && value.length > 0 && 'lock_incarnation' in (value[0] as object)

eachDatabase('a conductor', ({ create }) => {
  let store: Store
  let faulty: FaultyStore
  let hardware: Watched
  let conductor: Conductor

  const employ = async (driver: Driver) => {
    conductor = new Conductor({
      store: faulty,
      clock: systemClock,
      log: pino({ level: 'silent' }),
      drivers: driversOf(driver),
      rules: [],
      hostname: 'faulty',
      isNameGiven: true,
      group: '',
      takeOverMs: TAKE_OVER_MS,
      isAudited: true,
      tookOver: () => {},
    })
    await conductor.start()
  }

  before(async () => {
    store = openStore(await create())
    await migrateStore(store)
  })
  after(() => store.close())

  const begin = async () => {
    faulty = new FaultyStore(store)
    hardware = new Watched()
    await employ(hardware)
  }
  const end = () => conductor.stop()

  const every = driversOf(new Watched(), new Watched('other-hardware'))
  const newNode = (driver = 'fake-hardware') =>
    store.write(() =>
      createNode({ uuid: uuid(), attributes: { driver }, state: 'available' }, every, NOBODY, systemClock.now()),
    )
  const ask = async (node: string, verb: Verb) => {
    const order = { verb, word: verb, args: {}, reservation: null, who: NOBODY }
    await store.write(() => startVerb(node, EVERYTHING, order, every, systemClock.now()))
    conductor.wake()
  }
  const until = (node: string, state: string) =>
    waitFor(`${node} is ${state}`, async () => {
      const found = await store.read(() => findNode(node, EVERYTHING))
      return found.provision_state === state && found.lock_incarnation === null && found
    })
  /** A node in use, and a conductor that has done nothing else yet. */
  const activeNode = async () => {
    const { uuid: node } = await newNode()
    await ask(node, 'active')
    await until(node, 'active')
    hardware.steps.length = 0
    return node
  }

  void test('ends no step twice when the answers to its writes are lost', async () => {
    await begin()
    const node = await activeNode()
    let writes = 0
    faulty.answered = () => {
      if (writes++ % 2 === 0) throw new StoreUnavailable('the answer is lost')
    }
    await ask(node, 'deleted')
    await until(node, 'available')
    await end()
    assert.deepEqual(hardware.steps, ['tearDown', 'clean'])
  })

  void test('begins a step again in which the database was away, and blames no machine', async () => {
    await begin()
    const node = await activeNode()
    let failures = 0
    hardware.pause = async step => {
      if (step === 'tearDown' && failures++ === 0) throw new StoreUnavailable('the database is away')
    }
    await ask(node, 'deleted')
    const { last_error } = await until(node, 'available')
    await end()
    assert.deepEqual([hardware.steps, last_error], [['tearDown', 'tearDown', 'clean'], null])
  })

  void test('does what it took though it was never told that it has it', async () => {
    await begin()
    const node = await activeNode()
    let lost = 0
    faulty.answered = value => {
      if (!isTaking(value) || lost++ > 0) return
      throw new StoreUnavailable('the answer is lost')
    }
    await ask(node, 'deleted')
    await until(node, 'available')
    assert.equal(conductor.strayLocks, 0)
    await end()
    assert.equal(lost, 2)
    assert.deepEqual(hardware.steps, ['tearDown', 'clean'])
  })

  void test('takes its work up again after an error that it could not even write down', async () => {
    await begin()
    const node = await activeNode()
    let errors = 0
    hardware.pause = async step => {
      if (step !== 'clean' || errors > 0) return
      faulty.write = async () => {
        errors++
        throw new TypeError('a bug')
      }
      throw new TypeError('a bug')
    }
    await ask(node, 'deleted')
    await waitFor('it has failed', async () => errors > 0)
    assert.equal((await store.read(() => findNode(node, EVERYTHING))).reservation, 'faulty')
    faulty.write = new FaultyStore(store).write
    await until(node, 'available')
    await end()
    assert.deepEqual(hardware.steps, ['tearDown', 'clean', 'clean'])
  })

  void test('goes on with its work when the database was away for longer than others wait', async () => {
    await begin()
    const node = await activeNode()
    const torn = Promise.withResolvers<void>()
    hardware.pause = step => (step === 'tearDown' ? torn.promise : Promise.resolve())
    await ask(node, 'deleted')
    await waitFor('it is at work', async () => hardware.steps.length > 0)
    faulty.isAway = true
    torn.resolve()
    await sleep(TAKE_OVER_MS * 1.5)
    faulty.isAway = false
    await until(node, 'available')
    await end()
    assert.deepEqual(hardware.steps, ['tearDown', 'clean'])
  })

  void test('gives an allocation its node once, though it decides again because the answer was lost', async () => {
    await begin()
    const node = await activeNode()
    await ask(node, 'deleted')
    const { id, provider_id: provider } = await until(node, 'available')
    const wanted = {
      uuid: uuid(),
      givenUuid: null,
      name: null,
      resourceClass: 'lost',
      traits: [],
      candidates: null,
      node: null,
      extra: {},
      owner: null,
      waitUntil: null,
      expiresAt: null,
      keeper: null,
      plannedEnd: null,
      note: null,
      requestId: null,
    }
    const routing = { takeOverMs: TAKE_OVER_MS * 100, seed: 1, attempt: null }
    const now = systemClock.now()
    const [first, second] = await store.write(function* () {
      const made = yield* createAllocation(wanted, EVERYTHING, NOBODY, routing, now)
      const other = yield* createAllocation({ ...wanted, uuid: uuid() }, EVERYTHING, NOBODY, routing, now)
      return [made, other]
    })
    const attributes = [{ op: 'add', path: ['resource_class'], value: 'lost' }] as const
    await store.write(() =>
      patchNode(node, { node: EVERYTHING, allocation: EVERYTHING }, attributes, every, NOBODY, now),
    )
    const decide = (allocation: (typeof first)['id']) =>
      store.write(() => assign([{ allocation, node: id, provider }], first.conductor_affinity, every, now))
    assert.deepEqual(await decide(first.id), ['granted'])
    assert.deepEqual(await decide(first.id), ['gone'])
    assert.deepEqual(await decide(second.id), ['lost'])
    assert.equal((await store.read(() => findNode(node, EVERYTHING))).allocation_uuid, first.uuid)
    const verdicts = [first.id, second.id].map(allocation => ({ allocation, error: 'none', reasons: EMPTY }))
    const fail = () => store.write(() => failAllocations(verdicts, first.conductor_affinity, now))
    assert.deepEqual(await fail(), new Set([second.id]))
    assert.deepEqual(await fail(), new Set())
    await end()
  })

  void test('that was silent itself gives the others time to be heard before it gives them up', async () => {
    const calm = 1e9
    const options = {
      store,
      clock: systemClock,
      log: pino({ level: 'silent' }),
      hostname: 'silent',
      isNameGiven: true,
      group: '',
      drivers: [],
      silentMs: calm,
      witness: witnessOf({ clock: systemClock, isAudited: true }, () => 'silent'),
    }
    const presence = new Presence(options)
    await presence.signIn()
    await presence.beat()
    assert.equal(presence.mayJudgeOthers, true)
    options.silentMs = -1
    assert.equal(presence.isLate, true)
    assert.equal(presence.mayJudgeOthers, false)
    await presence.beat()
    options.silentMs = calm
    assert.equal(presence.isLate, false)
    assert.equal(presence.mayJudgeOthers, false)
    await presence.leave()
  })

  void test('takes only nodes that it has the driver for, and leaves the others to those who have it', async () => {
    await begin()
    const node = await activeNode()
    await end()
    const other = new Watched('other-hardware')
    await employ(other)
    await assert.rejects(ask(node, 'deleted'), /No conductor service registered which supports driver fake-hardware/)
    const who = { hostname: 'elsewhere', incarnation: uuid(), group: '', drivers: ['fake-hardware'] }
    await store.write(() => signIn(who, true, TAKE_OVER_MS, 'elsewhere'))
    await ask(node, 'deleted')
    const { uuid: own } = await newNode('other-hardware')
    await ask(own, 'active')
    await until(own, 'active')
    const { provision_state, reservation } = await store.read(() => findNode(node, EVERYTHING))
    assert.deepEqual([provision_state, reservation], ['deleting', null])
    assert.deepEqual(other.steps, ['deploy'])
    await end()
    await employ(hardware)
    await until(node, 'available')
    await end()
  })
})

void describe('PostgreSQL away for longer than others wait, with work under way', () => {
  void test('all nodes end where they were going, and the ledger is whole', async () => {
    // What was answered must be on disk when it is killed.
    const postgres = await startPostgres({ fsync: true })
    try {
      const database = await postgres.createDatabase()
      const server = await startServer(database, { takeOverMs: OUTAGE_MS })
      const api = new Baremetal(server.origin)
      try {
        const info = { driver_info: { fake_delay: { tearDown: 0.3, clean: 0.3 } } }
        const nodes = await Promise.all(Array.from({ length: 6 }, () => api.node(info, 'active')))
        for (const node of nodes) expectStatus(await api.provision(node, 'deleted'), 202)
        await postgres.kill9()
        await sleep(OUTAGE_MS)
        await postgres.restart()
        await waitFor('it answers', async () => (await api.get('/v1/nodes')).status === 200)
        for (const node of nodes) await api.until(node, 'available', 30_000)
        await api.fsck()
      } finally {
        api.close()
        await server.stop()
      }
    } finally {
      await postgres.stop()
    }
  })
})
