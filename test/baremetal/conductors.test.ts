// Conductors that die or fall asleep in the middle of their work: others end it as the table in docs/BAREMETAL.md says.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig } from '../../src/config/config.ts'
import { limits } from '../../src/shared/limits.ts'
import { Baremetal, employConductor, spawnConductor, uuid, waitFor } from '../support/baremetal.ts'
import { expectStatus } from '../support/placement.ts'
import { isLong } from '../support/rounds.ts'
import { migrated, type Server, type ServerProcess, spawnServer, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const TAKE_OVER_MS = 2_000
/** What may come on top of the bound: a busy machine takes its time, and only the long run is strict. */
// Much, because machines can be busy.
const LENIENCE_MS = 30_000
const BOUND = ['--take-over-ms', String(TAKE_OVER_MS)]
const WORKS = { takeOverMs: TAKE_OVER_MS }
const SLOW = ['--fake-delay-ms', '60000']
const CLEAN = { clean_steps: [{ interface: 'deploy', step: 'erase_devices' }] }
const RESCUE = { rescue_password: 'x' }

type Start = 'enroll' | 'manageable' | 'available' | 'active'

/** Each transition: where it starts, and where the node is after its conductor died. */
const DEATHS: { verb: string; from: Start; during: string; ends: string; more?: object; info?: object }[] = [
  { verb: 'manage', from: 'enroll', during: 'verifying', ends: 'manageable' },
  { verb: 'inspect', from: 'manageable', during: 'inspecting', ends: 'manageable' },
  { verb: 'adopt', from: 'manageable', during: 'adopting', ends: 'active' },
  { verb: 'provide', from: 'manageable', during: 'cleaning', ends: 'clean failed' },
  { verb: 'clean', from: 'manageable', during: 'cleaning', ends: 'clean failed', more: CLEAN },
  { verb: 'active', from: 'available', during: 'deploying', ends: 'deploy failed' },
  { verb: 'rebuild', from: 'active', during: 'deploying', ends: 'deploy failed' },
  { verb: 'deleted', from: 'active', during: 'deleting', ends: 'available' },
  {
    verb: 'deleted',
    from: 'active',
    during: 'cleaning',
    ends: 'clean failed',
    info: { fake_delay: { tearDown: 0.001, clean: 60 } },
  },
  { verb: 'rescue', from: 'active', during: 'rescuing', ends: 'rescue failed', more: RESCUE },
]

/** Nodes at the start of each transition, two of them for power. */
async function prepare(api: Baremetal): Promise<string[]> {
  const [nodes, rescued] = await Promise.all([
    Promise.all(DEATHS.map(({ from }) => api.node({ instance_uuid: uuid() }, from))),
    api.node({}, 'active'),
  ])
  await api.go(rescued, 'rescue', 'rescue', RESCUE)
  return [...nodes, rescued, await api.node(), await api.node()]
}

/** Sets everything going, with a conductor that takes a minute for each step. */
async function beginAll(api: Baremetal, nodes: readonly string[]): Promise<void> {
  for (const [i, { verb, more, info }] of DEATHS.entries()) {
    const patch = [{ op: 'add', path: '/driver_info', value: info ?? {} }]
    expectStatus(await api.patch(`/v1/nodes/${nodes[i]}`, patch), 200)
    expectStatus(await api.provision(nodes[i]!, verb, more), 202)
  }
  const [rescued, on, reboot] = nodes.slice(DEATHS.length)
  expectStatus(await api.provision(rescued!, 'unrescue'), 202)
  expectStatus(await api.put(`/v1/nodes/${on}/states/power`, { target: 'power on' }), 202)
  expectStatus(await api.put(`/v1/nodes/${reboot}/states/power`, { target: 'rebooting' }), 202)
  for (const [i, node] of nodes.entries()) {
    const during = DEATHS[i]?.during ?? (i === DEATHS.length ? 'unrescuing' : 'enroll')
    await waitFor(`${node} is ${during} and locked`, async () => {
      const shown = await api.show(node)
      return shown.provision_state === during && shown.reservation !== null
    })
  }
}

async function expectEnds(api: Baremetal, nodes: readonly string[], deadlineMs: number): Promise<void> {
  for (const [i, { verb, ends }] of DEATHS.entries()) {
    const shown = await api.until(nodes[i]!, ends, deadlineMs)
    assert.equal(shown.target_provision_state, null)
    if (ends.endsWith('failed')) assert.match(shown.last_error, /died while the node was/)
    assert.equal(shown.instance_uuid === null, verb === 'deleted', verb)
  }
  const [rescued, on, reboot] = nodes.slice(DEATHS.length)
  await api.until(rescued!, 'unrescue failed', deadlineMs)
  for (const node of [on!, reboot!]) {
    assert.equal((await api.until(node, 'enroll', deadlineMs)).power_state, 'power on')
  }
  await api.fsck()
}

eachDatabase('conductors', ({ kind, create }) => {
  void test('a server killed in the middle of every transition ends each in its state when it is back', async () => {
    const database = await create()
    let server: Server = await startServer(database, WORKS)
    const api = new Baremetal(server.origin)
    const move = async (start: () => Promise<Server>) => {
      await server.stop()
      server = await start()
      api.origins = api.placement.origins = [server.origin]
    }
    try {
      const nodes = await prepare(api)
      await move(async () => {
        const doomed: ServerProcess = await spawnServer(database, [...BOUND, ...SLOW])
        return { ...doomed, stop: () => doomed.kill9() }
      })
      await beginAll(api, nodes)
      await move(() => startServer(database, WORKS))
      await expectEnds(api, nodes, TAKE_OVER_MS * 2 + LENIENCE_MS)
      // A transition after that goes its way as ever.
      await api.go(nodes[3]!, 'manage', 'manageable')
    } finally {
      api.close()
      await server.stop()
    }
  })

  if (kind === 'sqlite') return

  void describe('several', () => {
    let database = ''
    let server: Server
    let api: Baremetal
    before(async () => {
      database = await migrated(await create())
      server = await startServer(database, {}, 'api')
      api = new Baremetal(server.origin)
    })
    after(async () => {
      api.close()
      await server.stop()
    })

    void test('without a conductor no node is taken; the API says so', async () => {
      expectStatus(await api.post('/v1/nodes', { driver: 'fake-hardware' }), 400)
    })

    void test('kill -9 in the middle of every transition: another ends each within the bound', async () => {
      const first = await spawnConductor(database, 'first', BOUND)
      const nodes = await prepare(api)
      first.child.kill('SIGTERM')
      assert.equal((await first.exit).code, 0)
      const doomed = await spawnConductor(database, 'doomed', [...BOUND, ...SLOW])
      await beginAll(api, nodes)
      const heir = await employConductor(database, 'heir', WORKS)
      try {
        doomed.child.kill('SIGKILL')
        const killedAt = performance.now()
        await expectEnds(api, nodes, TAKE_OVER_MS + LENIENCE_MS)
        const tookMs = performance.now() - killedAt
        assert.ok(tookMs < TAKE_OVER_MS + LENIENCE_MS, `${tookMs} ms`)
        const { conductors } = (await api.get('/v1/conductors')).body
        const alive = Object.fromEntries(
          conductors.map((c: { hostname: string; alive: boolean }) => [c.hostname, c.alive]),
        )
        assert.deepEqual(alive, { first: false, doomed: false, heir: true })
      } finally {
        await heir.stop()
      }
    })

    void test('with default settings the bound is 10 s', async () => {
      const { takeOverMs } = loadConfig({}, {}, undefined)
      assert.equal(takeOverMs, 10_000)
      if (!isLong) return
      const doomed = await spawnConductor(database, 'doomed-2', SLOW)
      const info = { fake_delay: { verify: 0.001 } }
      const node = await api.node({ driver_info: info }, 'manageable')
      expectStatus(await api.provision(node, 'provide'), 202)
      await waitFor('it is locked', async () => (await api.show(node)).reservation === 'doomed-2')
      const heir = await employConductor(database, 'heir-3', { takeOverMs })
      try {
        doomed.child.kill('SIGKILL')
        await api.until(node, 'clean failed', 10_000 + LENIENCE_MS)
      } finally {
        await heir.stop()
      }
    })

    void test('a conductor that slept writes nothing late, and then works again', async () => {
      const sleeper = await spawnConductor(database, 'sleeper', [...BOUND, '--fake-delay-ms', '400'])
      const node = await api.node({ driver_info: { fake_delay: { verify: 0.001, clean: 0.001 } } }, 'available')
      const power = await api.node()
      expectStatus(await api.provision(node, 'active'), 202)
      await waitFor('it is locked', async () => (await api.show(node)).reservation === 'sleeper')
      sleeper.child.kill('SIGSTOP')
      const heir = await employConductor(database, 'heir-2', WORKS)
      try {
        await api.until(node, 'deploy failed', TAKE_OVER_MS + LENIENCE_MS)
        await api.go(node, 'deleted', 'available')
        const before = await api.show(node)
        sleeper.child.kill('SIGCONT')
        // Its step has long ended; what came of it must not show, now or later.
        await waitFor('it is back', async () => (await api.get('/v1/conductors/sleeper')).body.alive === true)
        await sleep(1_000)
        assert.deepEqual(await api.show(node), before)
        await heir.stop()
        expectStatus(await api.put(`/v1/nodes/${power}/states/power`, { target: 'power on' }), 202)
        const shown = await api.until(power, 'enroll')
        assert.deepEqual([shown.conductor, shown.power_state], ['sleeper', 'power on'])
        await api.fsck()
      } finally {
        sleeper.child.kill('SIGKILL')
        await Promise.all([sleeper.exit, heir.stop()])
      }
    })

    void test('work does not wait for a poll when it can be nudged', async () => {
      const conductor = await employConductor(database, 'quick', WORKS)
      try {
        // Without nudges a node ends at one poll and the next one at the next, however quick or slow the machine is.
        await waitFor(
          'one takes less than half the time between polls',
          async () => {
            await api.node({}, 'manageable')
            const startedAt = performance.now()
            await api.node({}, 'manageable')
            return performance.now() - startedAt < limits.conductorPollMs / 2
          },
          60_000,
        )
      } finally {
        await conductor.stop()
      }
    })
  })
})
