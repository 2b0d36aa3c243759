// The end of leases over a Nova, with servers that moved, are stuck, failed, or are no servers at all.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { classOf, type Shown } from '../support/reservation.ts'
import { eachLab, soon } from './lab.ts'

eachLab('the end of leases over a Nova', lab => {
  let plain = ''
  before(async () => {
    await lab().hosts(3)
    // Where servers go that are resized away: no host of leases.
    await lab().nova.addHosts(1)
    const flavor = { name: 'plain', vcpus: 1, ram: 64, disk: 1 }
    plain = expectStatus(await lab().compute.post('/flavors', { flavor }), 200).body.flavor.id
  })

  /** A lease that runs, with a server of it. */
  const running = async (amount = 2, more: object = {}) => {
    const lease = await lab().lease({ amount, ...more }, { from: 0, to: 60 })
    const id: string = lease.reservations[0].id
    await lab().api.advance(0.1)
    await soon(() => assert.equal(lab().access(id).length, 1))
    const server: Shown = await lab().boot(id)
    assert.equal(server.status, 'ACTIVE')
    return { lease, id, server, host: server['OS-EXT-SRV-ATTR:host'] as string }
  }
  const act = async (server: string, action: string, given: unknown, status: number, who = {}) =>
    expectStatus(await lab().compute.action(server, action, given, who), status)
  /** Ends it, and waits until nothing of it is left. */
  const ended = async ({ lease, id }: { lease: Shown; id: string }) => {
    await lab().api.advance(61)
    await soon(async () => {
      await lab().api.advance(0.2)
      assert.equal((await lab().api.show(lease.id)).status, 'TERMINATED')
      assert.equal(lab().nova.flavors.get(id), undefined)
    })
  }

  test('a server that was resized away is its user’s: the move is confirmed, and the server stays', async () => {
    const { lease, id, server } = await running()
    await act(server.id, 'resize', { flavorRef: plain }, 202, lab().alice)
    await lab().compute.untilStatus(server.id, 'VERIFY_RESIZE')
    assert.ok((await lab().api.classes()).includes(classOf(id)))
    await ended({ lease, id })
    const { status, flavor } = await lab().compute.untilStatus(server.id, 'ACTIVE')
    assert.deepEqual([status, flavor.original_name], ['ACTIVE', 'plain'])
    assert.deepEqual(lab().nova.seen('DELETE', new RegExp(server.id)), [])
    expectStatus(await lab().compute.del(`/servers/${server.id}`), 204)
    await lab().compute.untilGone(server.id)
  })

  test('a server that Nova deletes in its own time is no error of the lease', async () => {
    const { lease, id } = await running()
    await ended({ lease, id })
    const { entries } = expectStatus(await lab().api.operate('GET', `/audit?object=${lease.id}`), 200).body
    const became = entries.flatMap(({ objects }: Shown) =>
      objects.filter(({ kind }: Shown) => kind === 'lease').map((one: Shown) => one['became']),
    )
    assert.ok(became.includes('ended'))
    assert.ok(!became.includes('error'), became.join(', '))
  })

  test('a server that moves within its lease has two slots, and goes with both', async () => {
    const { lease, id, server } = await running(2, { affinity: false })
    await act(server.id, 'migrate', null, 202)
    await lab().compute.untilStatus(server.id, 'VERIFY_RESIZE')
    const full = await lab().boot(id)
    assert.equal(full.status, 'ERROR')
    await ended({ lease, id })
    assert.equal(await lab().compute.show(server.id), null)
  })

  test('a server on a compute that died is asked to go again and again, and goes when the compute counts as down', async () => {
    const { lease, id, server, host } = await running()
    lab().nova.host(host).kill()
    await lab().api.advance(61)
    for (let round = 0; round < 14; round++) await lab().api.advance(1)
    const shown = await lab().api.show(lease.id)
    assert.equal(shown.status, 'TERMINATING')
    assert.match(shown.status_reason, new RegExp(`Server ${server.id} is deleting and does not go`))
    assert.ok(shown.degraded)
    const forced = lab().nova.seen('POST', new RegExp(`${server.id}/action`))
    assert.ok(forced.some(({ body }) => 'forceDelete' in body))
    lab().nova.host(host).hasReported = false
    await soon(async () => {
      await lab().api.advance(1)
      assert.equal((await lab().api.show(lease.id)).status, 'TERMINATED')
      assert.equal(lab().nova.flavors.get(id), undefined)
    })
    await lab().nova.start(host)
  })

  test('servers that failed and hold nothing are deleted before the flavor goes', async () => {
    const { lease, id } = await running(1)
    const failed = await lab().boot(id)
    assert.equal(failed.status, 'ERROR')
    await ended({ lease, id })
    assert.equal(await lab().compute.show(failed.id), null)
  })

  test('a claim that Nova knows nothing of keeps the lease, which says so, until it is released', async () => {
    const { lease, id, server, host } = await running()
    const stranger = await lab().api.takeSlot(host, id)
    await lab().api.advance(61)
    await soon(async () => {
      await lab().api.advance(1)
      const { status, status_reason } = await lab().api.show(lease.id)
      assert.equal(status, 'TERMINATING')
      assert.match(status_reason, new RegExp(`Nova knows no server and no migration ${stranger}`))
    })
    assert.equal(await lab().compute.show(server.id), null)
    expectStatus(await lab().api.placement.del(`/allocations/${stranger}`), 204)
    await ended({ lease, id })
  })

  test('a server that can not be deleted does not keep the others', async () => {
    const { lease, id, server } = await running(3)
    const others = [await lab().boot(id), await lab().boot(id)]
    lab().nova.fail({ kind: 'status', status: 500, method: 'DELETE', path: new RegExp(server.id), times: 3 })
    await lab().api.advance(61)
    for (const one of others) await lab().compute.untilGone(one.id)
    await ended({ lease, id })
    assert.equal(await lab().compute.show(server.id), null)
  })
})
