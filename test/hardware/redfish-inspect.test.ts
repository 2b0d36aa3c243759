// Inspection over the wire: what a BMC describes, and BMCs that fail in the middle.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { BmcAway } from '../../src/metal/drivers/redfish/bmc.ts'
import { inspect } from '../../src/metal/drivers/redfish/inspect.ts'
import { Bmcs } from '../../src/metal/drivers/redfish/pool.ts'
import type { Report } from '../../src/metal/drivers/report.ts'
import { type BmcOptions, startBmc } from '../support/bmc.ts'

const GPU = { manufacturer: 'NVIDIA', model: 'A100-PCIE-40GB', vendorId: '0x10de', deviceId: '0x20f1' }

async function bmcWith(t: TestContext, options: BmcOptions = {}) {
  const test = await startBmc(options)
  const bmcs = new Bmcs({ pauseMs: 5, taskPollMs: 5 })
  t.after(async () => {
    await bmcs.stop()
    await test.stop()
  })
  return { test, bmc: bmcs.of({ uuid: 'U', driverInfo: test.driverInfo() }, AbortSignal.timeout(60_000)) }
}

test('a machine is described whole, and nothing in it is changed', async t => {
  const { test, bmc } = await bmcWith(t, { machines: [{ cpus: 32, memoryGib: 256, gpus: [GPU, GPU] }] })
  const { inventory, ports, bootMode, notes } = await inspect(bmc)
  const found = inventory as Report
  assert.deepEqual([found.cpus, found.cpu_arch, found.memory_mb, found.local_gb], [32, 'x86_64', 262_144, 479])
  assert.deepEqual(
    found.gpus!.map(({ vendor, model }) => [vendor, model]),
    [
      ['NVIDIA', 'A100-PCIE-40GB'],
      ['NVIDIA', 'A100-PCIE-40GB'],
    ],
  )
  assert.equal(found.pci_devices!.length, 3)
  assert.deepEqual([ports!.length, bootMode, notes], [2, 'uefi', []])
  assert.deepEqual([found.vendor, found.product, found.serial], ['Holdfast', 'Test 1', 'SN000000000001'])
  assert.deepEqual(new Set(test.requests.map(({ method }) => method)), new Set(['GET', 'POST']))
  assert.equal(test.seen('POST').length, test.seen('POST', '/Sessions').length)
})

test('a BMC that forgets the session, is busy for a moment or drops a connection is asked again', async t => {
  const { test, bmc } = await bmcWith(t)
  await bmc.system()
  test.forgetSessions()
  test.fail({ kind: 'busy', path: /Processors$/, times: 1, retryAfter: 0 })
  test.fail({ kind: 'drop', path: /EthernetInterfaces$/, times: 1 })
  const { inventory, notes } = await inspect(bmc)
  assert.deepEqual([inventory!['cpus'], notes], [16, []])
})

test('a part that can’t be read is left out and said', async t => {
  const { test, bmc } = await bmcWith(t)
  test.fail({ kind: 'garbage', path: /Storage$/ })
  test.fail({ kind: 'status', status: 500, path: /FirmwareInventory$/ })
  const { inventory, notes } = await inspect(bmc)
  assert.deepEqual([inventory!['cpus'], inventory!['local_gb']], [16, undefined])
  assert.match(notes!.join('\n'), /Storage could not be read/)
  assert.match(notes!.join('\n'), /FirmwareInventory could not be read/)
})

test('a BMC that goes away in the middle fails the inspection', async t => {
  const { test, bmc } = await bmcWith(t)
  await bmc.system()
  test.fail({ kind: 'drop', path: /Storage|Processors|EthernetInterfaces|PCIe/ })
  await assert.rejects(inspect(bmc), BmcAway)
})
