// A Nova that is away, refuses or hangs at a step of a lease's life: the ledger goes on, and the lease says what is wrong.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { classOf } from '../support/reservation.ts'
import { eachTestCloud } from './clouds.ts'
import { eventually, type Lease, Scene } from './scene.ts'

eachTestCloud('a Nova that is away', 'nova', over => {
  const scene = (name: string, body: (scene: Scene) => Promise<void>) =>
    void test(name, async () => {
      const scene = new Scene(over())
      await body(scene)
      await scene.leave()
      assert.deepEqual(over().cloud.nova.errors, [])
    })
  const nova = () => over().cloud.nova
  const isDegraded = (scene: Scene, lease: Lease, pattern: RegExp) =>
    eventually(async () => {
      const shown = await scene.show(lease)
      assert.equal(shown.degraded, true)
      assert.match(shown.status_reason, pattern)
    })
  const isWhole = (scene: Scene, lease: Lease) =>
    eventually(async () => {
      // What is tried again slowly is due now.
      await over().passTo((await over().now()) + 60_000)
      const shown = await scene.show(lease)
      assert.deepEqual([shown.degraded, shown.status_reason], [false, undefined])
    })

  scene('at its creation a lease is booked, and has its flavor when Nova is back', async scene => {
    await scene.enroll(1)
    await nova().away()
    const lease = await scene.lease([scene.instances()])
    await isDegraded(scene, lease, /Nova/)
    assert.equal((await scene.show(lease)).status, 'PENDING')
    await nova().back()
    await isWhole(scene, lease)
    assert.notEqual(await scene.flavor(lease.reservation, 'root'), null)
  })

  scene('a lease that comes and goes while Nova is away leaves nothing', async scene => {
    await scene.enroll(1)
    const kept = await scene.lease([scene.instances()])
    await eventually(async () => assert.notEqual(await scene.flavor(kept.reservation, 'root'), null))
    await nova().away()
    const unseen = await scene.lease([scene.instances()])
    for (const lease of [kept, unseen]) await scene.deleteLease(lease)
    await nova().back()
    for (const { reservation } of [kept, unseen]) {
      await eventually(async () => assert.equal(await scene.flavor(reservation, 'root'), null))
    }
  })

  scene('at its start a lease is active, and access follows', async scene => {
    await scene.enroll(1)
    const lease = await scene.lease([scene.instances()])
    await eventually(async () => assert.notEqual(await scene.flavor(lease.reservation, 'root'), null))
    await nova().away()
    await over().passTo(lease.start)
    await scene.until(lease, 'ACTIVE')
    await isDegraded(scene, lease, /Nova/)
    assert.deepEqual(await scene.slots(lease.reservation), { [scene.hosts[0]!]: 1 })
    await nova().back()
    await isWhole(scene, lease)
    await scene.running(lease.reservation)
    await scene.ended(lease)
  })

  scene('at its end nothing new starts, and slots stay booked until the claims are gone', async scene => {
    await scene.enroll(1)
    const lease = await scene.begun([scene.instances({ vcpus: 4, amount: 2 })])
    const server = await scene.running(lease.reservation)
    await nova().away()
    await over().passTo(lease.end)
    await scene.until(lease, 'TERMINATING')
    await isDegraded(scene, lease, /Nova/)
    expectStatus((await scene.takeSlot(scene.hosts[0]!, lease.reservation)).answer, 409)
    assert.deepEqual(await scene.usages(`blazar_${scene.hosts[0]}`), { [classOf(lease.reservation)]: 1 })
    const next = { name: 'next', start_date: 'now', end_date: '2100-01-01 00:00', reservations: [scene.instances()] }
    const alice = { version: null, ...(await over().as('alice')) }
    expectStatus(await over().reservation.post('/leases', next, alice), 409)
    await over().check()
    await nova().back()
    await scene.until(lease, 'TERMINATED')
    assert.equal(await scene.server(server), null)
    await scene.nothingOf(lease.reservation)
    await isWhole(scene, lease)
  })

  scene('a lease that began and ended while Nova was away leaves nothing', async scene => {
    await scene.enroll(1)
    await nova().away()
    const lease = await scene.lease([scene.instances()])
    await over().passTo(lease.start)
    await scene.until(lease, 'ACTIVE')
    await over().passTo(lease.end)
    await nova().back()
    await scene.ended(lease)
  })

  scene('a server that is reverted into a lease after its end goes with it', async scene => {
    await scene.enroll(1)
    await scene.outside(1)
    const lease = await scene.begun([scene.instances()])
    const server = await scene.running(lease.reservation)
    await scene.act(server, 'resize', { flavorRef: await scene.plainFlavor() }, 'alice')
    await scene.untilStatus(server, 'VERIFY_RESIZE')
    // Away for Holdfast, and not for its users.
    nova().fail({ kind: 'drop', version: '2.61' })
    await over().passTo(lease.end)
    await scene.until(lease, 'TERMINATING')
    await scene.act(server, 'revertResize', null, 'alice')
    assert.equal((await scene.untilStatus(server, 'ACTIVE'))['OS-EXT-SRV-ATTR:host'], scene.hosts[0])
    assert.deepEqual(await scene.usages(`blazar_${scene.hosts[0]}`), { [classOf(lease.reservation)]: 1 })
    nova().heal()
    await isWhole(scene, lease)
    await scene.until(lease, 'TERMINATED')
    assert.equal(await scene.server(server), null)
  })

  scene('servers that are asked for while a lease ends are refused or go with it', async scene => {
    await scene.enroll(1)
    const lease = await scene.begun([scene.instances({ amount: 6 })])
    const asked = Array.from({ length: 6 }, () => scene.tryBoot(lease.reservation))
    await asked[0]
    await scene.deleteLease(lease)
    for (const answer of await Promise.all(asked)) expectStatus(answer, 202, 400)
    await scene.nothingOf(lease.reservation)
    await eventually(async () => assert.equal((await scene.usages(scene.hosts[0]!))['VCPU'], 0))
  })

  scene('a Nova that says no is asked again, and its words are shown', async scene => {
    await scene.enroll(1)
    nova().fail({ kind: 'status', status: 403, version: '2.61', method: 'POST', path: /flavors/ })
    const lease = await scene.lease([scene.instances()])
    await isDegraded(scene, lease, /Policy doesn't allow/)
    nova().heal()
    await isWhole(scene, lease)
    assert.notEqual(await scene.flavor(lease.reservation, 'root'), null)
  })

  scene('a flavor that lost its class is mended before anyone may use it', async scene => {
    await scene.enroll(1)
    nova().fail({ kind: 'status', status: 500, version: '2.61', path: /extra_specs/ })
    const lease = await scene.lease([scene.instances()])
    await over().passTo(lease.start)
    await scene.until(lease, 'ACTIVE')
    await isDegraded(scene, lease, /Nova/)
    assert.equal(await scene.flavor(lease.reservation), null)
    nova().heal()
    await isWhole(scene, lease)
    await scene.running(lease.reservation)
    await scene.ended(lease)
  })

  scene('a server that does not go because its compute died goes when that counts as down', async scene => {
    await scene.enroll(1)
    const lease = await scene.begun([scene.instances()])
    const server = await scene.running(lease.reservation)
    nova().host(scene.hosts[0]!).kill()
    await over().passTo(lease.end)
    await scene.until(lease, 'TERMINATING')
    await eventually(async () => assert.equal((await scene.server(server))['OS-EXT-STS:task_state'], 'deleting'))
    assert.deepEqual(await scene.usages(`blazar_${scene.hosts[0]}`), { [classOf(lease.reservation)]: 1 })
    nova().host(scene.hosts[0]!).miss()
    await eventually(async () => {
      await over().passTo((await over().now()) + 60_000)
      assert.equal(await scene.server(server), null)
    })
    await scene.until(lease, 'TERMINATED')
    await nova().start(scene.hosts[0]!)
  })

  scene('a server that left its lease is confirmed when the compute that it left is back', async scene => {
    await scene.enroll(1)
    await scene.outside(1)
    const lease = await scene.begun([scene.instances()])
    const server = await scene.running(lease.reservation)
    await scene.act(server, 'resize', { flavorRef: await scene.plainFlavor() }, 'alice')
    await scene.untilStatus(server, 'VERIFY_RESIZE')
    nova().host(scene.hosts[0]!).kill()
    await over().passTo(lease.end)
    await scene.until(lease, 'TERMINATING')
    await eventually(async () =>
      assert.ok(
        nova()
          .seen('POST', /action/)
          .some(({ body }) => 'confirmResize' in body),
      ),
    )
    for (let round = 0; round < 3; round++) await over().passTo((await over().now()) + 30_000)
    assert.equal((await scene.server(server)).status, 'VERIFY_RESIZE')
    await nova().start(scene.hosts[0]!)
    await eventually(async () => {
      await over().passTo((await over().now()) + 60_000)
      assert.equal((await scene.show(lease)).status, 'TERMINATED')
    })
    await scene.untilStatus(server, 'ACTIVE')
    await isWhole(scene, lease)
  })
})
