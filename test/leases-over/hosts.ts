// Leases and the hosts below them, over our own compute and over a Nova: hosts that fail, and hosts that are leased whole.
import assert from 'node:assert/strict'
import { expectStatus } from '../support/placement.ts'
import type { BackEnd } from './back-end.ts'
import { eventually, HOST, scenesOver } from './scene.ts'

/** All tests, with a cloud that there is once they run. */
export function hostSuite(over: () => BackEnd): void {
  const scene = scenesOver(over)

  scene('what a lease has on a host that goes down moves to one that is up', 2, async scene => {
    await scene.enroll(2)
    const lease = await scene.begun([scene.instances({ amount: 2 })])
    const [down] = Object.keys(await scene.slots(lease.reservation)) as [string]
    const up = scene.hosts.find(host => host !== down)!
    await over().turn(down, 'down')
    await eventually(async () => assert.deepEqual(await scene.slots(lease.reservation), { [up]: 2 }))
    const shown = await scene.show(lease)
    assert.deepEqual([shown.status, shown.reservations[0].resources_changed], ['ACTIVE', true])
    assert.equal(await scene.hostOf(await scene.running(lease.reservation)), up)
    await over().turn(down, 'up')
    await scene.deleteLease(lease)
  })

  scene('a host that is down takes no new leases until it is up again', 1, async scene => {
    await scene.enroll(1)
    const [host] = scene.hosts as [string]
    const alice = { version: null, ...(await over().as('alice')) }
    const isReservable = async () => {
      const { hosts } = (await over().reservation.get('/os-hosts', { version: null, ...(await over().as('root')) }))
        .body
      return hosts.find((each: { hypervisor_hostname: string }) => each.hypervisor_hostname === host).reservable
    }
    await over().turn(host, 'down')
    await eventually(async () => assert.equal(await isReservable(), false))
    const wanted = { name: 'no', start_date: 'now', end_date: '2100-01-01 00:00', reservations: [scene.instances()] }
    expectStatus(await over().reservation.post('/leases', wanted, alice), 409)
    await over().turn(host, 'up')
    await eventually(async () => assert.equal(await isReservable(), true))
    await scene.deleteLease(await scene.lease([scene.instances()]))
  })

  scene('a server that was evacuated goes with its lease, from both hosts', 2, async scene => {
    await scene.enroll(2)
    const lease = await scene.begun([scene.instances({ vcpus: 5, amount: 2 })])
    const server = await scene.running(lease.reservation)
    const down = await scene.hostOf(server)
    await over().turn(down, 'down')
    await eventually(() => scene.act(server, 'evacuate', {}))
    await scene.untilStatus(server, 'ACTIVE')
    assert.notEqual(await scene.hostOf(server), down)
    await over().passTo(lease.end)
    await scene.untilGone(server)
    await over().turn(down, 'up')
    await scene.ended(lease)
  })

  scene('a host that is leased whole is for its project alone, by the flavor of its reservation', 1, async scene => {
    await scene.enroll(1)
    const lease = await scene.begun([scene.wholeHosts()])
    const { vcpus, ram, disk } = await scene.flavor(lease.reservation)
    assert.deepEqual({ vcpus, memory_mb: ram, disk_gb: disk }, HOST)
    assert.equal(await scene.flavor(lease.reservation, 'bob'), null)
    const server = await scene.running(lease.reservation)
    assert.equal(await scene.hostOf(server), scene.hosts[0])
    assert.equal((await scene.boot(lease.reservation)).status, 'ERROR')
    assert.notEqual((await scene.boot(await scene.plainFlavor()))['OS-EXT-SRV-ATTR:host'], scene.hosts[0])
    await scene.ended(lease)
    assert.equal(await scene.server(server), null)
  })
}
