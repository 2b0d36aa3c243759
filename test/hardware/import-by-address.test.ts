// From the addresses of BMCs in a CSV to machines that can be allocated by what they are.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { atShell } from '../cli/person.ts'
import { startBmc } from '../support/bmc.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-bmc-'))
after(() => rmSync(folder, { recursive: true }))

const GPU = { manufacturer: 'NVIDIA', model: 'L4 (24GB)', vendorId: '0x10de', deviceId: '0x27b8' }
const PASSWORD = 'secret-word'

atShell('import by address', person => {
  let bmcs: Awaited<ReturnType<typeof startBmc>>[] = []
  before(async () => {
    bmcs = [
      await startBmc({ machines: [{ gpus: [GPU, GPU] }] }),
      await startBmc({ machines: [{ macs: ['52:54:02:00:00:01'] }] }),
    ]
  })
  after(async () => {
    for (const bmc of bmcs) await bmc.stop()
  })
  const fileOf = (name: string, lines: readonly string[]) => {
    const path = join(folder, name)
    writeFileSync(path, `${lines.join('\n')}\n`)
    return path
  }
  const nameOf = (address: string) => address.replace('http://', '').replace(':', '-')

  test('two lines end as two available machines with their traits; a third that is not there is said', async () => {
    const rows = bmcs.map(({ address }) => `${address},admin,available`)
    const file = fileOf('rack.csv', ['bmc,bmc_username,provision_state', ...rows, 'http://127.0.0.1:9,admin,available'])
    const { code, stdout, stderr } = await person.types(['import', file], { HOLDFAST_BMC_PASSWORD: PASSWORD })
    assert.equal(code, 1, stderr)
    assert.match(stdout, /2 created, 0 changed, 0 unchanged, 1 failed/)
    assert.match(stderr, /node 127\.0\.0\.1-9: it is enroll, not available: Nobody answers at redfish_address/)
    assert.doesNotMatch(stdout + stderr, new RegExp(PASSWORD))
    const { nodes, ports } = await person.library()
    const [first, second] = await Promise.all(bmcs.map(({ address }) => nodes.show(nameOf(address))))
    assert.deepEqual([first!.provision_state, second!.provision_state], ['available', 'available'])
    assert.deepEqual([first!['resource_class'], first!['driver']], ['baremetal', 'redfish'])
    for (const trait of ['CUSTOM_GPU_L4_24GB', 'CUSTOM_GPU_COUNT_2', 'HW_ARCH_X86_64', 'CUSTOM_UEFI']) {
      assert.ok(first!.traits.includes(trait), trait)
      assert.equal(second!.traits.includes(trait), !trait.includes('GPU'), trait)
    }
    const { cpus, memory_mb, local_gb } = first!['properties'] as Record<string, unknown>
    assert.deepEqual([cpus, memory_mb, local_gb], [16, 65_536, 479])
    const { inventory } = await nodes.inventory(first!.uuid)
    assert.equal(inventory['gpu_count'], 2)
    const addresses = (await ports.list()).filter(port => port.node_uuid === second!.uuid).map(port => port.address)
    assert.deepEqual(addresses, ['52:54:02:00:00:01'])
  })

  test('the same file again changes nothing', async () => {
    const rows = bmcs.map(({ address }) => `${address},available`)
    const file = fileOf('again.csv', ['bmc,provision_state', ...rows])
    assert.equal(await person.reads(['import', file]), '0 created, 0 changed, 2 unchanged')
  })

  test('an export has no passwords, and imports again', async () => {
    const file = join(folder, 'export.csv')
    const { code, stderr } = await person.types(['export', '-o', file])
    assert.equal(code, 0)
    assert.match(stderr, /left out, since the server shows no secrets: .*redfish_password/)
    const again = await person.types(['import', file], { HOLDFAST_BMC_PASSWORD: 'another' })
    assert.match(again.stdout, /^0 created, 0 changed/)
  })

  test('a wrong password is said in words, and a right one mends it', async () => {
    const bmc = await startBmc({ machines: [{ macs: ['52:54:02:00:00:02'] }] })
    try {
      const file = fileOf('wrong.csv', [
        'bmc,bmc_username,bmc_password,provision_state',
        `${bmc.address},admin,wrong-one,available`,
      ])
      const { code, stderr } = await person.types(['import', file])
      assert.equal(code, 1)
      assert.match(stderr, /refuses the login of user redfish_username/)
      assert.doesNotMatch(stderr, /wrong-one/)
      const password = fileOf('password', [PASSWORD])
      const right = fileOf('right.csv', ['bmc,provision_state', `${bmc.address},available`])
      const line = ['import', right, '--bmc-username', 'admin', '--bmc-password-file', password]
      assert.equal(await person.reads(line), '0 created, 1 changed, 0 unchanged')
    } finally {
      await bmc.stop()
    }
  })

  test('a machine whose inspection fails is said, and the next import goes on', async () => {
    const bmc = await startBmc({ machines: [{ macs: ['52:54:02:00:00:03'] }] })
    try {
      const file = fileOf('broken.csv', [
        'bmc,bmc_username,bmc_password,provision_state',
        `${bmc.address},admin,${PASSWORD},available`,
      ])
      const system = bmc.resource('Systems/1')
      const links = ['Processors', 'Memory', 'EthernetInterfaces', 'Storage', 'MemorySummary', 'ProcessorSummary']
      const kept = Object.fromEntries(links.map(name => [name, system[name]]))
      for (const name of links) delete system[name]
      const { code, stderr } = await person.types(['import', file])
      assert.equal(code, 1)
      assert.match(stderr, /it is inspect failed, not available: The BMC tells of no processors/)
      Object.assign(system, kept)
      assert.match(await person.reads(['import', file]), /0 created, 1 changed/)
      const { nodes } = await person.library()
      assert.equal((await nodes.show(nameOf(bmc.address))).provision_state, 'available')
    } finally {
      await bmc.stop()
    }
  })
})
