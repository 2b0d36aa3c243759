// holdfast provider, candidate, claim, usage, quota, host, lease, audit.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, test } from 'node:test'
import { Placement } from '../support/placement.ts'
import { atShell } from './person.ts'

atShell('holdfast and the ledger', person => {
  before(async () => {
    const api = new Placement(person.origin)
    for (const name of ['compute-1', 'compute-2']) {
      const { body } = await api.post('/resource_providers', { name })
      const inventories = { VCPU: { total: 8 }, MEMORY_MB: { total: 16_384 }, DISK_GB: { total: 100 } }
      await api.put(`/resource_providers/${body.uuid}/inventories`, { resource_provider_generation: 0, inventories })
    }
    api.close()
  })

  test('limits are set, shown with what is used, and taken away', async () => {
    const shown = (project: string) =>
      person.reads(`quota show ${project} -f value -c name -c max -c used -c is_default`)
    await person.reads('quota set default nodes=8 nodes:gpu=2')
    await person.reads('quota set p nodes=4 nodes:gpu=-1 instances=0')
    const limits = (await shown('p')).split('\n')
    assert.deepEqual(limits.slice(0, 3), ['nodes 4 0 false', 'instances 0 0 false', 'vcpus  0 false'])
    assert.equal(
      await person.reads('quota list -f csv'),
      'project,limits\ndefault,"{""nodes"":8,""nodes:gpu"":2}"\np,"{""instances"":0,""nodes"":4,""nodes:gpu"":-1}"',
    )
    await person.reads('quota unset p nodes nodes:gpu')
    assert.match(await shown('p'), /^nodes 8 0 true\n(.*\n)*nodes:gpu 2 0 true\n/)
    await person.reads('quota unset p')
    await person.reads('quota unset default')
    assert.equal(await person.reads('quota list -f value'), '')
    await person.isRefused('quota unset p', 3, /has no limits of its own/)
    await person.isRefused('quota set p chairs=4', 2, /There is no limit chairs/)
    await person.isRefused('quota set p nodes=many', 2, /'many' is no limit/)
    await person.isRefused('quota show', 2, /say which project/)
  })

  test('claims are set, shown, moved at once, and given back', async () => {
    const [one, other] = [randomUUID(), randomUUID()]
    await person.reads(`claim set ${one} --allocation rp=compute-1,VCPU=2,MEMORY_MB=512 --project p --user u`)
    assert.equal(
      await person.reads(`claim show ${one} -f value -c resource_class -c used -c project_id`),
      'VCPU 2 p\nMEMORY_MB 512 p',
    )
    await person.reads(`claim set ${one} --allocation rp=compute-1,VCPU=3`)
    await person.reads(`claim move ${one} ${other}`)
    await person.isRefused(`claim show ${one}`, 3, /has no claims/)
    const moved = await person.readsJson(`claim show ${other}`)
    assert.deepEqual(
      Object.values(moved.allocations).map(part => (part as { resources: object }).resources),
      [{ VCPU: 3 }],
    )
    assert.equal(moved.project_id, 'p')
    assert.equal(await person.reads('usage --provider compute-1 -f value'), 'VCPU 3\nMEMORY_MB 0\nDISK_GB 0')
    assert.equal(await person.reads('usage --project p -f value -c resource_class -c used'), 'VCPU 3')
    assert.match(await person.reads('provider show compute-1'), /VCPU: 3 of 8 used/)
    await person.isRefused(`claim set ${one} --allocation rp=compute-1,VCPU=6`, 4, /exceed/)
    await person.reads(`claim delete ${other}`)
    await person.isRefused(`claim move ${other} ${one}`, 3, /has no claims/)
    await person.isRefused(`claim set ${one} --allocation VCPU=1`, 2, /doesn't name a provider with rp=/)
    await person.isRefused('usage', 2, /say --project or --provider/)
  })

  test('candidates are listed, and when there is none, explained', async () => {
    const found = await person.reads('candidate list --resource VCPU=2,DISK_GB=5 --limit 1')
    assert.match(found, /^1 .* VCPU=2, DISK_GB=5 +VCPU=0\/8, DISK_GB=0\/100/m)
    await person.isRefused('candidate list --resource VCPU=9', 4, /nothing fits .*candidate explain/)
    const told = await person.reads('candidate explain --resource VCPU=9')
    assert.match(told, /^VCPU +room for 9 VCPU +0$/m)
    assert.match(told, /would help: with VCPU <= 8/)
    await person.isRefused('candidate list', 2, /say with --resource/)
    assert.equal((await person.reads('provider list --resource VCPU=8 -f value -c name')).split('\n').length, 2)
  })

  test('hosts and leases: booked, prolonged, refused with the reason, ended', async () => {
    assert.equal(await person.reads('host create compute-2 --extra gpu=yes -f value -c gpu'), 'yes')
    assert.equal(await person.reads('host list -f value -c hypervisor_hostname'), 'compute-2')
    const wish =
      'resource_type=virtual:instance,vcpus=4,memory_mb=512,disk_gb=5,amount=2,resource_properties=["==","$gpu","yes"]'
    const start = ['--start-date', '2040-01-01 10:00']
    await person.reads(['lease', 'create', 'week', ...start, '--for', '2h', '--reservation', wish])
    assert.match(
      await person.reads('lease list -f value -c name -c start_date -c end_date'),
      /^week 2040-01-01T10:00.* 2040-01-01T12:00/,
    )
    assert.match(await person.reads('lease update week --prolong-for 1h -f value -c end_date'), /^2040-01-01T13:00/)
    await person.isRefused(
      ['lease', 'create', 'more', ...start, '--for', '1h', '--reservation', wish],
      4,
      /doesn't fit: 0 of 2 instances are free then; compute-2 is booked/,
    )
    await person.isRefused(['lease', 'create', 'more', '--reservation', wish], 2, /say --until when, or --for/)
    assert.equal((await person.readsJson('lease show week')).reservations[0].resource_properties, '["==","$gpu","yes"]')
    await person.isRefused('host delete compute-2', 4, /./)
    assert.equal(await person.reads('lease delete week'), 'week is gone')
    const flavor = { id: 'm1.small', name: 'small', vcpus: 4, ram: 512, disk: 5 }
    const made = await fetch(`${person.origin}/compute/v2.1/flavors`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ flavor }),
    })
    assert.equal(made.status, 200)
    const line = ['lease', 'create', 'week', ...start, '--for', '2h', '--instances', '2', '--flavor', 'm1.small']
    assert.match(await person.reads(line), /what +2 instances of small: 4 vCPUs, 512 MB, 5 GB\n/)
    await person.isRefused(line, 4, /doesn't fit: 0 of 2 instances are free then; compute-2/)
    assert.equal(await person.reads('lease delete week'), 'week is gone')
    await person.isRefused('lease show week', 3, /week/)
    assert.equal(await person.reads('host delete compute-2'), 'compute-2 is gone')
  })

  test('the audit tells who did what', async () => {
    const uuid = await person.reads('node create -f value -c uuid')
    const [entry] = await person.readsJson(`audit --object ${uuid} --limit 1`)
    assert.equal(entry.action, 'baremetal:node:create')
    assert.match(
      await person.reads(`audit --object ${uuid}`),
      new RegExp(`baremetal:node:create +done +.*node ${uuid}`),
    )
  })
})
