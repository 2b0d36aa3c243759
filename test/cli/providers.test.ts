// holdfast provider create, set, delete, inventory, trait, aggregate; node port; host set.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atShell } from './person.ts'

atShell('holdfast provider', person => {
  test('a provider is made, moved, renamed and deleted, by its name', async () => {
    await person.reads('provider create tree')
    const uuid = await person.reads('provider create leaf --parent-provider tree -f value -c uuid')
    const { providers } = await person.library()
    assert.equal((await providers.find('leaf')).parent_provider_uuid, (await providers.find('tree')).uuid)
    assert.equal(await person.reads('provider set leaf --name twig -f value -c uuid'), uuid)
    await person.isRefused('provider create twig', 4, /twig already exists/)
    await person.isRefused('provider create other --parent-provider nowhere', 3, /no resource provider nowhere/)
    await person.isRefused('provider set twig', 2, /--name or --parent-provider/)
    await person.isRefused('provider delete tree', 4, /./)
    assert.equal(await person.reads('provider delete twig tree'), 'twig is gone\ntree is gone')
  })

  test('inventories are replaced, or amended in what is named', async () => {
    const { providers } = await person.library()
    await providers.create({ name: 'amounts' })
    const set = 'provider inventory set amounts'
    assert.equal(
      await person.reads(`${set} --resource VCPU=8 --resource VCPU:allocation_ratio=1.5 --resource CUSTOM_FPGA=2`),
      'amounts has 8 VCPU, 2 CUSTOM_FPGA',
    )
    await person.reads(`${set} --amend --resource VCPU:reserved=1`)
    assert.equal(
      await person.reads('provider inventory list amounts -f value -c resource_class -c total -c reserved -c used'),
      'VCPU 8 1 0\nCUSTOM_FPGA 2 0 0',
    )
    assert.equal((await providers.show('amounts')).inventories['VCPU']!.allocation_ratio, 1.5)
    for (const [words, said] of [
      ['--resource VCPU:reserved=1', /say how much VCPU there is/],
      ['--resource VCPU', /'VCPU' is not of the form/],
      ['--resource VCPU:speed=1', /there are total, reserved/],
      ['--resource VCPU=some', /'some' in 'VCPU=some' is no number/],
    ] as const) {
      await person.isRefused(`${set} ${words}`, 2, said)
    }
    await person.reads('provider inventory delete amounts --resource-class CUSTOM_FPGA')
    assert.deepEqual(Object.keys((await providers.show('amounts')).inventories), ['VCPU'])
    await person.reads('provider inventory delete amounts')
    assert.deepEqual((await providers.show('amounts')).inventories, {})
  })

  test('traits and aggregates are what was said last', async () => {
    const { providers } = await person.library()
    await providers.create({ name: 'labels' })
    await person.reads('provider trait set labels --trait CUSTOM_RACK_7 --trait HW_CPU_X86_AVX2')
    assert.equal(await person.reads('provider trait list labels -f value'), 'CUSTOM_RACK_7\nHW_CPU_X86_AVX2')
    assert.equal(await person.reads('provider trait set labels'), 'labels has no traits')
    await person.isRefused('provider trait set labels --trait red', 2, /red/)
    const aggregate = '0c5e3f7a-8a1d-4e0b-9d3b-1f0a2b3c4d5e'
    await person.reads(`provider aggregate set labels ${aggregate}`)
    assert.equal(await person.reads('provider aggregate list labels -f value'), aggregate)
  })

  test('a host gets more capabilities', async () => {
    const { providers } = await person.library()
    const { uuid, generation } = await providers.create({ name: 'hv' })
    await providers.setInventories(uuid, { VCPU: { total: 4 } }, generation)
    await person.reads('host create hv --extra gpu=no')
    assert.equal(await person.reads('host set hv --extra gpu=yes --extra rack=7 -f value -c gpu -c rack'), 'yes\n7')
    await person.isRefused('host set nobody --extra gpu=yes', 3, /no host nobody/)
  })

  test("a node's network cards are added, listed and removed, by MAC address", async () => {
    const { nodes } = await person.library()
    const { uuid } = await nodes.create({ driver: 'fake-hardware', name: 'wired' })
    const created = await person.readsJson(
      'node port create wired 52-54-00-AB-00-01 --physical-network rack-7 --no-pxe --local-link-connection port_id=9',
    )
    assert.deepEqual(
      [created.address, created.node_uuid, created.pxe_enabled, created.local_link_connection],
      ['52:54:00:ab:00:01', uuid, false, { port_id: 9 }],
    )
    await person.isRefused('node port create wired 52:54:00:ab:00:01', 4, /already exists/)
    await person.isRefused('node port create nobody 52:54:00:ab:00:02', 3, /nobody/)
    assert.equal(await person.reads('node port list wired -f value -c address'), '52:54:00:ab:00:01')
    assert.equal(await person.reads('node port delete 52:54:00:AB:00:01'), '52:54:00:AB:00:01 is gone')
    await person.isRefused('node port delete 52:54:00:ab:00:01', 3, /no port with MAC address/)
  })
})
