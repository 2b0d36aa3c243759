// Leases as users see them, over our own compute and over a Nova: the same tests.
import assert from 'node:assert/strict'
import { expectStatus } from '../support/placement.ts'
import { classOf, dateAt } from '../support/reservation.ts'
import type { BackEnd } from './back-end.ts'
import { eventually, HOST, scenesOver } from './scene.ts'

/** All tests, with a cloud that there is once they run. */
export function leaseSuite(over: () => BackEnd): void {
  const scene = scenesOver(over)

  scene('the flavor is for the project of the lease, and only while it is active', 1, async scene => {
    await scene.enroll(1)
    const lease = await scene.lease([scene.instances({ vcpus: 2 })])
    const seen = async () =>
      Promise.all((['alice', 'bob'] as const).map(async who => (await scene.flavor(lease.reservation, who)) !== null))
    await eventually(async () => assert.notEqual(await scene.flavor(lease.reservation, 'root'), null))
    assert.deepEqual(await seen(), [false, false])
    expectStatus(await scene.tryBoot(lease.reservation), 400)
    await over().passTo(lease.start)
    await scene.until(lease, 'ACTIVE')
    await eventually(async () => assert.deepEqual(await seen(), [true, false]))
    const { name, vcpus, ram, disk, 'os-flavor-access:is_public': isPublic } = await scene.flavor(lease.reservation)
    assert.deepEqual([name, vcpus, ram, disk, isPublic], [`reservation:${lease.reservation}`, 2, 512, 1, false])
    expectStatus(await scene.tryBoot(lease.reservation, 'bob'), 400)
    assert.equal((await scene.ended(lease)).degraded, false)
    assert.deepEqual(await seen(), [false, false])
  })

  scene('as many servers as were reserved run, on the hosts of the lease; one more does not', 2, async scene => {
    await scene.enroll(2)
    const lease = await scene.begun([scene.instances({ vcpus: 2, amount: 3 })])
    const servers = []
    for (let i = 0; i < 3; i++) servers.push(await scene.running(lease.reservation))
    const fourth = await scene.boot(lease.reservation)
    assert.equal(fourth.status, 'ERROR')
    assert.match(fourth.fault.message, /No valid host/)
    for (const [host, total] of Object.entries(await scene.slots(lease.reservation))) {
      assert.deepEqual(await scene.usages(`blazar_${host}`), { [classOf(lease.reservation)]: total })
      assert.equal((await scene.usages(host))['VCPU'], 2 * total)
    }
    assert.equal(await over().compute.show(servers[0]!, await over().as('bob')), null)
    expectStatus(await over().compute.del(`/servers/${servers[0]}`, await over().as('alice')), 204)
    await scene.untilGone(servers[0]!)
    servers[0] = await scene.running(lease.reservation)
    await scene.ended(lease)
    for (const server of servers) assert.equal(await scene.server(server), null)
    for (const host of scene.hosts) assert.equal((await scene.usages(host))['VCPU'], 0)
  })

  scene('servers without a reservation never land on hosts for leases', 1, async scene => {
    await scene.enroll(1)
    const server = await scene.boot(await scene.plainFlavor())
    assert.ok(server.status === 'ERROR' || !scene.hosts.includes(server['OS-EXT-SRV-ATTR:host']))
  })

  scene('a lease that is changed before it starts has a flavor of the new size', 1, async scene => {
    await scene.enroll(1)
    const lease = await scene.lease([scene.instances()])
    const size = async () => {
      const flavor = await scene.flavor(lease.reservation, 'root')
      return [flavor?.vcpus, flavor?.ram]
    }
    await eventually(async () => assert.deepEqual(await size(), [1, 512]))
    await scene.change(lease, { reservations: [{ id: lease.reservation, vcpus: 4, memory_mb: 1024, amount: 2 }] })
    await eventually(async () => assert.deepEqual(await size(), [4, 1024]))
    await over().passTo(lease.start)
    await scene.until(lease, 'ACTIVE')
    await eventually(async () => assert.notEqual(await scene.flavor(lease.reservation), null))
    for (let i = 0; i < 2; i++) await scene.running(lease.reservation)
    assert.equal((await scene.usages(scene.hosts[0]!))['VCPU'], 8)
    await scene.ended(lease)
  })

  scene('a lease that is extended keeps its servers until its new end', 1, async scene => {
    await scene.enroll(1)
    const lease = await scene.begun([scene.instances()])
    const server = await scene.running(lease.reservation)
    await scene.change(lease, { end_date: dateAt(lease.end, 2) })
    await over().passTo(lease.end + 1_000)
    await scene.until(lease, 'ACTIVE')
    assert.equal((await scene.server(server)).status, 'ACTIVE')
    assert.notEqual(await scene.flavor(lease.reservation), null)
    await scene.ended({ ...lease, end: lease.end + 120_000 })
    assert.equal(await scene.server(server), null)
  })

  scene('a lease that is deleted while it is active ends first', 1, async scene => {
    await scene.enroll(1)
    const lease = await scene.begun([scene.instances({ amount: 2 })])
    const server = await scene.running(lease.reservation)
    await scene.deleteLease(lease)
    expectStatus(
      await over().reservation.get(`/leases/${lease.id}`, { version: null, ...(await over().as('alice')) }),
      404,
    )
    await scene.untilGone(server)
    await scene.nothingOf(lease.reservation)
  })

  scene('the next lease has the host when the one before is over, at full load', 1, async scene => {
    await scene.enroll(1)
    const full = [scene.instances({ vcpus: HOST.vcpus })]
    const first = await scene.lease(full)
    const second = await scene.lease(full, 'bob', first)
    await over().passTo(first.start)
    await scene.until(first, 'ACTIVE')
    await eventually(async () => assert.notEqual(await scene.flavor(first.reservation), null))
    const server = await scene.running(first.reservation)
    await scene.ended(first)
    assert.equal(await scene.server(server), null)
    await over().passTo(second.start)
    await scene.until(second, 'ACTIVE')
    await eventually(async () => assert.notEqual(await scene.flavor(second.reservation, 'bob'), null))
    await scene.running(second.reservation, 'bob')
    await scene.ended(second)
  })

  scene('from its end on nobody gets any more of what a lease gave, whoever still has some of it', 1, async scene => {
    await scene.enroll(1)
    const lease = await scene.begun([scene.instances({ amount: 3 })])
    const { consumer } = await scene.takeSlot(scene.hosts[0]!, lease.reservation)
    const server = await scene.running(lease.reservation)
    await over().passTo(lease.end)
    await scene.until(lease, 'TERMINATING')
    await scene.untilGone(server)
    expectStatus((await scene.takeSlot(scene.hosts[0]!, lease.reservation)).answer, 409)
    await eventually(async () => assert.equal(await scene.flavor(lease.reservation), null))
    // An admin may still see the flavor, and gets no further than that.
    const asked = await scene.tryBoot(lease.reservation, 'root')
    if (expectStatus(asked, 202, 400).status === 202) {
      const built = await over().compute.built(asked.body.server.id, await over().as('root'))
      assert.equal(built.status, 'ERROR')
    }
    assert.deepEqual(await scene.usages(`blazar_${scene.hosts[0]}`), { [classOf(lease.reservation)]: 1 })
    await scene.release(consumer)
    await scene.until(lease, 'TERMINATED')
    await scene.nothingOf(lease.reservation)
  })

  scene('a server that moves within its lease has two slots until it is confirmed', 2, async scene => {
    await scene.enroll(2)
    const lease = await scene.begun([scene.instances({ vcpus: 5, amount: 2 })])
    const server = await scene.running(lease.reservation)
    const before = await scene.hostOf(server)
    await scene.act(server, 'migrate')
    await scene.untilStatus(server, 'VERIFY_RESIZE')
    assert.notEqual(await scene.hostOf(server), before)
    assert.equal((await scene.boot(lease.reservation)).status, 'ERROR', 'the place that it left is still its own')
    await scene.act(server, 'confirmResize', null, 'alice')
    await scene.untilStatus(server, 'ACTIVE')
    await eventually(async () => assert.equal((await scene.usages(before))['VCPU'], 0))
    await scene.running(lease.reservation)
    await scene.ended(lease)
    assert.equal(await scene.server(server), null)
  })

  scene('a server in the middle of a move goes with its lease, from both hosts', 2, async scene => {
    await scene.enroll(2)
    const lease = await scene.begun([scene.instances({ vcpus: 5, amount: 2 })])
    const server = await scene.running(lease.reservation)
    await scene.act(server, 'migrate')
    await scene.untilStatus(server, 'VERIFY_RESIZE')
    await scene.ended(lease)
    assert.equal(await scene.server(server), null)
  })

  scene('a server that was resized out of its lease stays, and keeps nothing of the lease', 2, async scene => {
    await scene.enroll(1)
    const [outside] = await scene.outside(1)
    const flavor = await scene.plainFlavor()
    const lease = await scene.begun([scene.instances({ vcpus: 2 })])
    const server = await scene.running(lease.reservation)
    await scene.act(server, 'resize', { flavorRef: flavor }, 'alice')
    await scene.untilStatus(server, 'VERIFY_RESIZE')
    await scene.ended(lease)
    const shown = await scene.untilStatus(server, 'ACTIVE')
    assert.deepEqual([shown['OS-EXT-SRV-ATTR:host'], shown.flavor.id], [outside, flavor])
    expectStatus(await over().compute.action(server, 'revertResize', null, await over().as('alice')), 409)
  })

  scene('a server that was resized into a lease goes at its end, with the place that it came from', 2, async scene => {
    await scene.enroll(1)
    const [outside] = await scene.outside(1)
    const lease = await scene.begun([scene.instances({ vcpus: 2 })])
    const server = await scene.running(await scene.plainFlavor())
    await scene.act(server, 'resize', { flavorRef: lease.reservation }, 'alice')
    await scene.untilStatus(server, 'VERIFY_RESIZE')
    assert.equal(await scene.hostOf(server), scene.hosts[0])
    await scene.ended(lease)
    assert.equal(await scene.server(server), null)
    assert.equal((await scene.usages(outside!))['VCPU'], 0)
  })
}
