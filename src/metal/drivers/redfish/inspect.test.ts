// Inspection of machines as BMCs describe them, with their quirks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ALL, bmcOf, CPU, link, PLAIN, reportOf } from '../../../../test/support/described-machine.ts'
import { limits } from '../../../shared/limits.ts'
import { HardwareFailure } from '../port.ts'
import { type Bmc, BmcAway, BmcRefusal } from './bmc.ts'
import { inspect } from './inspect.ts'

const GIB = 1024 ** 3

void test('an emulated machine: numbers are text, links lead nowhere, disks are simple storage', async () => {
  const found = await reportOf({
    system: {
      Manufacturer: 'Sushy Emulator',
      MemorySummary: { TotalSystemMemoryGiB: 1 },
      SecureBoot: link('/s/SecureBoot'),
      Boot: { BootSourceOverrideMode: 'Legacy' },
    },
    root: { UpdateService: link('/u') },
    resources: { '/u': { FirmwareInventory: link('/u/FirmwareInventory') } },
    collections: {
      '/s/Processors': [
        {
          Id: 'CPU0',
          ProcessorType: 'CPU',
          InstructionSet: 'x86-64',
          TotalThreads: '1',
          TotalCores: '1',
          Model: 'N/A',
        },
        {
          Id: 'CPU1',
          ProcessorType: 'CPU',
          InstructionSet: 'x86-64',
          TotalThreads: '1',
          TotalCores: '1',
          Model: 'N/A',
        },
      ],
      '/s/SimpleStorage': [{ Devices: [{ Name: 'vda', CapacityBytes: 10 * GIB }] }],
      '/s/EthernetInterfaces': [{ Id: '52:54:00:11:22:01', MACAddress: '52:54:00:11:22:01' }],
    },
  })
  assert.deepEqual([found.cpus, found.cpu_arch, found.memory_mb, found.local_gb], [2, 'x86_64', 1_024, 9])
  assert.deepEqual(found.cpu, { architecture: 'x86_64', count: 2, cores: 2, sockets: 2 })
  assert.deepEqual(found.memory, { physical_mb: 1_024, total: GIB })
  assert.deepEqual(found.disks, [{ name: 'vda', size: 10 * GIB }])
  assert.deepEqual(found.ports, [{ address: '52:54:00:11:22:01' }])
  assert.deepEqual([found.bootMode, found.capabilities, found.vendor], ['bios', 'boot_mode:bios', 'Sushy Emulator'])
  assert.deepEqual([found.notes, found.gpus, found.firmware], [[], [], []])
})

void test('a rack server: empty bays, an FPGA among its processors, its firmware', async () => {
  const found = await reportOf({
    root: { UpdateService: link('/u') },
    system: {
      ...PLAIN,
      Manufacturer: 'Contoso',
      Model: '3500',
      SerialNumber: '437XR1138R2',
      SKU: '8675309',
      BiosVersion: 'P79 v1.45',
      Boot: { BootSourceOverrideMode: 'UEFI' },
      SecureBoot: link('/s/SecureBoot'),
      TrustedModules: [{ InterfaceType: 'TPM2_0', FirmwareVersion: '3.1', Status: { State: 'Enabled' } }],
    },
    managers: [{ FirmwareVersion: '1.45.455b66-rev4' }],
    resources: {
      '/u': { FirmwareInventory: link('/u/F') },
      '/s/SecureBoot': { SecureBootEnable: true, SecureBootCurrentBoot: 'Enabled' },
      '/d/1': { Name: 'SATA Bay 1', CapacityBytes: 8e12, MediaType: 'HDD', Protocol: 'SATA', RotationSpeedRPM: 7_200 },
      '/d/2': { Name: 'SATA Bay 2', Status: { State: 'Absent' } },
      '/d/3': {
        Name: 'M.2',
        CapacityBytes: 480 * GIB,
        MediaType: 'SSD',
        Protocol: 'NVMe',
        Identifiers: [{ DurableNameFormat: 'NAA', DurableName: '5000C500A0B1C2D3' }],
      },
      '/d/4': { Name: 'USB', CapacityBytes: 2 * GIB },
    },
    collections: {
      '/s/Processors': [
        CPU,
        { ...CPU, MaxSpeedMHz: 3_700 },
        { ProcessorType: 'CPU', Status: { State: 'Absent' } },
        { ProcessorType: 'FPGA', Manufacturer: 'Intel', Model: 'Stratix 10', TotalThreads: 9 },
      ],
      '/s/Storage': [{ Drives: [link('/d/1'), link('/d/2'), link('/d/3')] }, { Drives: [link('/d/4'), link('/d/9')] }],
      '/u/F': [
        { Name: 'Contoso NIC', Version: '7.1' },
        { Name: 'Empty', Version: '' },
      ],
    },
  })
  const cpu = found.cpu!
  assert.deepEqual([found.cpus, cpu.cores, cpu.sockets, cpu.hyperthreading, cpu.frequency], [64, 32, 2, true, 3_700])
  assert.deepEqual(found.accelerators, [{ type: 'FPGA', vendor: 'Intel', model: 'Stratix 10' }])
  assert.deepEqual(
    found.disks!.map(disk => disk.name),
    ['SATA Bay 1', 'M.2', 'USB'],
  )
  assert.deepEqual(found.disks![1], {
    name: 'M.2',
    size: 480 * GIB,
    wwn: '5000C500A0B1C2D3',
    media_type: 'SSD',
    protocol: 'NVMe',
    rotational: false,
  })
  assert.equal(found.local_gb, 479)
  assert.deepEqual([found.serial, found.product, found.vendor], ['437XR1138R2', '3500', 'Contoso'])
  assert.deepEqual(found.boot, { current_boot_mode: 'uefi', secure_boot: true })
  assert.deepEqual(found.tpm, { version: '2.0', firmware: '3.1' })
  assert.deepEqual(found.firmware, [
    { name: 'BIOS', version: 'P79 v1.45' },
    { name: 'BMC', version: '1.45.455b66-rev4' },
    { name: 'Contoso NIC', version: '7.1' },
  ])
})

void test('network cards: no VLANs, no way to the BMC, no invalid addresses, no ports for what is off', async () => {
  const found = await reportOf({
    system: PLAIN,
    collections: {
      '/s/EthernetInterfaces': [
        { Id: 'vlan', MACAddress: '12:44:6A:3B:04:11', VLAN: { VLANEnable: true, VLANId: 101 } },
        { Id: 'nic1', MACAddress: '12-44-6A-3B-04-11', SpeedMbps: 1_000, LinkStatus: 'LinkUp' },
        { Id: 'ToManager', MACAddress: '12:44:6A:3B:04:99' },
        { Id: 'host', MACAddress: '12:44:6A:3B:04:98', Links: { HostInterface: link('/h') } },
        { Id: 'zero', MACAddress: '00:00:00:00:00:00', PermanentMACAddress: '12:44:6A:3B:04:12' },
        { Id: 'none', MACAddress: '' },
        { Id: 'group', MACAddress: 'ff:ff:ff:ff:ff:ff' },
        { Id: 'infiniband', MACAddress: '80:00:02:08:fe:80:00:00:00:00:00:00' },
        { Id: 'off', MACAddress: '12:44:6A:3B:04:13', Status: { State: 'Disabled' }, LinkStatus: 'LinkDown' },
        { Id: 'absent', MACAddress: '12:44:6A:3B:04:14', Status: { State: 'Absent' } },
      ],
    },
  })
  assert.deepEqual(found.interfaces, [
    { name: 'nic1', mac_address: '12:44:6a:3b:04:11', speed_mbps: 1_000, has_carrier: true },
    { name: 'zero', mac_address: '12:44:6a:3b:04:12' },
    { name: 'off', mac_address: '12:44:6a:3b:04:13', has_carrier: false },
  ])
  assert.deepEqual(found.ports, [{ address: '12:44:6a:3b:04:11' }, { address: '12:44:6a:3b:04:12' }])
  assert.deepEqual(found.notes, ['the BMC says nothing of cpus, cpu_arch, local_gb'])
})

void test('the service tag of a Dell is its SKU; memory is counted from its modules where there is no summary', async () => {
  const found = await reportOf({
    root: { Vendor: 'Dell' },
    system: { Manufacturer: 'Dell Inc.', SerialNumber: 'CNFCP0097500XX', SKU: '5XYZ123', Model: 'PowerEdge R750' },
    collections: {
      '/s/Memory': [{ CapacityMiB: 32_768 }, { CapacityMiB: '32768' }, { CapacityMiB: 9, Status: { State: 'Absent' } }],
    },
  })
  assert.deepEqual([found.vendor, found.serial, found.memory_mb], ['Dell', '5XYZ123', 65_536])
})

void test('an ARM machine, and a summary of processors where they aren’t listed', async () => {
  const arm = { ProcessorType: 'CPU', ProcessorArchitecture: 'ARM', InstructionSet: 'ARM-A64', TotalCores: 80 }
  const listed = await reportOf({ system: PLAIN, collections: { '/s/Processors': [arm] } })
  assert.deepEqual([listed.cpus, listed.cpu_arch], [80, 'aarch64'])
  const summary = { ...PLAIN, ProcessorSummary: { Count: 2, LogicalProcessorCount: 96, Model: 'EPYC' } }
  const { cpu } = await reportOf({ system: summary })
  assert.deepEqual(cpu, { count: 96, sockets: 2, model_name: 'EPYC' })
})

void test('a part that the BMC refuses is left out and said; the rest is found', async () => {
  const failures = { '/s/Processors': new BmcRefusal('It answers 500.', { status: 500, messageIds: [] }) }
  const garbage = new HardwareFailure('It answers with something that is not JSON.')
  const found = await reportOf({ system: PLAIN, failures: { ...failures, '/s/Storage': garbage } })
  assert.equal(found.memory_mb, 65_536)
  assert.match(found.notes.join(), /\/s\/Processors could not be read: It answers 500\./)
  assert.match(found.notes.join(), /\/s\/Storage could not be read/)
})

void test('a BMC that goes away is not asked for everything else', async () => {
  const away = new BmcAway('Nobody answers.')
  const once = await reportOf({ system: PLAIN, failures: { '/s/Storage': away } })
  assert.match(once.notes.join(), /\/s\/Storage could not be read/)
  const twice = { '/s/Processors': away, '/s/Storage': away, '/s/EthernetInterfaces': away }
  await assert.rejects(reportOf({ system: PLAIN, failures: twice }), BmcAway)
  const denied = new BmcRefusal('It refuses the login.', { status: 401, messageIds: [] })
  await assert.rejects(reportOf({ system: PLAIN, failures: { '/s/Storage': denied } }), BmcRefusal)
})

void test('a BMC that describes nothing fails the inspection', async () => {
  await assert.rejects(reportOf({ system: { Manufacturer: 'Contoso' } }), HardwareFailure)
})

void test('members of the wrong type are as good as missing', async () => {
  const system = { ...PLAIN, PCIeDevices: 'x', TrustedModules: {}, Boot: null, Links: 7, SKU: 9, ProcessorSummary: [] }
  const odd = [{ ProcessorType: 7, TotalThreads: {}, Links: [], Model: null, Status: 'fine' }]
  const found = await reportOf({ system, collections: Object.fromEntries(ALL.map(name => [`/s/${name}`, odd])) })
  assert.deepEqual([found.cpus, found.memory_mb, found.disks, found.interfaces], [undefined, 65_536, [], []])
})

void test('a machine with endless parts is read up to a limit', async () => {
  const many = Array.from({ length: limits.inspectionReadsMax + 10 }, (_, at) => link(`/p/${at}`))
  let reads = 0
  const bmc = bmcOf({ system: { ...PLAIN, PCIeDevices: many } })
  const counting: Bmc = { ...bmc, find: async path => (reads++, path?.startsWith('/p/') ? { path, body: {} } : null) }
  const { notes } = await inspect(counting)
  assert.ok(reads <= limits.inspectionReadsMax)
  assert.match(notes!.join(), /only the first/)
})

void test('a machine has the name of its maker, not of who made the firmware of its BMC', async () => {
  for (const firmware of ['AMI', 'American Megatrends International LLC', 'OpenBMC']) {
    const found = await reportOf({ root: { Vendor: firmware }, system: { ...PLAIN, Manufacturer: 'GIGABYTE' } })
    assert.equal(found.vendor, 'GIGABYTE')
  }
})
