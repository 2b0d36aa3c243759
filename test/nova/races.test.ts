// Work for Nova that is overtaken: the wish changes during it, its process dies, or others do the same at once.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inParallel } from '../races/clients.ts'
import { Identity, user, usersText } from '../support/identity.ts'
import { NOVA_LOGIN, startNova } from '../support/nova.ts'
import { classOf, instances, Reservation, type Shown } from '../support/reservation.ts'
import { type Server, spawnServer, startServer } from '../support/server.ts'
import { eachDatabase } from '../support/stores.ts'
import { Gate } from './gate.ts'
import { Lab, soon } from './lab.ts'

eachDatabase('work for Nova that is overtaken', databases => {
  void describe('', () => {
    let lab: Lab
    const gate = new Gate(() => (lab as Lab | undefined)?.nova.origin)
    before(async () => {
      await gate.start()
      lab = await Lab.open(await databases.create(), { novaUrl: gate.url })
      await lab.hosts(1)
    })
    afterEach(() => lab.api.placement.fsck())
    after(async () => {
      await lab.close()
      await gate.stop()
    })
    const flavor = (id: string) => lab.nova.flavors.get(id)
    const isWhole = (id: string) => soon(() => assert.ok(flavor(id)?.specs[`resources:${classOf(id)}`]))
    const isGone = (id: string) => soon(() => assert.equal(flavor(id), undefined))

    for (const isAfter of [false, true]) {
      const when = isAfter ? 'after' : 'before'

      test(`a lease that is changed just ${when} its flavor is made gets the one that it wants`, async () => {
        const held = gate.hold('POST', /\/flavors$/, isAfter)
        const lease = await lab.lease({}, { from: 5, to: 60 })
        const { id } = lease.reservations[0]
        await held.arrived
        await lab.api.update(lease.id, { reservations: [{ id, vcpus: 4 }] })
        held.release()
        await soon(() => assert.equal(flavor(id)?.vcpus, 4))
        await isWhole(id)
        assert.ok(!(await lab.api.show(lease.id)).degraded)
        await lab.api.end(lease.id)
        await isGone(id)
      })

      test(`a lease that is deleted just ${when} its flavor is made leaves none`, async () => {
        const held = gate.hold('POST', /\/flavors$/, isAfter)
        const lease = await lab.lease({}, { from: 5, to: 60 })
        const { id } = lease.reservations[0]
        await held.arrived
        await lab.api.end(lease.id)
        held.release()
        await lab.nova.settled()
        await soon(() => assert.ok(lab.nova.seen('DELETE', new RegExp(`flavors/${id}`)).length > 0))
        await isGone(id)
      })
    }

    test('who is given up and comes back late changes nothing', async () => {
      const held = gate.hold('POST', /\/flavors$/)
      const lease = await lab.lease({}, { from: 30, to: 60 })
      const { id } = lease.reservations[0]
      await held.arrived
      // Its term is over, and another makes the flavor.
      await lab.api.operate('POST', '/clock', { advance: 120, work: false })
      await isWhole(id)
      await lab.api.update(lease.id, { reservations: [{ id, vcpus: 2 }] })
      await soon(() => assert.equal(flavor(id)?.vcpus, 2))
      await isWhole(id)
      held.release()
      await lab.api.advance(5)
      assert.equal(flavor(id)?.vcpus, 2)
      assert.ok(!(await lab.api.show(lease.id)).degraded)
      await lab.api.end(lease.id)
      await isGone(id)
    })

    test('a flavor that someone late makes of a lease that is gone goes again', async () => {
      const held = gate.hold('POST', /\/flavors$/)
      const lease = await lab.lease({}, { from: 30, to: 60 })
      const { id } = lease.reservations[0]
      await held.arrived
      await lab.api.operate('POST', '/clock', { advance: 120, work: false })
      await isWhole(id)
      await lab.api.end(lease.id)
      await isGone(id)
      const made = lab.nova.seen('POST', /flavors$/).length
      held.release()
      await soon(() => assert.equal(lab.nova.seen('POST', /flavors$/).length, made + 1))
      await isGone(id)
    })

    test('a flavor that someone late deletes is there again', async () => {
      const lease = await lab.lease({}, { from: 30, to: 60 })
      const { id } = lease.reservations[0]
      await isWhole(id)
      const held = gate.hold('DELETE', /\/flavors\//)
      await lab.api.update(lease.id, { reservations: [{ id, vcpus: 2 }] })
      await held.arrived
      await lab.api.operate('POST', '/clock', { advance: 120, work: false })
      await soon(() => assert.equal(flavor(id)?.vcpus, 2))
      await isWhole(id)
      const deleted = lab.nova.seen('DELETE', new RegExp(id)).length
      held.release()
      await soon(() => assert.equal(lab.nova.seen('DELETE', new RegExp(id)).length, deleted + 1))
      await isWhole(id)
      await lab.api.end(lease.id)
      await isGone(id)
    })
  })
})

eachDatabase('a process that is killed during its work for Nova', databases => {
  test('the next one finishes each step', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-killed-'))
    const users = join(folder, 'users.yaml')
    const people = Object.fromEntries([
      user('root', { lab: ['admin'] }),
      user(NOVA_LOGIN.user, { [NOVA_LOGIN.project]: ['admin', 'service'] }),
    ])
    writeFileSync(users, await usersText(people, ['lab', NOVA_LOGIN.project]))
    const nova = await startNova()
    const gate = new Gate(() => nova.origin)
    await gate.start()
    const database = await databases.create()
    const args = ['--auth', 'password', '--users', users, '--compute', 'nova', '--nova-url', gate.url, '--test-clock']
    const api = new Reservation()
    let server = await spawnServer(database, args)
    const meet = async () => {
      nova.use(server.origin)
      api.at(server.origin)
      const identity = new Identity(server.origin)
      api.logIn(await identity.token('root'))
      identity.close()
    }
    try {
      await meet()
      const [host] = await nova.addHosts(1)
      await api.post('/os-hosts', { name: host!.name })
      let lease: Shown
      const steps: [string, RegExp, () => Promise<unknown>][] = [
        ['POST', /\/flavors$/, async () => (lease = await api.lease([instances()], { from: 5, to: 60 }))],
        [
          'POST',
          /os-extra_specs$/,
          () => api.update(lease.id, { reservations: [{ id: lease.reservations[0].id, vcpus: 2 }] }),
        ],
        ['POST', /flavors\/.*\/action$/, () => api.operate('POST', '/clock', { advance: 360, work: false })],
        ['DELETE', /\/flavors\//, () => api.end(lease.id)],
      ]
      for (const [i, [method, path, deed]] of steps.entries()) {
        const held = gate.hold(method, path, i % 2 === 0)
        await deed()
        await held.arrived
        await server.kill9()
        held.release()
        server = await spawnServer(database, args)
        await meet()
        // On PostgreSQL the dead one's term has to end first.
        await api.operate('POST', '/clock', { advance: 100, work: false })
        const { id } = lease.reservations[0]
        await soon(() => {
          const found = nova.flavors.get(id)
          if (i === 3) return assert.equal(found, undefined)
          assert.ok(found?.specs[`resources:${classOf(id)}`])
          assert.equal(found.vcpus, i === 0 ? 1 : 2)
          return assert.equal(found.access.size, i === 2 ? 1 : 0)
        })
        await api.placement.fsck()
      }
      assert.deepEqual(nova.errors, [])
    } finally {
      api.close()
      await server.stop()
      await gate.stop()
      await nova.stop()
      rmSync(folder, { recursive: true })
    }
  })
})

eachDatabase(
  'two processes and a Nova that comes and goes',
  databases => {
    let lab: Lab
    let second: Server
    before(async () => {
      lab = await Lab.open(await databases.create())
      const settings = { compute: 'nova', novaUrl: lab.nova.url, testClock: true } as const
      second = await startServer(lab.cloud.database, settings)
      await lab.hosts(4)
    })
    after(async () => {
      await second.stop()
      await lab.close()
    })

    test('leases are made, changed, started and deleted at once, and Nova has exactly what it should have', async () => {
      const { nova, api } = lab
      const over = new AbortController()
      const weather = (async () => {
        while (!over.signal.aborted) {
          await nova.away()
          await sleep(30)
          await nova.back()
          await sleep(120)
        }
      })()
      const wanted = new Map<string, number>()
      await inParallel(4, 24, async (i: number) => {
        const lease = await lab.lease({}, { from: i % 3 === 0 ? 0 : 300, to: 600 })
        const { id } = lease.reservations[0]
        if (i % 3 === 1) await api.update(lease.id, { reservations: [{ id, memory_mb: 640 }] })
        if (i % 4 === 0) await api.end(lease.id)
        else wanted.set(id, i % 3 === 1 ? 640 : 512)
      })
      over.abort()
      await weather
      await soon(async () => {
        await api.advance(1)
        const found = new Map([...nova.flavors.values()].map(({ id, ram }) => [id, ram]))
        assert.deepEqual(found, wanted)
        for (const { id, specs } of nova.flavors.values()) assert.equal(specs[`resources:${classOf(id)}`], '1')
        const { leases } = (await api.get('/leases')).body
        for (const { status, degraded, reservations } of leases) {
          assert.equal(degraded, false)
          assert.deepEqual(lab.access(reservations[0].id), status === 'ACTIVE' ? [lab.project] : [])
        }
      })
      await api.placement.fsck()
      const { leases } = (await api.get('/leases')).body
      await inParallel(4, leases.length, async (i: number) => api.end(leases[i].id))
      await soon(async () => {
        await api.advance(1)
        assert.equal(nova.flavors.size, 0)
      })
      await api.placement.fsck()
      assert.deepEqual(nova.errors, [])
    })
  },
  ['postgres'],
)
