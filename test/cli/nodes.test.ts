// holdfast node, from enrolment to the end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { atShell } from './person.ts'

atShell('holdfast node', person => {
  test('a node is created, managed, provided, deployed, undeployed and deleted', async () => {
    const uuid = await person.reads('node create --name n1 --resource-class gpu --extra rack=7 -f value -c uuid')
    assert.match(uuid, /^[0-9a-f-]{36}$/)
    assert.equal(await person.reads('node manage n1 --wait'), 'n1 is manageable')
    assert.equal(await person.reads('node provide n1 --wait 1m'), 'n1 is available')
    assert.equal(await person.reads('node deploy n1 --wait'), 'n1 is active')
    await person.isRefused('node deploy n1', 4, /while it is in state "active"/)
    assert.equal(await person.reads('node undeploy n1 --wait'), 'n1 is available')
    assert.equal(await person.reads('node delete n1'), 'n1 is gone')
    await person.isRefused('node show n1', 3, /n1 could not be found/)
  })

  test('a node is inspected, and shows what was found', async () => {
    const gpus = [{ model: 'L4', memory_mb: 24_576 }, { model: 'L4' }]
    const inventory = JSON.stringify({ vendor: 'Contoso', gpus, interfaces: [{ mac_address: '52:54:00:cc:00:01' }] })
    await person.reads([
      'node',
      'create',
      '--driver',
      'fake-hardware',
      '--name',
      'found',
      '--driver-info',
      `fake_inventory=${inventory}`,
    ])
    await person.isRefused('node inspect found', 4, /while it is in state "enroll"/)
    await person.reads('node manage found --wait')
    await person.isRefused('node inventory found', 3, /Inventory record .* could not be found/)
    assert.equal(await person.reads('node inspect found --wait'), 'found is manageable')
    const shown = await person.reads('node inventory found')
    for (const words of [/vendor +Contoso/, /cpus +8/, /gpus +2 × L4/, /traits .*CUSTOM_GPU_L4/])
      assert.match(shown, words)
    const whole = await person.readsJson('node inventory found')
    assert.deepEqual([whole.gpus, whole.gpu_count, whole.notes], [gpus, 2, []])
  })

  test('set and unset change what they name and nothing else', async () => {
    await person.reads('node create --name changed --resource-class old --extra rack=7 --extra row=b')
    await person.reads([
      'node',
      'set',
      'changed',
      '--resource-class',
      'new',
      '--extra',
      'rack=8',
      '--description',
      'a box',
    ])
    const changed = await person.readsJson('node show changed')
    assert.deepEqual(
      [changed.resource_class, changed.extra, changed.description, changed.name],
      ['new', { rack: 8, row: 'b' }, 'a box', 'changed'],
    )
    assert.equal('links' in changed, false)
    await person.reads('node unset changed --description --extra rack')
    const { description, extra } = await person.readsJson('node show changed')
    assert.deepEqual([description, extra], [null, { row: 'b' }])
    await person.isRefused('node set changed', 2, /say what is to change/)
    await person.isRefused('node set changed --extra rack', 2, /'rack' is not of the form key=value/)
  })

  test('maintenance and power', async () => {
    const { nodes } = await person.library()
    await person.node('m1', 'm')
    assert.equal(await person.reads('node maintenance set m1 --reason disk'), 'm1 is in maintenance')
    assert.equal((await nodes.show('m1'))['maintenance_reason'], 'disk')
    assert.equal(await person.reads('node list --maintenance --resource-class m -f value -c name'), 'm1')
    assert.equal(await person.reads('node maintenance unset m1'), 'm1 is not in maintenance')
    assert.equal(await person.reads('node list --maintenance --resource-class m -f value -c name'), '')
    assert.match(await person.reads('node power on m1'), /power on is under way/)
  })

  test('traits are added, listed, filtered by and removed, as the openstack command spells it', async () => {
    for (const name of ['t1', 't2', 't3']) await person.reads(`node create --name ${name} --resource-class t`)
    await person.reads('node add trait t1 CUSTOM_RED CUSTOM_BLUE')
    await person.reads('node add trait t2 CUSTOM_BLUE')
    assert.equal(await person.reads('node trait list t1 -f value'), 'CUSTOM_BLUE\nCUSTOM_RED')
    const listed = (filter: string) => person.reads(`node list --resource-class t ${filter} -f value -c name`)
    assert.equal(await listed('--trait CUSTOM_BLUE --not-trait CUSTOM_RED'), 't2')
    assert.equal(await listed('--trait-any CUSTOM_RED CUSTOM_BLUE'), 't1\nt2')
    assert.equal(await listed('--not-trait-any CUSTOM_RED CUSTOM_BLUE'), 't3')
    assert.match(
      await person.reads('node list --resource-class t --fields name traits'),
      /^t1 +CUSTOM_BLUE, CUSTOM_RED$/m,
    )
    assert.equal(await person.reads('node show t1 --fields name traits -f value'), 't1\nCUSTOM_BLUE,CUSTOM_RED')
    await person.reads('node remove trait t1 CUSTOM_RED')
    assert.equal(await person.reads('node trait list t1 -f value'), 'CUSTOM_BLUE')
    await person.reads('node remove trait --all t1')
    assert.equal(await person.reads('node trait list t1 -f value'), '')
    await person.isRefused('node remove trait t1', 2, /name the traits to remove, or say --all/)
    // It would be the path of the node itself.
    await person.isRefused('node remove trait t1 ..', 2, /'..' is no name of anything/)
    assert.equal(await person.reads('node show t1 -c name -f value'), 't1')
    await person.isRefused('node add trait t1 red', 2, /red/)
  })

  test('the same list in every format', async () => {
    await person.reads(['node', 'create', '--name', 'f1', '--resource-class', 'f', '--description', 'a "b", c'])
    const list = 'node list --resource-class f -c name -c description'
    assert.deepEqual(JSON.parse(await person.reads(`${list} -f json`)), [{ name: 'f1', description: 'a "b", c' }])
    assert.deepEqual(parse(await person.reads(`${list} -f yaml`)), [{ name: 'f1', description: 'a "b", c' }])
    assert.equal(await person.reads(`${list} -f csv`), 'name,description\nf1,"a ""b"", c"')
    assert.equal(await person.reads(`${list} -f value`), 'f1 a "b", c')
    assert.equal(await person.reads(list), 'name  description\nf1    a "b", c')
    await person.isRefused('node show f1 -c colour', 2, /there is no column colour; there are uuid,/)
    await person.isRefused(`${list} -f xml`, 2, /table, json, yaml, csv, value/)
  })

  test('of several nodes all are tried, and each failure is told', async () => {
    await person.reads('node create --name s1')
    const { code, stdout, stderr } = await person.types('node delete nope-1 s1 nope-2')
    assert.equal(code, 3)
    assert.equal(stdout, 's1 is gone\n')
    assert.match(stderr, /^holdfast: .*nope-1.*\nholdfast: .*nope-2.*\n$/)
  })

  test('waiting for a state that is not reached ends with the reason', async () => {
    await person.reads([
      'node',
      'create',
      '--driver',
      'fake-hardware',
      '--name',
      'broken',
      '--driver-info',
      'fake_fail="verify"',
    ])
    await person.isRefused('node manage broken --wait', 1, /broken is enroll, not manageable: /)
  })
})
