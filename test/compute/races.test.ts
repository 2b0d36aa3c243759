// Many clients at once: as many servers run as there is room for, and nothing is left behind.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clients, inParallel } from '../races/clients.ts'
import { eachComputeRace } from '../support/compute.ts'
import { expectStatus } from '../support/placement.ts'

const NOTHING_ELSE = { 'resources:VCPU': '0', 'resources:MEMORY_MB': '0', 'resources:DISK_GB': '0' }

eachComputeRace('races for room', api => {
  test('forty servers on room for ten: exactly ten run', async () => {
    const hosts = [2, 3, 5]
    for (const VCPU of hosts) await api.hypervisor({ VCPU })
    const flavor = await api.flavor()
    const made = await clients(40, async () => expectStatus(await api.create(flavor), 202).body.server.id as string)
    const statuses = await Promise.all(made.map(async id => (await api.show(id)).status as string))
    assert.deepEqual(
      [statuses.filter(status => status === 'ACTIVE').length, statuses.filter(status => status === 'ERROR').length],
      [10, 30],
    )
    await api.fsck()
    await clients(40, async index => expectStatus(await api.del(`/servers/${made[index]}`), 204))
    const { hypervisors } = (await api.get('/os-hypervisors/detail')).body
    for (const { vcpus_used, running_vms } of hypervisors) assert.deepEqual([vcpus_used, running_vms], [0, 0])
  })

  test('servers come, move and go at once, and every claim finds its end', async () => {
    const flavor = await api.flavor()
    await inParallel(16, 96, async index => {
      const id = expectStatus(await api.create(flavor), 202).body.server.id as string
      if (index % 3 === 0) {
        const { status } = await api.action(id, 'migrate')
        assert.ok([202, 400, 409].includes(status), `migrate: ${status}`)
        const end = await api.action(id, index % 2 === 0 ? 'confirmResize' : 'revertResize')
        assert.ok([202, 204, 409].includes(end.status), `end: ${end.status}`)
      }
      expectStatus(await api.del(`/servers/${id}`), 204)
    })
    await api.fsck()
    const { hypervisors } = (await api.get('/os-hypervisors/detail')).body
    for (const { vcpus_used } of hypervisors) assert.equal(vcpus_used, 0)
  })

  test('a server is deleted once, and moved once, however many ask', async () => {
    const flavor = await api.flavor()
    const { id } = await api.server(flavor)
    const moves = await clients(8, async () => (await api.action(id, 'migrate')).status)
    assert.equal(moves.filter(status => status === 202).length, 1, moves.join())
    await api.fsck()
    const gone = await clients(8, async () => (await api.del(`/servers/${id}`)).status)
    assert.deepEqual(
      gone.toSorted((a, b) => a - b),
      [204, 404, 404, 404, 404, 404, 404, 404],
    )
  })

  test('a flavor that is deleted while servers are made with it: each has it or is refused', async () => {
    const flavor = await api.flavor()
    const [deleted, ...made] = await Promise.all([
      api.del(`/flavors/${flavor}`),
      ...Array.from({ length: 12 }, () => api.create(flavor)),
    ])
    expectStatus(deleted, 202)
    for (const answer of made) expectStatus(answer, 202, 400)
    await api.fsck()
  })

  test('ten servers for four nodes: exactly four have one, each its own', async () => {
    const nodes = new Set<string>()
    for (let i = 0; i < 4; i++) nodes.add(await api.baremetal.node({ resource_class: 'raced' }, 'available'))
    const flavor = await api.flavor({}, { ...NOTHING_ELSE, 'resources:CUSTOM_RACED': '1' })
    const made = await clients(10, async () => expectStatus(await api.create(flavor), 202).body.server.id as string)
    const settled = await Promise.all(made.map(id => api.until(id, ({ status }) => status !== 'BUILD')))
    const hosts = settled.filter(({ status }) => status === 'ACTIVE').map(server => server['OS-EXT-SRV-ATTR:host'])
    assert.deepEqual(new Set(hosts), nodes)
    assert.equal(hosts.length, 4)
    await api.fsck()
    for (const id of made) expectStatus(await api.del(`/servers/${id}`), 204)
    for (const id of made) await api.untilGone(id)
  })
})
