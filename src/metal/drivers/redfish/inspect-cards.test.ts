// Cards as BMCs describe them: which are GPUs, and which are the BMC's own screen.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CPU, link, PLAIN, reportOf } from '../../../../test/support/described-machine.ts'
import type { Json } from '../port.ts'

const gpu = (serial: string, more: Json = {}) => ({
  ProcessorType: 'GPU',
  Manufacturer: 'NVIDIA',
  Model: 'A100-SXM4-40GB',
  SerialNumber: serial,
  ...more,
})
const DISPLAY = { VendorId: '0x10DE', DeviceId: '0x20B0', DeviceClass: 'DisplayController', FunctionType: 'Physical' }

void test('GPUs that are processors and PCIe devices are counted once; the BMC’s own screen is none', async () => {
  const memory = [
    { MemoryType: 'HBM2', CapacityMiB: 40_960 },
    { MemoryType: 'L2Cache', CapacityMiB: 40 },
  ]
  const found = await reportOf({
    system: { ...PLAIN, PCIeDevices: [link('/p/1'), link('/p/2'), link('/p/3'), link('/p/4'), link('/p/1')] },
    resources: {
      '/p/1': { Name: 'GPU 1', Manufacturer: 'NVIDIA Corporation', PCIeFunctions: link('/p/1/f') },
      '/p/2': { Name: 'GPU 2', SerialNumber: 'S2', PCIeFunctions: link('/p/2/f') },
      '/p/3': { Name: 'Integrated Matrox G200eW3 Graphics Controller', PCIeFunctions: link('/p/3/f') },
      '/p/4': { Name: 'NIC', Links: { PCIeFunctions: [link('/p/4/f/0')] } },
      '/p/4/f/0': { VendorId: '0x15B3', DeviceId: '0x101D', DeviceClass: 'NetworkController' },
    },
    collections: {
      '/s/Processors': [CPU, gpu('S1', { ProcessorMemory: memory, Links: { PCIeDevice: link('/p/1') } }), gpu('S2')],
      '/p/1/f': [DISPLAY],
      '/p/2/f': [DISPLAY, { ...DISPLAY, FunctionType: 'Virtual' }],
      '/p/3/f': [{ VendorId: '0x102b', DeviceId: '0x0536', ClassCode: '0x030000' }],
    },
  })
  assert.deepEqual(found.gpus, [
    { vendor: 'NVIDIA', model: 'A100-SXM4-40GB', serial: 'S1', memory_mb: 40_960 },
    { vendor: 'NVIDIA', model: 'A100-SXM4-40GB', serial: 'S2' },
  ])
  assert.equal(found.gpu_count, 2)
  assert.deepEqual([found.cpus, found.pci_devices!.length], [32, 4])
  assert.deepEqual(found.pci_devices![3], {
    vendor_id: '15b3',
    product_id: '101d',
    class: 'NetworkController',
    name: 'NIC',
  })
})

void test('GPUs that are only graphics controllers, or only PCIe devices of a chassis', async () => {
  const controllers = ['2M220100SL', '2M220100SM'].map(SerialNumber => ({
    Model: 'GPU1',
    Manufacturer: 'Contoso',
    SerialNumber,
  }))
  const ofControllers = await reportOf({ system: PLAIN, collections: { '/s/GraphicsControllers': controllers } })
  assert.deepEqual(
    ofControllers.gpus!.map(({ model, serial }) => [model, serial]),
    [
      ['GPU1', '2M220100SL'],
      ['GPU1', '2M220100SM'],
    ],
  )
  const ofChassis = await reportOf({
    system: PLAIN,
    chassis: [{ PCIeDevices: link('/c/p') }, { PCIeDevices: link('/c/p') }],
    collections: {
      '/c/p': [
        { Id: '1', PCIeFunctions: link('/c/f') },
        { Id: '2', PCIeFunctions: link('/c/f') },
        { Id: '3', Model: 'Alveo U250', PCIeFunctions: link('/c/a') },
      ],
      '/c/f': [{ VendorId: '0x10de', DeviceId: '0x1eb8', ClassCode: '0x030200' }],
      '/c/a': [{ VendorId: '0x10ee', DeviceId: '0x5004', DeviceClass: 'ProcessingAccelerators' }],
    },
  })
  assert.deepEqual(ofChassis.gpus, [
    { vendor: 'NVIDIA', model: '10de 1eb8' },
    { vendor: 'NVIDIA', model: '10de 1eb8' },
  ])
  assert.deepEqual(ofChassis.accelerators, [{ vendor: 'Xilinx', model: 'Alveo U250', type: 'Accelerator' }])
})

void test('HPE writes ids in decimal, so its own screen is none, and an NVIDIA card is known by its maker', async () => {
  const found = await reportOf({
    root: { Vendor: 'HPE', Oem: { Hpe: {} } },
    system: PLAIN,
    chassis: [{ PCIeDevices: link('/c/p') }],
    collections: {
      '/c/p': [
        { Id: '1', Name: 'Embedded Video Controller', PCIeFunctions: link('/c/screen') },
        { Id: '2', PCIeFunctions: link('/c/card') },
        { Id: '3', Name: 'SAS', PCIeFunctions: link('/c/sas') },
      ],
      '/c/screen': [{ VendorId: '4139', DeviceId: '1336', ClassCode: '3', DeviceClass: 'DisplayController' }],
      '/c/card': [{ VendorId: '4318', DeviceId: '8368', ClassCode: '3' }],
      '/c/sas': [{ VendorId: '4215', DeviceId: '32880', ClassCode: '1' }],
    },
  })
  assert.deepEqual(found.gpus, [{ vendor: 'NVIDIA', model: '10de 20b0' }])
  assert.deepEqual(
    found.pci_devices!.map(({ vendor_id, product_id }) => `${vendor_id}:${product_id}`),
    ['102b:0538', '10de:20b0', '1077:8070'],
  )
})

void test('the same digits are hexadecimal where another maker writes them', async () => {
  const found = await reportOf({
    root: { Vendor: 'Contoso' },
    system: PLAIN,
    chassis: [{ PCIeDevices: link('/c/p') }],
    collections: {
      '/c/p': [{ Id: '1', Name: 'NIC', PCIeFunctions: link('/c/f') }],
      '/c/f': [{ VendorId: '8086', DeviceId: '1563', DeviceClass: 'NetworkController' }],
    },
  })
  assert.deepEqual([found.pci_devices![0]!.vendor_id, found.pci_devices![0]!.product_id], ['8086', '1563'])
})

void test('GPUs that HPE lists only in its own resources are found, each once', async () => {
  const card = (serial: string, more: Json = {}) => ({
    DeviceType: 'GPU',
    Manufacturer: 'NVIDIA',
    Name: 'NVIDIA A100 80GB',
    SerialNumber: serial,
    Location: 'PCI-E Slot 1',
    ...more,
  })
  const found = await reportOf({
    root: { Oem: { Hpe: {} } },
    system: PLAIN,
    chassis: [{ Oem: { Hpe: { Links: { Devices: link('/c/devices') } } } }, {}],
    collections: {
      '/c/devices': [
        card('S1'),
        card('S2'),
        card('S3', { Status: { State: 'Absent' } }),
        { DeviceType: 'LOM/NIC', Manufacturer: 'Marvell', Name: 'Adapter', SerialNumber: 'N1' },
      ],
      '/s/Processors': [gpu('S1')],
    },
  })
  assert.deepEqual(
    found.gpus!.map(({ model, serial }) => [model, serial]),
    [
      ['A100-SXM4-40GB', 'S1'],
      ['NVIDIA A100 80GB', 'S2'],
    ],
  )
})

void test('a card whose ids the BMC doesn’t know has none', async () => {
  const found = await reportOf({
    system: { ...PLAIN, PCIeDevices: [link('/p/1')] },
    resources: { '/p/1': { Model: 'H100 80GB HBM3', PCIeFunctions: link('/p/1/f') } },
    collections: { '/p/1/f': [{ VendorId: '0x0000', DeviceId: '0x0000', DeviceClass: 'DisplayController' }] },
  })
  assert.deepEqual(found.gpus, [{ model: 'H100 80GB HBM3' }])
  assert.deepEqual(found.pci_devices ?? [], [])
})
