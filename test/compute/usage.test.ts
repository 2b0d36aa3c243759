// What projects use: os-simple-tenant-usage, os-hosts, and what is used of limits and quotas.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { eachCompute, expectFault, member } from '../support/compute.ts'
import { expectStatus } from '../support/placement.ts'

const HOUR_MS = 3_600_000
const text = (ms: number) => new Date(ms).toISOString().slice(0, 23)

eachCompute('what projects use', api => {
  let [host, flavor, id] = ['', '', '']
  let launched = 0
  before(async () => {
    host = await api.hypervisor()
    flavor = await api.flavor({ name: 'small', vcpus: 2, ram: 1_024, disk: 10 })
    ;({ id } = await api.server(flavor, { name: 'one' }, member('p')))
    await api.server(flavor, {}, member('q'))
    launched = Date.parse(`${(await api.show(id))['OS-SRV-USG:launched_at']}Z`)
  })

  const period = (from: number, until: number) => `start=${text(from)}&end=${text(until)}`
  const far = (from: number) => period(from, from + 24 * HOUR_MS)

  test('the usage of a project is its servers’ time, and their sizes times that', async () => {
    const usage = async (query: string) =>
      expectStatus(await api.get(`/os-simple-tenant-usage/p?${query}`), 200).body.tenant_usage
    const shown = await usage(far(launched - 2 * HOUR_MS))
    assert.equal(shown.tenant_id, 'p')
    assert.ok(shown.total_hours >= 0 && shown.total_hours < 1)
    const about = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-6 * Math.max(1, b), `${a} ${b}`)
    about(shown.total_vcpus_usage, shown.total_hours * 2)
    about(shown.total_memory_mb_usage, shown.total_hours * 1_024)
    about(shown.total_local_gb_usage, shown.total_hours * 10)
    const [server] = shown.server_usages
    assert.deepEqual(
      [server.instance_id, server.name, server.flavor, server.vcpus, server.state, server.ended_at],
      [id, 'one', 'small', 2, 'active', null],
    )
    about(server.hours, shown.total_hours)
    // Before the server was there, in the time to come, and for a project without servers, there is nothing.
    const early = await usage(period(launched - 2 * HOUR_MS, launched - HOUR_MS))
    assert.deepEqual([early.total_hours, early.server_usages], [0, []])
    const ahead = await usage(far(launched + 1_000 * HOUR_MS))
    assert.deepEqual([ahead.total_hours, ahead.total_vcpus_usage], [0, 0])
    const nobody = await api.get(`/os-simple-tenant-usage/nobody?${far(launched - HOUR_MS)}`)
    const { tenant_id, total_vcpus_usage } = expectStatus(nobody, 200).body.tenant_usage
    assert.deepEqual([tenant_id, total_vcpus_usage], ['nobody', 0])
  })

  test('the ends of a period are shown as they were sent, to the microsecond', async () => {
    const [start, end] = ['2020-01-01T00:00:00.271411', '2020-01-02T00:00:00.000001']
    const { body } = expectStatus(await api.get(`/os-simple-tenant-usage/p?start=${start}&end=${end}`), 200)
    assert.deepEqual([body.tenant_usage.start, body.tenant_usage.stop], [start, end])
  })

  test('operators list all projects, in detail if they want', async () => {
    const list = async (more: string) =>
      expectStatus(await api.get(`/os-simple-tenant-usage?${far(launched - HOUR_MS)}${more}`), 200).body.tenant_usages
    const plain = await list('')
    assert.deepEqual(
      plain.map((usage: { tenant_id: string }) => usage.tenant_id),
      ['p', 'q'],
    )
    assert.ok(!('server_usages' in plain[0]))
    assert.deepEqual(
      (await list('&detailed=1')).map((usage: { server_usages: [] }) => usage.server_usages.length),
      [1, 1],
    )
  })

  test('a member sees the own project’s alone', async () => {
    expectStatus(await api.get(`/os-simple-tenant-usage/p?${far(launched)}`, member('p')), 200)
    expectFault(await api.get(`/os-simple-tenant-usage/q?${far(launched)}`, member('p')), 403)
    expectFault(await api.get('/os-simple-tenant-usage', member('p')), 403)
  })

  test('times that are none, or the wrong way round, are refused', async () => {
    for (const query of [
      'start=yesterday',
      'end=2026-13-01T00:00:00',
      'start=2026-01-02',
      period(launched, launched - 1),
    ]) {
      expectFault(await api.get(`/os-simple-tenant-usage/p?${query}`), 400)
    }
  })

  test('hosts are the hypervisors that are enabled, with what each project takes', async () => {
    const names = async (query = '') =>
      expectStatus(await api.get(`/os-hosts${query}`), 200).body.hosts.map(
        (one: { host_name: string }) => one.host_name,
      )
    assert.deepEqual(await names(), [host])
    assert.deepEqual(await names('?zone=nova'), [host])
    assert.deepEqual(await names('?zone=other'), [])
    const { body } = expectStatus(await api.get(`/os-hosts/${host}`), 200)
    const rows = body.host.map(({ resource }: { resource: Record<string, unknown> }) => Object.values(resource))
    assert.deepEqual(rows, [
      [host, '(total)', 8, 16_384, 200],
      [host, '(used_now)', 4, 2_048, 20],
      [host, '(used_max)', 4, 2_048, 20],
      [host, 'p', 2, 1_024, 10],
      [host, 'q', 2, 1_024, 10],
    ])
    const put = (sent: object, name = host) => api.put(`/os-hosts/${name}`, sent)
    assert.deepEqual(expectStatus(await put({ status: 'disable' }), 200).body, { host, status: 'disabled' })
    assert.deepEqual(await names(), [])
    expectStatus(await put({ status: 'Enable' }), 200)
    for (const wrong of [{}, { status: 'off' }, { maintenance_mode: 'enable' }]) expectFault(await put(wrong), 400)
    expectFault(await put({ status: 'enable' }, 'nothing'), 404)
    expectFault(await api.get('/os-hosts/nothing'), 404)
    expectFault(await api.get('/os-hosts', member('p')), 403)
  })

  test('quotas of instances and cores are set, hold, and are taken back', async () => {
    const put = (quota_set: object, project = 'r') => api.put(`/os-quota-sets/${project}`, { quota_set })
    const { quota_set } = expectStatus(await put({ cores: '3', ram: -1, force: true }), 200).body
    assert.deepEqual([quota_set.cores, quota_set.instances, quota_set.id], [3, -1, undefined])
    expectStatus(await api.create(flavor, {}, member('r')), 202)
    expectFault(await api.create(flavor, {}, member('r')), 403, /vcpus|cores/)
    for (const wrong of [{ ram: 5 }, { cores: -2 }, { cores: 'x' }, { cores: '9999999999' }, { nonsense: 1 }]) {
      expectFault(await put(wrong), 400)
    }
    expectFault(await api.put('/os-quota-sets/r', { quota_set: { cores: 9 } }, member('r')), 403)
    expectStatus(await api.del('/os-quota-sets/r'), 202)
    assert.equal((await api.get('/os-quota-sets/r')).body.quota_set.cores, -1)
    const all = (cores: number) => api.put('/os-quota-class-sets/default', { quota_class_set: { cores } })
    assert.equal(expectStatus(await all(7), 200).body.quota_class_set.cores, 7)
    assert.equal((await api.get('/os-quota-sets/r')).body.quota_set.cores, 7)
    expectStatus(await all(-1), 200)
    expectFault(await api.put('/os-quota-class-sets/other', { quota_class_set: { cores: 1 } }), 400)
  })

  test('limits and quotas say how much is used', async () => {
    const { absolute } = expectStatus(await api.get('/limits', member('p')), 200).body.limits
    assert.deepEqual([absolute.totalInstancesUsed, absolute.totalCoresUsed, absolute.totalRAMUsed], [1, 2, 1_024])
    assert.equal((await api.get('/limits?tenant_id=q')).body.limits.absolute.totalCoresUsed, 2)
    expectFault(await api.get('/limits?tenant_id=q', member('p')), 403)
    const { quota_set } = expectStatus(await api.get('/os-quota-sets/p/detail', member('p')), 200).body
    assert.deepEqual(quota_set.cores, { limit: -1, in_use: 2, reserved: 0 })
    expectFault(await api.get('/os-quota-sets/q/detail', member('p')), 403)
    assert.equal(expectStatus(await api.get('/os-quota-class-sets/default'), 200).body.quota_class_set.instances, -1)
  })
})
