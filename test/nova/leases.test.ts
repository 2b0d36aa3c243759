// Leases over a Nova: what it is told from create to end, and what happens while it is away.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { expectStatus } from '../support/placement.ts'
import { classOf, type Shown } from '../support/reservation.ts'
import { Log } from '../support/told-events.ts'
import { eachLab, type Lab, soon } from './lab.ts'

eachLab('leases over a Nova', lab => {
  before(() => lab().hosts(2))
  const flavor = (id: string) => lab().nova.flavors.get(id)
  const idOf = (lease: Shown): string => lease.reservations[0].id
  const gone = (lease: Shown) =>
    soon(async () => {
      await lab().api.advance(0.1)
      assert.equal((await lab().api.show(lease.id)).status, 'TERMINATED')
      assert.equal(flavor(idOf(lease)), undefined)
    })
  const eventsOf = async (lease: string): Promise<string[]> => {
    const entries: Shown[] = await lab().api.audit(lease)
    return entries.map(({ action, outcome }) => `${action} ${outcome}`)
  }

  const becameOf = async (lease: string) => {
    const log = new Log()
    log.at(lab().cloud.origin)
    log.logIn(lab().api.defaultToken)
    try {
      return await log.of('lease', lease)
    } finally {
      log.close()
    }
  }

  test('a lease has its flavor in Nova from the beginning, its project access from the start, and nothing at the end', async () => {
    const { api, nova, project, boot, access, compute } = bound(lab())
    const lease = await lab().lease({ amount: 2, vcpus: 2, memory_mb: 256, disk_gb: 3 }, { from: 5, to: 60 })
    const id = idOf(lease)
    await soon(() => assert.ok(flavor(id)?.specs[`resources:${classOf(id)}`]))
    const { name, vcpus, ram, disk, isPublic } = flavor(id)!
    assert.deepEqual([name, vcpus, ram, disk, isPublic], [`reservation:${id}`, 2, 256, 3, false])
    assert.deepEqual(access(id), [])
    await api.advance(6)
    await soon(() => assert.deepEqual(access(id), [project]))
    const servers = [await boot(id), await boot(id)]
    assert.deepEqual(
      servers.map(({ status }) => status),
      ['ACTIVE', 'ACTIVE'],
    )
    assert.equal((await boot(id)).status, 'ERROR')
    await api.advance(60)
    await gone(lease)
    assert.equal(nova.servers.size, 0)
    assert.deepEqual(
      nova.seen('POST', /action$/).filter(({ body }) => 'forceDelete' in body),
      [],
    )
    assert.equal(await compute.show(servers[0].id), null)
    assert.ok(!(await api.show(lease.id)).degraded)
  })

  test('a Nova that is away at create: the lease is booked and says why, and the flavor follows', async () => {
    const { api, nova } = bound(lab())
    await nova.away()
    const lease = await lab().lease({}, { from: 5, to: 60 })
    assert.equal(lease.status, 'PENDING')
    const shown = await soon(async () => {
      const found = await api.show(lease.id)
      assert.ok(found.degraded)
      return found
    })
    assert.match(
      shown.status_reason,
      /^Not all of it is done in Nova yet, and it is tried again: Nova can't be reached: nothing listens there \(GET \/flavors\/.*\)\.$/,
    )
    const { nova: health } = expectStatus(await api.operate('GET', '/nova'), 200).body
    assert.deepEqual([health.version, health.due, health.failing], [null, 1, 1])
    assert.match(health.problem, /can't be reached/)
    assert.equal(health.troubles[0].lease, lease.id)
    assert.ok(shown.status_reason.endsWith(`: ${health.troubles[0].reason}.`))
    const { leases } = expectStatus(await api.get('/leases'), 200).body
    assert.ok(leases.find(({ id }: Shown) => id === lease.id).degraded)
    await nova.back()
    await soon(async () => {
      await api.advance(1)
      assert.ok(!(await api.show(lease.id)).degraded)
    })
    assert.ok(flavor(idOf(lease)))
    const well = expectStatus(await api.operate('GET', '/nova'), 200).body.nova
    assert.deepEqual([well.version, well.hypervisors, well.problem, well.due], ['2.93', nova.hosts.size, null, 0])
    const became = await becameOf(lease.id)
    assert.deepEqual(
      became.map(({ type }) => type),
      ['lease.created', 'lease.degraded', 'lease.whole'],
    )
    assert.match(became[1]!.data.reason, /can't be reached/)
    const told = await eventsOf(lease.id)
    assert.deepEqual(
      told.filter(entry => entry.includes('nova')),
      ['conductor:tell_nova failed', 'conductor:tell_nova done'],
    )
    await api.end(lease.id)
    await soon(() => assert.equal(flavor(idOf(lease)), undefined))
  })

  test('a Nova that is away at the start: the lease runs and says why, and access follows', async () => {
    const { api, nova, project, access, boot } = bound(lab())
    const lease = await lab().lease({}, { from: 5, to: 60 })
    const id = idOf(lease)
    await soon(() => assert.ok(flavor(id)?.specs[`resources:${classOf(id)}`]))
    await nova.away()
    await api.advance(6)
    const shown = await api.until(lease.id, 'ACTIVE')
    await soon(async () => assert.ok((await api.show(lease.id)).degraded))
    assert.equal(shown.reservations[0].status, 'active')
    assert.deepEqual(access(id), [])
    await nova.back()
    await soon(async () => {
      await api.advance(1)
      assert.deepEqual(access(id), [project])
    })
    assert.equal((await boot(id)).status, 'ACTIVE')
    await api.end(lease.id)
    await soon(() => {
      assert.equal(flavor(id), undefined)
      assert.equal(nova.servers.size, 0)
    })
  })

  test('a Nova that is away at the end: nothing new starts, the slots stay booked, and it ends when Nova is back', async () => {
    const { api, nova, boot } = bound(lab())
    const lease = await lab().lease({ amount: 2 }, { from: 0, to: 60 })
    const id = idOf(lease)
    await api.advance(0.1)
    await soon(() => assert.equal(lab().access(id).length, 1))
    const server = await boot(id)
    const host: string = server['OS-EXT-SRV-ATTR:host']
    await nova.away()
    await api.advance(61)
    const shown = await api.until(lease.id, 'TERMINATING')
    assert.match(shown.status_reason, new RegExp(`still in use by ${server.id}`))
    // Also not by those who go to Placement themselves.
    await assert.rejects(api.takeSlot(host, id), /409/)
    assert.ok((await api.inventories(host))[classOf(id)])

    await soon(async () => assert.match((await api.show(lease.id)).status_reason, /can't be reached/))
    await nova.back()
    await gone(lease)
    assert.equal(nova.servers.size, 0)
  })

  test('a lease that is deleted while Nova is away leaves the ledger, and its flavor goes when Nova is back', async () => {
    const { api, nova } = bound(lab())
    const lease = await lab().lease({}, { from: 0, to: 60 })
    const id = idOf(lease)
    await api.advance(0.1)
    await soon(() => assert.equal(lab().access(id).length, 1))
    await nova.away()
    await api.end(lease.id)
    expectStatus(await api.get(`/leases/${lease.id}`), 404)
    assert.deepEqual((await api.classes()).includes(classOf(id)), false)
    assert.ok(flavor(id))
    await nova.back()
    await soon(async () => {
      await api.advance(1)
      assert.equal(flavor(id), undefined)
    })
  })

  test('a pending lease that is changed has its flavor made anew under the same id', async () => {
    const { api, nova } = bound(lab())
    const lease = await lab().lease({}, { from: 5, to: 60 })
    const id = idOf(lease)
    await soon(() => assert.ok(flavor(id)?.specs[`resources:${classOf(id)}`]))
    await api.update(lease.id, { reservations: [{ id, vcpus: 3, memory_mb: 1024, disk_gb: 7 }] })
    await soon(() => {
      const { vcpus, ram, disk, specs } = flavor(id)!
      assert.deepEqual([vcpus, ram, disk, specs], [3, 1024, 7, { [`resources:${classOf(id)}`]: '1' }])
    })
    assert.equal(nova.seen('POST', /^\/flavors$/).filter(({ body }) => body.flavor.id === id).length, 2)
    await api.end(lease.id)
    await soon(() => assert.equal(flavor(id), undefined))
  })

  test('a flavor that a crash left without its class gets it before anyone has access', async () => {
    const { api, nova } = bound(lab())
    nova.fail({ kind: 'drop', method: 'POST', path: /os-extra_specs/, times: 1 })
    const lease = await lab().lease({}, { from: 0, to: 60 })
    const id = idOf(lease)
    await soon(async () => {
      await api.advance(0.2)
      assert.equal(lab().access(id).length, 1)
    })
    const calls = nova.requests
      .filter(({ method, path }) => method === 'POST' && path.includes(id))
      .map(({ path }) => path)
    assert.ok(
      calls.findLastIndex(path => path.endsWith('os-extra_specs')) < calls.findIndex(path => path.endsWith('action')),
    )
    assert.deepEqual(flavor(id)!.specs, { [`resources:${classOf(id)}`]: '1' })
    await api.end(lease.id)
    await soon(() => assert.equal(flavor(id), undefined))
  })

  test('an answer that is lost after the deed is no harm at any step of a lease', async () => {
    const { api, nova, boot } = bound(lab())
    const steps: [string, RegExp][] = [
      ['POST', /^\/flavors$/],
      ['POST', /os-extra_specs/],
      ['POST', /flavors\/.*\/action/],
      ['DELETE', /^\/servers/],
      ['DELETE', /^\/flavors/],
      ['GET', /./],
    ]
    for (const [method, path] of steps) nova.fail({ kind: 'lost', method, path, times: 1 })
    const lease = await lab().lease({}, { from: 0, to: 60 })
    const id = idOf(lease)
    await soon(async () => {
      await api.advance(0.2)
      assert.equal(lab().access(id).length, 1)
    })
    assert.equal((await boot(id)).status, 'ACTIVE')
    // The withdrawal of access is lost, too.
    nova.fail({ kind: 'lost', method: 'POST', path: /flavors\/.*\/action/, times: 1 })
    await api.advance(60)
    await gone(lease)
    assert.equal(nova.servers.size, 0)
  })

  test('whole hosts have private flavors for all of a host and for parts of it', async () => {
    const { api, nova, project, boot, access } = bound(lab())
    const [host] = await lab().hosts(1, { vcpus: 2, memory_mb: 2_048, disk_gb: 20 })
    const properties = `["=", "$hypervisor_hostname", "${host}"]`
    const whole = {
      resource_type: 'physical:host',
      min: 1,
      max: 1,
      hypervisor_properties: properties,
      resource_properties: '',
    }
    const lease = await api.lease([whole], { from: 5, to: 60 }, lab().alice)
    const id = idOf(lease)
    await api.advance(6)
    await soon(() => assert.deepEqual([access(id), access(`${id}-2`)], [[project], [project]]))
    assert.equal(flavor(`${id}-4`), undefined)
    const { vcpus, ram, disk, specs } = flavor(`${id}-2`)!
    assert.deepEqual([vcpus, ram, disk, specs], [1, 1_024, 10, { [`resources:${classOf(id)}`]: '1' }])
    const server = await boot(`${id}-2`)
    assert.deepEqual([server.status, server['OS-EXT-SRV-ATTR:host']], ['ACTIVE', host])
    assert.equal((await boot(id)).status, 'ERROR')
    await api.advance(60)
    await gone(lease)
    assert.deepEqual([flavor(`${id}-2`), nova.servers.size], [undefined, 0])
  })

  test('a stranger’s flavor with the id of a reservation stays, and the lease says so', async () => {
    const { api, nova, compute } = bound(lab())
    await nova.away()
    const lease = await lab().lease({}, { from: 5, to: 60 })
    const id = idOf(lease)
    await soon(async () => assert.ok((await api.show(lease.id)).degraded))
    await nova.back()
    const theirs = { id, name: 'big', vcpus: 64, ram: 64, disk: 0 }
    expectStatus(await compute.post('/flavors', { flavor: theirs }), 200)
    await soon(async () => {
      await api.advance(1)
      assert.match((await api.show(lease.id)).status_reason, /that is not ours, called big\.$/)
    })
    await api.end(lease.id)
    await api.advance(2)
    assert.equal(flavor(id)?.name, 'big')
    expectStatus(await compute.del(`/flavors/${id}`), 202)
  })

  test('a flavor of ours that someone spoilt is made anew', async () => {
    const { api, nova, compute } = bound(lab())
    const lease = await lab().lease({}, { from: 5, to: 60 })
    const id = idOf(lease)
    await soon(() => assert.ok(flavor(id)?.specs[`resources:${classOf(id)}`]))
    expectStatus(await compute.post(`/flavors/${id}/os-extra_specs`, { extra_specs: { 'trait:X': 'required' } }), 200)
    expectStatus(
      await compute.post(`/flavors/${id}/action`, { addTenantAccess: { tenant: await lab().cloud.project('bob') } }),
      200,
    )
    await api.advance(6)
    await soon(() => assert.deepEqual(lab().access(id), [lab().project]))
    assert.deepEqual(flavor(id)!.specs, { [`resources:${classOf(id)}`]: '1' })
    assert.ok(nova.seen('DELETE', new RegExp(`flavors/${id}`)).length > 0)
    await api.end(lease.id)
    await soon(() => assert.equal(flavor(id), undefined))
  })
})

/** The parts of a lab that most tests use. */
function bound(lab: Lab) {
  const { api, nova, compute, project } = lab
  return { api, nova, compute, project, boot: (id: string) => lab.boot(id), access: (id: string) => lab.access(id) }
}
