// Conductors that die or fall asleep while they allocate: what they left is done by others, once, and nothing comes late.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chance, clients, inParallel } from '../races/clients.ts'
import { type Config, loadConfig } from '../../src/config/config.ts'
import {
  type Allocation,
  Baremetal,
  employConductor,
  expectFault,
  NEWEST,
  newClass,
  spawnConductor,
  uuid,
  waitFor,
} from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'
import { isLong, rounds } from '../support/rounds.ts'
import { type Command, migrated, type Server, type ServerProcess, spawnServer, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const TAKE_OVER_MS = 2_000
/** What may come on top of the bound: a busy machine takes its time, and only the long run is strict. */
// Much, because machines can be busy.
const LENIENCE_MS = 30_000
const BOUND = ['--take-over-ms', String(TAKE_OVER_MS)]
const ROUNDS = rounds(2, 4)
const HOUR_MS = 3_600_000

/** Each is active with a node of its own, or in error and says why. */
async function expectWhole(api: Baremetal, allocations: readonly Allocation[]): Promise<void> {
  const nodes = new Set<string>()
  for (const { uuid: id, state, node_uuid, last_error } of allocations) {
    if (state === 'error') {
      assert.ok(last_error?.startsWith(`Failed to process allocation ${id}: `), String(last_error))
      assert.equal(node_uuid, null)
      continue
    }
    assert.equal(state, 'active')
    assert.ok(!nodes.has(node_uuid!), `${node_uuid} is given away twice`)
    nodes.add(node_uuid!)
    const shown = await api.show(node_uuid!)
    assert.deepEqual([shown.instance_uuid, shown.allocation_uuid], [id, id])
  }
  await api.fsck()
}

eachDatabase('servers that are killed while they allocate', ({ create }) => {
  void test(`finish what they had accepted when they are back, in ${ROUNDS} rounds`, async () => {
    const database = await create()
    const start = () => spawnServer(database, [...BOUND, '--conductor-name', 'only'])
    let server: ServerProcess = await start()
    const api = new Baremetal(server.origin)
    const below = chance(11)
    let cutOff = 0
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const resource_class = newClass()
        await api.nodes(15, { resource_class })
        const others = await api.nodes(6)
        const accepted: string[] = []
        const held: string[] = []
        const killAfter = 3 + below(20)
        let killed: Promise<void> | undefined
        await clients(42, async index => {
          try {
            if (index % 7 === 0) held.push((await api.hold([others[index / 7]!])).uuid)
            else accepted.push((await api.allocate({ resource_class })).uuid)
          } catch (error) {
            if (error instanceof assert.AssertionError) throw error
            cutOff++
          }
          if (accepted.length + held.length >= killAfter) killed ??= sleep(below(8)).then(() => server.kill9())
        })
        await killed
        server = await start()
        api.origins = api.placement.origins = [server.origin]
        const settled = await api.settledOf(resource_class)
        const found = new Set(settled.map(({ uuid: id }) => id))
        for (const id of accepted) assert.ok(found.has(id), `lost: ${id}`)
        for (const id of held) expectStatus(await api.get(`/v1/reservations/${id}`, NEWEST), 200)
        await expectWhole(api, settled)
      }
      // The kills must have come in the middle of the work, or nothing was tested.
      assert.ok(cutOff > 0)
    } finally {
      api.close()
      await server.kill9()
    }
  })

  void test('know after it who waits, in which order and until when, and what ends when', async () => {
    const database = await create()
    const start = () => spawnServer(database, [...BOUND, '--conductor-name', 'only', '--test-clock'])
    let server: ServerProcess = await start()
    const api = new Baremetal(server.origin)
    try {
      const resource_class = newClass()
      const [leased, held] = [
        await api.node({ resource_class }, 'available'),
        await api.node({ resource_class: newClass() }, 'available'),
      ]
      const ending = await api.allocated({ resource_class, expires_at: '2h' })
      const hold = await api.hold([held], { expires_at: '2h' })
      const begunAt = await api.now()
      const first = await api.allocate({ resource_class, wait_until: '5h' })
      const second = await api.allocate({ resource_class, wait_until: '5h' })
      const brief = await api.allocate({ resource_class, wait_until: '1h', traits: ['CUSTOM_NOBODY_HAS'] })
      await server.kill9()
      server = await start()
      api.origins = api.placement.origins = [server.origin]
      await api.moveTo(begunAt + 1.5 * HOUR_MS)
      assert.equal((await api.settled(brief.uuid)).state, 'error')
      assert.equal((await api.allocation(first.uuid)).state, 'allocating')
      await api.moveTo(begunAt + 2.5 * HOUR_MS)
      assert.equal((await api.settled(first.uuid)).node_uuid, leased)
      expectFault(await api.get(`/v1/allocations/${ending.uuid}`), 404)
      assert.equal((await api.allocation(second.uuid)).state, 'allocating')
      const node = await api.node({ resource_class }, 'available')
      assert.equal((await api.settled(second.uuid)).node_uuid, node)
      await waitFor('the hold has lapsed', async () => {
        return (await api.get(`/v1/reservations/${hold.uuid}`, NEWEST)).status === 404
      })
      await api.fsck()
    } finally {
      api.close()
      await server.kill9()
    }
  })
})

eachDatabase('conductors that allocate', ({ kind, create }) => {
  if (kind === 'sqlite') return

  let database = ''
  let server: Server
  let api: Baremetal
  const running = new Set<Command>()
  const employed: { stop: () => Promise<void> }[] = []
  before(async () => {
    database = await migrated(await create())
    server = await startServer(database, { takeOverMs: TAKE_OVER_MS }, 'api')
    api = new Baremetal(server.origin)
  })
  after(async () => {
    api.close()
    for (const conductor of running) await kill(conductor)
    for (const conductor of employed) await conductor.stop()
    await server.stop()
  })

  /** One that can be killed and stopped. */
  async function spawn(name: string): Promise<Command> {
    const conductor = await spawnConductor(database, name, BOUND)
    running.add(conductor)
    return conductor
  }
  async function kill(conductor: Command): Promise<void> {
    conductor.child.kill('SIGKILL')
    await conductor.exit
    running.delete(conductor)
  }
  /** One that lives until its work is done. */
  async function employ(name: string, settings: Partial<Config> = {}) {
    const conductor = await employConductor(database, name, { takeOverMs: TAKE_OVER_MS, ...settings })
    employed.push(conductor)
    return conductor
  }
  const isAlive = async (name: string) => (await api.get(`/v1/conductors/${name}`)).body.alive === true
  const untilDead = (name: string) => waitFor(`${name} is given up`, async () => !(await isAlive(name)))
  const states = async (ids: readonly string[]) => Promise.all(ids.map(async id => (await api.allocation(id)).state))

  /** A conductor that is stopped after it was given some allocations: they are under way, and stay so. */
  async function stopped(name: string, resource_class: string, count: number) {
    const conductor = await spawn(name)
    await api.nodes(count, { resource_class })
    conductor.child.kill('SIGSTOP')
    const ids = await clients(count, async () => (await api.allocate({ resource_class })).uuid as string)
    return { conductor, ids }
  }

  void test('without a conductor the API says 503, and nothing is created', async () => {
    const resource_class = newClass()
    for (let i = 0; i < 3; i++) expectFault(await api.post('/v1/allocations', { resource_class }), 503)
    assert.deepEqual(await api.allocationsOf(resource_class), [])
    const conductor = await spawn('brief')
    await api.refused({ resource_class })
    await kill(conductor)
    await untilDead('brief')
    // Nobody is left to say that it is gone, and still its drivers are not offered.
    assert.deepEqual(expectStatus(await api.get('/v1/drivers'), 200).body.drivers, [])
    expectFault(await api.get('/v1/drivers/fake-hardware'), 404)
    const name = `a-${uuid()}`
    expectFault(await api.post('/v1/allocations', { resource_class, name }), 503)
    expectFault(await api.get(`/v1/allocations/${name}`), 404)
  })

  void test('what a dead one left is taken over within the bound', async () => {
    const resource_class = newClass()
    const { conductor, ids } = await stopped('doomed', resource_class, 8)
    const heir = await employ('heir')
    assert.deepEqual(new Set(await states(ids)), new Set(['allocating']))
    await kill(conductor)
    await expectWhole(api, await api.settledOf(resource_class, TAKE_OVER_MS + LENIENCE_MS))
    assert.deepEqual(new Set(await states(ids)), new Set(['active']))
    await heir.stop()
  })

  void test('with default settings the bound is 10 s', async () => {
    const { takeOverMs } = loadConfig({}, {}, undefined)
    assert.equal(takeOverMs, 10_000)
    if (!isLong) return
    const resource_class = newClass()
    const { conductor } = await stopped('doomed-by-default', resource_class, 2)
    const heir = await employ('heir-by-default', { takeOverMs })
    await kill(conductor)
    await expectWhole(api, await api.settledOf(resource_class, 10_000 + LENIENCE_MS))
    await heir.stop()
  })

  void test('one that starts again takes up its own at once, also when it never looks for those of others', async () => {
    const resource_class = newClass()
    const { conductor, ids } = await stopped('again', resource_class, 4)
    await kill(conductor)
    const same = await employ('again', { takeOverMs: 60_000, allocationCheckMs: 0 })
    await expectWhole(api, await api.settledOf(resource_class))
    assert.deepEqual(new Set(await states(ids)), new Set(['active']))
    await same.stop()
  })

  void test('--allocation-check-ms 0: those of others are left alone; with a period they are not', async () => {
    const resource_class = newClass()
    const { conductor, ids } = await stopped('left', resource_class, 3)
    await kill(conductor)
    const idle = await employ('idle', { allocationCheckMs: 0 })
    await untilDead('left')
    const own = newClass()
    await api.nodes(1, { resource_class: own })
    await api.allocated({ resource_class: own })
    // They would be taken over at the next look, which comes every 200 ms.
    await sleep(1_000)
    assert.deepEqual(new Set(await states(ids)), new Set(['allocating']))
    const busy = await employ('busy', { allocationCheckMs: 100 })
    await expectWhole(api, await api.settledOf(resource_class, TAKE_OVER_MS + LENIENCE_MS))
    await idle.stop()
    await busy.stop()
  })

  for (const [title, heirName] of [
    ['one that slept changes nothing when it wakes', 'wakeful'],
    ['one that slept changes nothing when it wakes, also when another has its name', 'sleeper'],
  ] as const) {
    void test(title, async () => {
      const [resource_class, burst] = [newClass(), newClass()]
      const sleeper = await spawn('sleeper')
      await api.nodes(12, { resource_class: burst })
      await api.nodes(6, { resource_class })
      // Some it has begun, some it hasn't heard of.
      const begun = clients(24, async () => (await api.allocate({ resource_class: burst })).uuid as string)
      await sleep(15)
      sleeper.child.kill('SIGSTOP')
      await begun
      await clients(8, async () => (await api.allocate({ resource_class })).uuid as string)
      const heir = await employ(heirName)
      const look = async () => {
        const found = [...(await api.allocationsOf(burst)), ...(await api.allocationsOf(resource_class))]
        const nodes = await Promise.all(found.map(async ({ node_uuid }) => node_uuid && api.show(node_uuid)))
        return { found, nodes }
      }
      for (const each of [burst, resource_class]) await api.settledOf(each, TAKE_OVER_MS * 2 + LENIENCE_MS)
      const before = await look()
      assert.equal(before.found.length, 32)
      sleeper.child.kill('SIGCONT')
      // Long enough for what it would do late.
      await sleep(1_000)
      assert.deepEqual(await look(), before)
      await expectWhole(api, before.found)
      await kill(sleeper)
      await heir.stop()
    })
  }

  void test('who waits is taken over with the rest', async () => {
    const resource_class = newClass()
    const doomed = await spawn('doomed-waiting')
    const [first, second] = [
      await api.allocate({ resource_class, wait_until: '1h' }),
      await api.allocate({ resource_class, wait_until: '1h' }),
    ]
    const heir = await employ('heir-waiting')
    await kill(doomed)
    await untilDead('doomed-waiting')
    const [one] = await api.nodes(1, { resource_class })
    assert.equal((await api.settled(first.uuid, TAKE_OVER_MS + LENIENCE_MS)).node_uuid, one)
    const [two] = await api.nodes(1, { resource_class })
    assert.equal((await api.settled(second.uuid)).node_uuid, two)
    await api.fsck()
    await heir.stop()
  })

  void describe('three of them', () => {
    const ALLOCATIONS = rounds(160, 500)
    const NODES = rounds(60, 200)
    const KILLS = 3
    const names = ['c0', 'c1', 'c2']

    void test(`under kill -9 and SIGSTOP every second: ${ALLOCATIONS} allocations all come to an end`, async () => {
      const resource_class = newClass()
      const conductors = names.map(name => spawn(name))
      await Promise.all(conductors)
      await api.nodes(NODES, { resource_class })
      const over = new AbortController()
      let kills = 0
      const chaos = async () => {
        for (let turn = 0; kills < KILLS || !over.signal.aborted; turn++) {
          const doomed = turn % 3
          const sleeper = (await conductors[(turn + 1) % 3]!).child
          sleeper.kill('SIGSTOP')
          await kill(await conductors[doomed]!)
          kills++
          conductors[doomed] = spawn(names[doomed]!)
          await sleep(1_000)
          sleeper.kill('SIGCONT')
        }
      }
      const ask = async () => {
        // In sixteen streams, so that they last for many kills.
        await inParallel(16, ALLOCATIONS, async () => {
          const id = uuid()
          await waitFor('it is accepted', async () => {
            const { status } = expectStatus(await api.post('/v1/allocations', { uuid: id, resource_class }), 201, 503)
            return status === 201
          })
          await sleep(500)
        })
        over.abort()
      }
      await Promise.all([chaos(), ask()])
      const settled = await api.settledOf(resource_class)
      assert.equal(settled.length, ALLOCATIONS)
      assert.equal(settled.filter(({ state }) => state === 'active').length, NODES)
      await expectWhole(api, settled)
      for (const conductor of conductors) await kill(await conductor)
    })
  })
})
