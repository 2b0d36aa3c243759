// Allocations with the real clients, as Debian has them: python3-ironicclient, python3-openstackclient,
// python3-openstacksdk. Where they aren't installed, this is skipped.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Baremetal } from '../support/baremetal.ts'
import { type Server, startServer } from '../support/server.ts'
import { missing, runClient } from './openstack.ts'

const skip = missing('python3-ironicclient', 'python3-openstackclient', 'python3-openstacksdk')

void describe('allocations with the real clients', { skip }, () => {
  const nodes: Record<string, string> = {}
  let folder = ''
  let server: Server
  let api: Baremetal
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-clients-'))
    server = await startServer(`sqlite:${join(folder, 'holdfast.db')}`, { auth: 'none' })
    api = new Baremetal(server.origin)
    for (const name of ['n1', 'n2', 'n3']) {
      nodes[name] = await api.node({ name, resource_class: 'gpu', owner: name === 'n3' ? 'o1' : null }, 'available')
    }
    await api.put('/v1/nodes/n1/traits', { traits: ['CUSTOM_RED', 'HW_CPU_X86_VMX'] })
  })
  after(async () => {
    await api.fsck()
    api.close()
    await server.stop()
    rmSync(folder, { recursive: true })
  })

  const openstack = async (words: string) => {
    const common = ['--os-auth-type', 'none', '--os-endpoint', `${api.origin}/baremetal`, 'baremetal']
    const args = [...common, ...words.split(' ').filter(Boolean)]
    return (await runClient('openstack', args)).trim()
  }
  const json = async (words: string) => JSON.parse(await openstack(`${words} -f json`))
  const names = async (filter: string) =>
    (await json(`allocation list ${filter}`)).map((row: Record<string, string>) => row['Name']).join(' ')

  void test('openstack baremetal allocation: create and wait, show, list, and the node that it got', async () => {
    const wanted = '--resource-class gpu --trait CUSTOM_RED --candidate-node n1 --candidate-node n2'
    const created = await json(`allocation create ${wanted} --name a1 --extra a=1 --extra b=2 --wait 30`)
    assert.deepEqual(
      [created.name, created.state, created.node_uuid, created.resource_class],
      ['a1', 'active', nodes['n1'], 'gpu'],
    )
    assert.deepEqual([created.traits, created.candidate_nodes], [['CUSTOM_RED'], [nodes['n1'], nodes['n2']]])
    assert.deepEqual(Object.keys(created.extra).sort(), ['a', 'b'])
    assert.deepEqual(await json(`allocation show ${created.uuid}`), await json('allocation show a1'))
    const node = await json('node show n1')
    assert.deepEqual([node.allocation_uuid, node.instance_uuid], [created.uuid, created.uuid])
    const fields = await json('allocation show a1 --fields uuid state')
    assert.deepEqual([fields.uuid, fields.state], [created.uuid, 'active'])
  })

  void test('a wish that can not be granted: the command fails and says why', async () => {
    const failing = openstack('allocation create --resource-class gpu --trait CUSTOM_RED --name a2 --wait 30')
    await assert.rejects(failing, /Failed to process allocation/)
    assert.equal((await json('allocation show a2')).state, 'error')
  })

  void test('lists with every filter', async () => {
    await openstack('allocation create --resource-class gpu --name a3 --owner o1 --wait')
    assert.equal(await names(''), 'a1 a2 a3')
    assert.equal(await names('--state active'), 'a1 a3')
    assert.equal(await names('--state error --long'), 'a2')
    assert.equal(await names('--node n3'), 'a3')
    assert.equal(await names('--owner o1'), 'a3')
    assert.equal(await names('--resource-class other'), '')
    assert.equal(await names('--limit 2'), 'a1 a2')
    assert.equal(await names('--sort name:desc'), 'a3 a2 a1')
    const { uuid } = await json('allocation show a2')
    assert.equal(await names(`--marker ${uuid}`), 'a3')
    await assert.rejects(openstack('allocation show nobody'), /could not be found/)
  })

  void test('set, unset and delete', async () => {
    await openstack('allocation set a1 --name renamed --extra c=3')
    await openstack('allocation unset renamed --extra a')
    const shown = await json('allocation show renamed')
    assert.deepEqual(Object.keys(shown.extra).sort(), ['b', 'c'])
    await openstack('allocation unset renamed --name')
    assert.equal((await json(`allocation show ${shown.uuid}`)).name, null)
    assert.match(await openstack(`allocation delete ${shown.uuid} a2 a3`), /Deleted allocation/)
    assert.equal(await names(''), '')
    assert.equal((await json('node show n1')).allocation_uuid, null)
  })

  void test('a node that is deployed and undeployed through its allocation, and one that gets it afterwards', async () => {
    const { uuid, node_uuid } = await json('allocation create --resource-class gpu --candidate-node n2 --wait 30')
    await api.go(node_uuid, 'active', 'active')
    await api.go(node_uuid, 'deleted', 'available')
    await assert.rejects(openstack(`allocation show ${uuid}`), /could not be found/)
    await api.go('n2', 'active', 'active')
    const backfilled = await json('allocation create --node n2')
    assert.deepEqual([backfilled.state, backfilled.node_uuid], ['active', node_uuid])
    await api.go('n2', 'deleted', 'available')
  })

  void test('openstacksdk: create, wait, find, update, delete', async () => {
    const script = `
import openstack, sys
conn = openstack.connect(auth_type='none', endpoint=sys.argv[1], baremetal_endpoint_override=sys.argv[1])
b = conn.baremetal
a = b.create_allocation(resource_class='gpu', name='sdk', traits=['CUSTOM_RED'])
assert a.state == 'allocating' and a.node_id is None, a
a = b.wait_for_allocation(a, timeout=30)
assert a.state == 'active', a
assert b.get_node(a.node_id).allocation_id == a.id
assert b.get_allocation('sdk').id == a.id
assert [x.id for x in b.allocations(state='active', node=a.node_id)] == [a.id]
assert [x.id for x in b.allocations(fields=['uuid', 'name'])] == [a.id]
c = b.create_allocation(resource_class='gpu', candidate_nodes=['n2', 'n3'])
c = b.wait_for_allocation(c, timeout=30)
assert len(list(b.allocations(limit=1))) == 2
failing = b.create_allocation(resource_class='gpu', traits=['CUSTOM_RED'])
try:
    b.wait_for_allocation(failing, timeout=30)
    raise SystemExit('it did not fail')
except openstack.exceptions.ResourceFailure as e:
    assert 'no suitable nodes' in str(e) or 'no available nodes' in str(e), e
assert b.wait_for_allocation(failing, timeout=30, ignore_error=True).state == 'error'
b.delete_allocation(failing)
a = b.update_allocation(a, name='renamed', extra={'answer': 42})
assert (a.name, a.extra) == ('renamed', {'answer': 42}), a
a = b.patch_allocation(a, [{'op': 'remove', 'path': '/name'}])
assert a.name is None, a
try:
    b.create_allocation(resource_class='gpu', candidate_nodes=['nobody'])
    raise SystemExit('it was accepted')
except openstack.exceptions.BadRequestException:
    pass
for x in (a, c):
    b.delete_allocation(x, ignore_missing=False)
try:
    b.get_allocation(a.id)
    raise SystemExit('it is still there')
except openstack.exceptions.ResourceNotFound:
    pass
node = b.get_node('n1')
assert node.allocation_id is None and node.instance_id is None, node
print('done')
`
    const printed = await runClient('python', ['-c', script, `${api.origin}/baremetal`])
    assert.equal(printed.trim(), 'done')
  })
})
