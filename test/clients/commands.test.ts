// The commands of the real `openstack`, one after the other: those that work, and how those end that can't.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { withCatalog } from './catalog.ts'
import { missing, runClient } from './openstack.ts'

const skip = missing('python3-openstackclient', 'python3-osc-placement', 'python3-ironicclient', 'python3-blazarclient')

/** Each command, and what it prints at least. */
const ANSWERED: readonly (readonly [string, RegExp])[] = [
  ['endpoint list', /RegionOne +\| nova +\| compute .*\/compute\/v2\.1/],
  ['endpoint list --service compute --interface public', /\/compute\/v2\.1/],
  ['region list', /RegionOne/],
  ['region show RegionOne', /Ours/],
  ['service list', /blazar +\| reservation/],
  ['service show compute', /nova/],
  ['catalog list', /ironic +\| baremetal/],
  ['catalog show baremetal', /public: .*\/baremetal/],
  ['token issue', /project_id/],
  ['role list', /member/],
  ['role assignment list --names', /^$|Role/],
  ['project list', /play/],
  ['user list', /me/],
  ['domain list', /Default/],
  ['application credential list', /^$|ID/],
  ['versions show', /compute .*2\.38/],

  ['usage show --project other', /Servers +\| 0 /],
  ['usage list', /play +\| 1 /],
  ['usage show', /Servers +\| 1 /],
  ['host list', /compute-1 +\| compute +\| nova/],
  ['host show compute-1', /\(used_now\) +\| +2 /],
  ['host set --disable compute-1', /^$/],
  ['host set --enable compute-1', /^$/],
  ['compute service list --long', /compute-1 .*enabled .*up .*False/],
  ['--os-compute-api-version 2.11 compute service set --down compute-1 nova-compute', /^$/],
  ['compute service list', /compute-1 .*down/],
  ['--os-compute-api-version 2.11 compute service set --up compute-1 nova-compute', /^$/],
  ['hypervisor list --long', /compute-1 .* 8 /],
  ['hypervisor show compute-1', /vcpus_used +\| 2 /],
  ['hypervisor stats show', /running_vms +\| +1 /],
  ['availability zone list --compute --long', /nova .*compute-1/],
  ['aggregate list', /^$/],
  ['server group list', /^$/],
  ['keypair list', /^$/],
  ['extension list --compute', /^$/],
  ['limits show --absolute', /totalCoresUsed +\| +2 /],
  ['limits show --absolute --project play', /totalInstancesUsed +\| +1 /],
  ['limits show --rate', /^$/],
  ['quota show', /cores +\| -1/],
  ['quota show --default', /instances +\| -1/],
  ['quota show --class default', /instances +\| -1/],
  ['quota set --cores 30 play', /^$/],
  ['quota show', /cores +\| 30/],
  ['quota list --compute --detail', /cores +\| +2 /],
  ['flavor list --long --all', /small/],
  ['flavor show small', /vcpus +\| 2/],
  ['image list --long', /cirros/],
  ['image show cirros', /active/],
  ['server list --long', /vm .*ACTIVE .*cirros .*small/],
  ['--os-compute-api-version 2.38 server list --status ACTIVE', /vm/],
  ['--os-compute-api-version 2.37 server show vm', /locked +\| False/],
  ['--os-compute-api-version 2.26 server set --tag red vm', /^$/],
  ['--os-compute-api-version 2.26 server list --tags red', /vm/],
  ['--os-compute-api-version 2.26 server unset --tag red vm', /^$/],
  ['--os-compute-api-version 2.19 server set --description mine vm', /^$/],
  ['--os-compute-api-version 2.19 server show vm', /description +\| mine/],
  ['server migration list', /^$/],
  ['--os-compute-api-version 2.23 server migration list --server vm', /^$/],

  ['resource provider list', /compute-1/],
  ['resource class list', /CUSTOM_GPU/],
  ['trait list', /HW_CPU/],
  ['allocation candidate list --resource VCPU=1', /VCPU=1/],
  ['baremetal node list --long', /n1/],
  ['baremetal port list', /^$|UUID/],
  ['baremetal port group list', /^$|UUID/],
  ['baremetal chassis list', /^$|UUID/],
  ['baremetal driver list --long', /fake-hardware/],
  ['baremetal driver list --fields name type', /fake-hardware +\| dynamic/],
  ['baremetal driver show fake-hardware', /dynamic/],
  ['baremetal driver property list fake-hardware', /Property/],
  ['baremetal conductor list --long', /True/],
  ['baremetal allocation list', /^$|UUID/],
  ['baremetal volume connector list', /^$|UUID/],
  ['baremetal volume target list', /^$|UUID/],
  [
    `baremetal deploy template create CUSTOM_T --steps [{"interface":"bios","step":"x","args":{},"priority":10}]`,
    /CUSTOM_T/,
  ],
  ['baremetal deploy template set CUSTOM_T --extra a=b', /^$/],
  ['baremetal deploy template show CUSTOM_T', /'a': 'b'/],
  ['baremetal deploy template list', /CUSTOM_T/],
  ['baremetal deploy template delete CUSTOM_T', /Deleted/],
  ['baremetal driver raid property list fake-hardware', /size_gb/],
  ['baremetal node set n1 --target-raid-config {"logical_disks":[{"size_gb":100,"raid_level":"1"}]}', /^$/],
  ['baremetal node show n1 --fields target_raid_config', /'raid_level': '1'/],
  ['baremetal node bios setting list n1', /^$|name/],
  ['baremetal node console show n1', /console_enabled +\| False/],
  ['baremetal node passthru list n1', /Supported HTTP methods/],
  ['reservation lease list', /^$|id/],
  ['reservation host list', /^$|id/],
  ['reservation host property list', /^$|Property/],
]

/** What isn't there, and how the client tells it: a clear refusal, never a failure of the server. */
const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['group list', /HTTP 404/],
  ['credential list', /HTTP 404/],
  ['trust list', /HTTP 404/],
  ['service create other', /HTTP 405/],
  ['region create other', /HTTP 405/],
  ['compute agent list', /HTTP 404/],
  ['server event list vm', /HTTP 404/],
  ['server volume list vm', /HTTP 404/],
  ['server pause vm', /no such action: pause/],
  ['server lock vm', /HTTP 400/],
  ['server shelve vm', /HTTP 400/],
  ['server rebuild vm', /HTTP 400/],
  ['server image create vm', /no such action: createImage/],
  ['console log show vm', /no such action: os-getConsoleOutput/],
  ['console url show vm', /404/],
  ['host set --enable-maintenance compute-1', /400|maintenance/],
  ['aggregate create a', /405/],
  ['server group create a', /405/],
  ['keypair create a', /405/],
  ['quota set --ram 3 play', /can not be limited/],
  ['image create a', /403.*Images are not kept here/],
  ['--os-compute-api-version 2.90 server list', /Minimum is 2\.1 and maximum is 2\.38/],
  // As upstream before 1.94: only by the node's UUID.
  ['baremetal volume connector create --node n1 --type iqn --connector-id x', /HTTP 400/],
  ['baremetal volume connector show no-uuid', /HTTP 400/],
  ['baremetal node bios setting show n1 nothing', /HTTP 404/],
  ['baremetal deploy template create no-trait --steps []', /HTTP 400/],
  ['reservation floatingip list', /not found/],
  // Without a network or volume service in the catalog the client doesn't even ask.
  ['availability zone list', /network service .* not found/],
  ['volume list', /not found/],
]

void describe('the openstack command', { skip }, () => {
  const { api, env } = withCatalog()
  const words = async (line: string) => (await runClient('openstack', line.split(' '), env())).trim()
  before(async () => {
    await api.hypervisor({}, 'compute-1')
    await words('flavor create --vcpus 2 --ram 1024 --disk 5 small')
    await api.baremetal.node({ name: 'n1', resource_class: 'gpu' }, 'available')
  })

  void test('a server without a network: --nic none, from 2.37 on', async () => {
    const create = 'server create --flavor small --image cirros --wait'
    const made = await words(`--os-compute-api-version 2.37 ${create} --nic none vm`)
    assert.match(made, /status +\| ACTIVE/)
    assert.match(await words(`--os-compute-api-version 2.37 ${create} other`), /addresses +\| auto=/)
    await words('server delete --wait other')
  })

  void test('commands that read, and change what can be changed', async () => {
    for (const [line, expected] of ANSWERED) assert.match(await words(line), expected, line)
  })

  void test('commands for what is not there are refused, and say so', async () => {
    for (const [line, expected] of REFUSED) {
      const refusal = await words(line).then(
        () => assert.fail(`${line} worked`),
        (error: Error) => error.message,
      )
      assert.match(refusal, expected, line)
      assert.doesNotMatch(refusal, /Traceback|HTTP 5\d\d|5\d\d: Server Error/, line)
    }
  })
})
