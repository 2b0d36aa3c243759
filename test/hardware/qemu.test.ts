// The whole story on machines that boot: from the addresses of two BMCs to words on serial consoles, and conductors
// that die on the way.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Person } from '../cli/person.ts'
import { missing, runClient } from '../clients/openstack.ts'
import { Baremetal, spawnConductor, waitFor } from '../support/baremetal.ts'
import { sharedPostgres } from '../support/postgres.ts'
import { expectStatus } from '../support/placement.ts'
import { type Command, type Server, spawnServer } from '../support/server.ts'
import { type Door, type Machines, noMachines, startMachines } from './machines.ts'

/** Without KVM a boot takes some ten seconds, on a busy machine more. */
const BOOT_MS = 120_000
const TAKE_OVER = ['--take-over-ms', '2000']

void describe('QEMU machines behind Redfish', { skip: noMachines(), timeout: 600_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-qemu-'))
  let machines: Machines
  let server: Server
  let database = ''
  let conductor: Command
  let api: Baremetal
  let stopPostgres = async () => {}
  const person = new Person(() => server.origin)
  const doorOf = async (node: string): Promise<Door> => {
    const { driver_info } = await api.show(node)
    return machines.doors.find(({ address }) => address === driver_info.redfish_address)!
  }
  const othersOf = (door: Door) => machines.doors.filter(other => other !== door)
  const reads = (door: Door, word: string) =>
    waitFor(`${word} is on the console of ${door.address}`, async () => door.serial.includes(word), BOOT_MS)
  const setIso = async (node: string, word: string) => {
    await person.reads(['node', 'set', node, '--instance-info', `boot_iso=${machines.iso(word)}`])
  }

  before(async () => {
    const postgres = await sharedPostgres()
    stopPostgres = () => postgres.stop()
    database = await postgres.createDatabase()
    machines = await startMachines(2)
    server = await spawnServer(database, ['--auth', 'none'], 'api')
    conductor = await spawnConductor(database, 'first', TAKE_OVER)
    api = new Baremetal(server.origin)
  })
  after(async () => {
    api?.close()
    conductor?.child.kill('SIGKILL')
    await server?.stop()
    machines?.stop()
    await stopPostgres()
    rmSync(folder, { recursive: true })
  })

  void test('the addresses of two BMCs become two machines with traits', async () => {
    const file = join(folder, 'rack.csv')
    const rows = machines.doors.map(({ address }) => `${address},available`)
    writeFileSync(file, ['bmc,provision_state', ...rows].join('\n'))
    assert.match(await person.reads(['import', file]), /2 created/)
    const { nodes } = expectStatus(await api.get('/v1/nodes?provision_state=available&detail=True'), 200).body
    assert.equal(nodes.length, 2)
    for (const node of nodes) {
      assert.ok(node.traits.includes('HW_ARCH_X86_64'), node.traits.join())
      assert.equal(node.properties.memory_mb, 1_024)
    }
  })

  void test('an allocated machine boots its ISO, alone, and is off and empty after the undeploy', async () => {
    const shown = await person.reads('allocation create --resource-class baremetal --name one --wait 1m --format json')
    const node = (JSON.parse(shown) as { node_uuid: string }).node_uuid
    const door = await doorOf(node)
    await setIso(node, 'WORD-ALLOCATION')
    await person.reads(['node', 'deploy', node, '--wait', '2m'])
    await reads(door, 'WORD-ALLOCATION')
    for (const other of othersOf(door)) assert.ok(!other.serial.includes('WORD-ALLOCATION'))
    await person.reads(['node', 'undeploy', node, '--wait', '2m'])
    assert.deepEqual([await door.power(), await door.media()], ['Off', []])
  })

  const skip = missing('python3-openstackclient', 'python3-novaclient')
  void test('openstack server create boots one, and server delete gives it back', { skip }, async () => {
    const env = {
      ...process.env,
      OS_AUTH_URL: `${server.origin}/identity`,
      OS_USERNAME: 'me',
      OS_PASSWORD: 'anything',
      OS_PROJECT_NAME: 'play',
      OS_USER_DOMAIN_NAME: 'Default',
      OS_PROJECT_DOMAIN_NAME: 'Default',
    }
    const words = (text: string) => runClient('openstack', text.split(' '), env)
    const none = ['VCPU', 'MEMORY_MB', 'DISK_GB'].map(name => `--property resources:${name}=0`).join(' ')
    await words(`flavor create --vcpus 1 --ram 512 --disk 1 ${none} --property resources:CUSTOM_BAREMETAL=1 metal`)
    const iso = machines.iso('WORD-SERVER')
    await words(`server create --flavor metal --image cirros --property boot_iso=${iso} --wait vm`)
    const { nodes } = expectStatus(await api.get('/v1/nodes?provision_state=active&detail=True'), 200).body
    const door = await doorOf(nodes[0].uuid)
    await reads(door, 'WORD-SERVER')
    for (const other of othersOf(door)) assert.ok(!other.serial.includes('WORD-SERVER'))
    await words('server delete vm --wait')
    await api.until(nodes[0].uuid, 'available', BOOT_MS)
    assert.deepEqual([await door.power(), await door.media()], ['Off', []])
  })

  void test('a conductor killed after each change: another goes on, and nothing is done twice', async () => {
    const { nodes } = expectStatus(await api.get('/v1/nodes?provision_state=available'), 200).body
    const node = nodes[0].uuid as string
    const door = await doorOf(node)
    await setIso(node, 'WORD-FIRST')
    await api.go(node, 'active', 'active')
    const changes = ['ForceOff', 'EjectMedia', 'InsertMedia', 'boot from Cd', 'On']
    for (const [at, change] of changes.entries()) {
      const word = `WORD-${at}`
      await setIso(node, word)
      const begun = door.changes.length
      const made = door.keepBack(change)
      expectStatus(await api.provision(node, 'rebuild'), 202)
      await made
      const next = spawnConductor(database, `conductor-${at}`, TAKE_OVER)
      conductor.child.kill('SIGKILL')
      conductor = await next
      const shown = await api.until(node, 'active', BOOT_MS)
      assert.deepEqual([shown.power_state, shown.last_error], ['power on', null])
      assert.deepEqual(door.changes.slice(begun), changes, `killed after ${change}`)
      await reads(door, word)
    }
    await api.go(node, 'deleted', 'available')
    assert.deepEqual([await door.power(), await door.media()], ['Off', []])
    await api.fsck()
  })
})
