// The driver manual: machines that are simply there, handed over and taken back by hooks of the operator.
import assert from 'node:assert/strict'
import { after, afterEach, describe, test } from 'node:test'
import { isAlive } from '../support/alive.ts'
import { Baremetal, eachMetal, expectFault, NEWEST, newClass, spawnConductor, waitFor } from '../support/baremetal.ts'
import { Hooks } from '../support/hooks.ts'
import { expectStatus } from '../support/placement.ts'
import { type Command, migrated, type Server, spawnServer, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'

const MANUAL = { driver: 'manual' }

eachMetal('manual machines without hooks', api => {
  void test('are on, and go the way of all nodes', async () => {
    const node = await api.node(MANUAL, 'available')
    assert.equal((await api.show(node)).power_state, 'power on')
    await api.go(node, 'active', 'active')
    assert.equal((await api.go(node, 'deleted', 'available')).power_state, 'power on')
  })

  void test('are allocated and given back as they are', async () => {
    const resource_class = newClass()
    const node = await api.node({ ...MANUAL, resource_class }, 'available')
    const { uuid } = await api.allocated({ resource_class })
    assert.equal((await api.show(node)).provision_state, 'available')
    expectStatus(await api.del(`/v1/allocations/${uuid}`), 204)
    assert.equal((await api.show(node)).instance_uuid, null)
  })

  void test("can't be switched, inspected or rescued, and say why", async () => {
    const node = await api.node(MANUAL, 'manageable')
    expectStatus(await api.put(`/v1/nodes/${node}/states/power`, { target: 'power on' }), 202)
    assert.equal((await api.until(node, 'manageable')).last_error, null)
    expectStatus(await api.put(`/v1/nodes/${node}/states/power`, { target: 'power off' }), 202)
    const shown = await api.until(node, 'manageable')
    assert.match(shown.last_error, /no BMC, and the configuration no hook for power/)
    assert.equal(shown.power_state, 'power on')
    assert.match((await api.go(node, 'inspect', 'inspect failed')).last_error, /does not support inspect/)
  })

  void test('name sets of hooks that there are', async () => {
    const node = await api.node({ ...MANUAL, driver_info: { hooks: 'gpu-rack' } })
    assert.match((await api.go(node, 'manage', 'enroll')).last_error, /no set of hooks called 'gpu-rack'/)
    const { body } = expectStatus(await api.get(`/v1/nodes/${node}/validate`), 200)
    assert.match(body.deploy.reason, /no set of hooks called 'gpu-rack'/)
  })
})

{
  const hooks = new Hooks()
  after(() => hooks.remove())
  eachMetal(
    'manual machines with hooks',
    api => {
      afterEach(() => hooks.reset())
      const machine = async (more: object = {}) => {
        const resource_class = newClass()
        const node = await api.node({ ...MANUAL, resource_class, ...more }, 'available')
        return { node, resource_class }
      }
      const given = async (more: object = {}, wish: object = {}) => {
        const { node, resource_class } = await machine(more)
        const { uuid } = await api.allocated({ resource_class, ...wish })
        return { node, resource_class, uuid: uuid as string }
      }
      const release = (uuid: string) => api.del(`/v1/allocations/${uuid}`, NEWEST)

      void test('are handed over with an allocation, and taken back and cleaned with its end', async () => {
        const extra = { rack: 7 }
        const wish = { name: `job-${Date.now()}`, extra: { ssh_keys: ['ssh-ed25519 AAAA ada'] } }
        const { node, uuid } = await given({ extra, driver_info: { address: '10.0.0.7' } }, wish)
        await api.until(node, 'active')
        expectStatus(await release(uuid), 204)
        expectStatus(await api.get(`/v1/allocations/${uuid}`), 404)
        await api.until(node, 'available')
        const letters = hooks.letters(node)
        assert.deepEqual(hooks.asked(node), ['clean', 'hand_over', 'return', 'clean'])
        const [, handOver, back, clean] = letters
        assert.deepEqual(handOver!.node.extra, extra)
        assert.equal(handOver!.node.address, '10.0.0.7')
        for (const { holder } of [handOver!, back!, clean!]) {
          assert.deepEqual(holder!.allocation, { uuid, ...wish })
          assert.equal(typeof holder!.project.id, 'string')
        }
        assert.equal(new Set(letters.map(({ attempt }) => attempt)).size, 4)
        assert.equal((await api.show(node)).power_state, 'power on')
        const { history } = expectStatus(await api.get(`/v1/nodes/${node}/history/detail`), 200).body
        const told = history.filter((line: { event_type: string }) => line.event_type === 'hook')
        assert.deepEqual(
          told.map(({ event, output }: { event: string; output: string }) => [event, output.trim()]),
          ['clean', 'hand_over', 'return', 'clean'].map(name => [
            `Hook ${name} is done: ${name} is done`,
            `${name} is done`,
          ]),
        )
      })

      void test('are handed over by a deployment too, without the secrets of instance_info', async () => {
        const { node } = await machine()
        const instance_info = { ssh_key: 'k', admin_password: 'hidden', nested: { token: 'hidden' } }
        expectStatus(await api.change(node, 'instance_info', instance_info), 200)
        await api.go(node, 'active', 'active', { configdrive: 'aGlkZGVu' })
        const letter = hooks.letters(node).at(-1)!
        assert.deepEqual(letter.node.instance_info, { ssh_key: 'k', nested: {} })
        assert.equal(letter.holder, null)
        await api.go(node, 'deleted', 'available')
      })

      void test('whose hand-over fails are kept out of use, and say which hook and why', async () => {
        hooks.tell('hand_over', 'fail')
        const { node, uuid, resource_class } = await given()
        const { last_error } = await api.until(node, 'deploy failed')
        assert.equal(last_error, 'Hook hand_over failed with exit code 3: no space left')
        expectStatus(await release(uuid), 204)
        await api.refused({ resource_class })
        hooks.tell('hand_over', 'succeed')
        // Whoever has looked at it gives it back to all.
        await api.go(node, 'undeploy', 'available')
        assert.deepEqual(hooks.asked(node).slice(-2), ['return', 'clean'])
        await api.allocated({ resource_class })
        await api.until(node, 'active')
      })

      void test('go to nobody before they are taken back and clean', async () => {
        const { node, uuid, resource_class } = await given()
        await api.until(node, 'active')
        hooks.tell('return', 'fail')
        expectStatus(await release(uuid), 204)
        assert.match(
          (await api.until(node, 'error')).last_error,
          /^Hook return failed with exit code 3: no space left$/,
        )
        await api.refused({ resource_class })
        hooks.tell('return', 'succeed')
        hooks.tell('clean', 'fail')
        assert.match((await api.go(node, 'undeploy', 'clean failed')).last_error, /^Hook clean failed/)
        await api.refused({ resource_class })
        hooks.tell('clean', 'succeed')
        await api.go(node, 'manage', 'manageable')
        await api.go(node, 'provide', 'available')
        await api.allocated({ resource_class })
        await api.until(node, 'active')
      })

      void test('that are given back while they are handed over are taken back after that', async () => {
        hooks.tell('hand_over', 'hang')
        const { node, uuid, resource_class } = await given()
        await hooks.begun('hand_over', node)
        expectStatus(await release(uuid), 204)
        const during = await api.show(node)
        assert.deepEqual([during.provision_state, during.target_provision_state], ['deploying', 'available'])
        assert.equal(during.instance_uuid, null)
        await api.refused({ resource_class })
        hooks.letGo()
        await api.until(node, 'available')
        assert.deepEqual(hooks.asked(node), ['clean', 'hand_over', 'return', 'clean'])
        assert.equal(hooks.letters(node)[2]!.holder!.allocation!.uuid, uuid)
      })

      void test('whose hook asks for more time are asked again, in the same attempt', async () => {
        hooks.tell('hand_over', 'later')
        const { node } = await given()
        await waitFor('it waits', async () => (await api.show(node)).provision_state === 'wait call-back')
        await api.until(node, 'active')
        const [first, second] = hooks.letters(node).slice(-2)
        assert.deepEqual([first!.asked, second!.asked, second!.attempt], [1, 2, first!.attempt])
      })

      void test('are given back while their hook asks for more time', async () => {
        hooks.tell('hand_over', 'later')
        const { node, uuid } = await given()
        await waitFor('it waits', async () => (await api.show(node)).provision_state === 'wait call-back')
        expectStatus(await release(uuid), 204)
        await api.until(node, 'available')
        assert.deepEqual(hooks.asked(node).slice(-2), ['return', 'clean'])
        assert.equal(hooks.letters(node).at(-1)!.holder!.allocation!.uuid, uuid)
      })

      void test('are taken back when their time is over', async () => {
        const { node, uuid } = await given({}, { expires_at: new Date((await api.now()) + 3_600_000).toISOString() })
        await api.until(node, 'active')
        await api.moveTo((await api.now()) + 3_700_000)
        await api.until(node, 'available')
        expectStatus(await api.get(`/v1/allocations/${uuid}`), 404)
        assert.deepEqual(hooks.asked(node).slice(-2), ['return', 'clean'])
      })

      void test('in maintenance are left to a person', async () => {
        const { node, uuid } = await given()
        await api.until(node, 'active')
        expectStatus(await api.put(`/v1/nodes/${node}/maintenance`, { reason: 'smoke' }), 202)
        expectStatus(await release(uuid), 204)
        assert.equal((await api.show(node)).provision_state, 'active')
        expectStatus(await api.del(`/v1/nodes/${node}/maintenance`), 202)
        await api.go(node, 'undeploy', 'available')
      })

      void test('that are protected keep their allocation', async () => {
        const { node, uuid } = await given()
        await api.until(node, 'active')
        expectStatus(await api.change(node, 'protected', true), 200)
        expectFault(await release(uuid), 403, /protected/)
        expectStatus(await api.change(node, 'protected', false), 200)
        expectStatus(await release(uuid), 204)
        await api.until(node, 'available')
      })

      void test('of a set without hooks are allocated as they are', async () => {
        const { node, uuid } = await given({ driver_info: { hooks: 'none' } })
        assert.equal((await api.show(node)).provision_state, 'available')
        assert.deepEqual(hooks.asked(node), [])
        expectStatus(await release(uuid), 204)
      })

      void test('are switched by the hook for power, and it says what they are', async () => {
        const { node } = await machine()
        expectStatus(await api.put(`/v1/nodes/${node}/states/power`, { target: 'power off' }), 202)
        assert.equal((await api.until(node, 'available')).power_state, 'power off')
        hooks.tell('power', 'fail')
        expectStatus(await api.put(`/v1/nodes/${node}/states/power`, { target: 'power on' }), 202)
        const shown = await api.until(node, 'available')
        assert.match(shown.last_error, /^Hook power \(on\) failed with exit code 3: no space left$/)
        assert.equal(shown.power_state, 'power off')
      })
    },
    { hooks: hooks.settings('hand_over', 'return', 'clean', 'power'), testClock: true },
  )
}

eachDatabase('a conductor of manual machines', ({ kind, create }) => {
  void describe('', () => {
    const hooks = new Hooks()
    after(() => hooks.remove())
    const sets = hooks.settings('hand_over', 'return', 'clean')
    const ARGS = ['--take-over-ms', '2000', '--hooks', JSON.stringify(sets)]

    void test('that stops in a hook ends it, and the next one asks again, in the same attempt', async () => {
      hooks.reset()
      const database = await create()
      const api = new Baremetal()
      let server = await startServer(database, { hooks: sets })
      const move = () => (api.origins = api.placement.origins = [server.origin])
      move()
      try {
        const resource_class = newClass()
        const node = await api.node({ ...MANUAL, resource_class }, 'available')
        hooks.tell('hand_over', 'hang')
        await api.allocated({ resource_class })
        const pid = await hooks.begun('hand_over', node)
        await server.stop()
        assert.ok(!isAlive(pid))
        hooks.letGo()
        server = await startServer(database, { hooks: sets })
        move()
        await api.until(node, 'active', 60_000)
        const [first, second] = hooks.letters(node).slice(-2)
        assert.deepEqual([first!.attempt, second!.asked], [second!.attempt, 2])
      } finally {
        api.close()
        await server.stop()
      }
    })

    if (kind === 'postgres') {
      void test('that others have given up ends its hook when it comes back', async () => {
        hooks.reset()
        const database = await migrated(await create())
        // Long enough that nobody is given up on a busy machine before it sleeps.
        const args = [...ARGS, '--take-over-ms', '10000']
        const server = await startServer(database, { hooks: sets, takeOverMs: 10_000 }, 'api')
        const api = new Baremetal(server.origin)
        const first = await spawnConductor(database, 'sleeper', args)
        let second: Command | null = null
        try {
          const resource_class = newClass()
          const node = await api.node({ ...MANUAL, resource_class }, 'available')
          hooks.tell('hand_over', 'hang')
          await api.allocated({ resource_class })
          const pid = await hooks.begun('hand_over', node)
          hooks.tell('hand_over', 'succeed')
          second = await spawnConductor(database, 'second', args)
          first.child.kill('SIGSTOP')
          await api.until(node, 'active', 60_000)
          first.child.kill('SIGCONT')
          await waitFor('the old hook is ended', async () => !isAlive(pid), 60_000)
          assert.equal((await api.show(node)).provision_state, 'active')
          await api.fsck()
        } finally {
          for (const one of [first, second]) one?.child.kill('SIGKILL')
          api.close()
          await server.stop()
        }
      })
    }

    void test('that is killed in a hook ends it, and whoever goes on asks again, in the same attempt', async () => {
      hooks.reset()
      const database = await create()
      const api = new Baremetal()
      const at = ({ origin }: Server) => (api.origins = api.placement.origins = [origin])
      const doomed = await spawnServer(database, ARGS)
      at(doomed)
      const resource_class = newClass()
      const node = await api.node({ ...MANUAL, resource_class }, 'available')
      let second: Command | null = null
      let server: Server = doomed
      try {
        hooks.tell('hand_over', 'hang')
        const { uuid } = await api.allocated({ resource_class })
        const pid = await hooks.begun('hand_over', node)
        if (kind === 'postgres') second = await spawnConductor(database, 'second', ARGS)
        await doomed.kill9()
        await waitFor('the hook is ended', async () => !isAlive(pid))
        hooks.letGo()
        server = await startServer(database, { hooks: sets, takeOverMs: 2_000 })
        at(server)
        await api.until(node, 'active', 60_000)
        const asked = hooks.letters(node).filter(({ hook }) => hook === 'hand_over')
        assert.ok(asked.length >= 2)
        assert.equal(new Set(asked.map(({ attempt }) => attempt)).size, 1)
        expectStatus(await api.del(`/v1/allocations/${uuid}`), 204)
        await api.until(node, 'available', 60_000)
        await api.fsck()
      } finally {
        second?.child.kill('SIGKILL')
        api.close()
        await server.stop()
      }
    })
  })
})

void test('settings of hooks that are wrong are refused, and secrets are not shown', async () => {
  const { loadConfig } = await import('../../src/config/config.ts')
  const { printable } = await import('../../src/config/settings.ts')
  const load = (hooks: unknown) => loadConfig({ hooks }, {}, undefined)
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  const url = 'https://images.example/hooks'
  const good = { default: { hand_over: { url, secret, seconds: 30 }, clean: { command: ['/bin/true'] } } }
  assert.doesNotMatch(JSON.stringify(printable(load(good))), /AQEB/)
  assert.match(JSON.stringify(printable(load(JSON.stringify(good)))), /images\.example/)
  for (const wrong of [
    'no json',
    [],
    { default: { other: { command: ['x'] } } },
    { default: { clean: { command: [] } } },
    { default: { clean: { command: 'rm -rf /' } } },
    { default: { clean: { url } } },
    { default: { clean: { url: 'https://u:p@h/', secret } } },
    { default: { clean: { url, secret: 'short' } } },
    { default: { clean: { command: ['x'], seconds: 0 } } },
    { 'a set': {} },
  ]) {
    assert.throws(() => load(wrong), /hooks \(from the command line\)/, JSON.stringify(wrong))
  }
})
