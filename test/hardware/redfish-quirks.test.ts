// What BMCs of different makers want for boot devices and virtual media, on BMCs of ours that behave so.
import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { resetBoot, setBootDevice } from '../../src/metal/drivers/redfish/boot.ts'
import { ejectAll, insertMedium } from '../../src/metal/drivers/redfish/media.ts'
import { Bmcs } from '../../src/metal/drivers/redfish/pool.ts'
import { switchPower } from '../../src/metal/drivers/redfish/power.ts'
import type { Json } from '../../src/shared/json.ts'
import { type BmcOptions, startBmc } from '../support/bmc.ts'

const bmcs = new Bmcs({})
after(() => bmcs.stop())
const signal = new AbortController().signal
const noPause = async () => {}

async function bmcFor(t: TestContext, options: BmcOptions = {}) {
  const test = await startBmc(options)
  t.after(() => test.stop())
  const bmc = bmcs.of({ uuid: 'c0ffee00-0000-4000-8000-000000000001', driverInfo: test.driverInfo() }, signal)
  return { test, bmc, boots: () => test.seen('PATCH').map(({ path, body }) => [path, body!['Boot']] as const) }
}

const ISO = { url: 'http://images.example/boot.iso', called: 'the boot ISO', types: ['CD', 'DVD'] }
const cdrom = { device: 'cdrom', persistent: true } as const

void test('a boot device is set once, and what is unchanged is left out', async t => {
  const { bmc, boots, test } = await bmcFor(t)
  test.machine.boot['BootSourceOverrideEnabled'] = 'Continuous'
  assert.deepEqual(await setBootDevice(bmc, cdrom), { persistent: true })
  assert.deepEqual(await setBootDevice(bmc, cdrom), { persistent: true })
  assert.deepEqual(boots(), [[test.machine.path, { BootSourceOverrideTarget: 'Cd' }]])
})

void test('Supermicro boots virtual media from UsbCd, and wants the mode with it', async t => {
  const { bmc, boots, test } = await bmcFor(t)
  Object.assign(test.machine.system, { Manufacturer: 'Supermicro' })
  Object.assign(test.machine.boot, {
    'BootSourceOverrideTarget@Redfish.AllowableValues': ['Pxe', 'Cd', 'UsbCd', 'Hdd'],
    BootSourceOverrideMode: 'UEFI',
  })
  await setBootDevice(bmc, cdrom)
  const wanted = {
    BootSourceOverrideTarget: 'UsbCd',
    BootSourceOverrideEnabled: 'Continuous',
    BootSourceOverrideMode: 'UEFI',
  }
  assert.deepEqual(boots()[0]![1], wanted)
})

void test('ASRock and AMI get target, mode and time in one', async t => {
  for (const Manufacturer of ['ASRockRack', 'American Megatrends']) {
    const { bmc, boots, test } = await bmcFor(t)
    test.machine.system['Manufacturer'] = Manufacturer
    Object.assign(test.machine.boot, { BootSourceOverrideMode: 'UEFI', BootSourceOverrideEnabled: 'Continuous' })
    await setBootDevice(bmc, cdrom)
    assert.deepEqual(Object.keys(boots()[0]![1] as Json).sort(), [
      'BootSourceOverrideEnabled',
      'BootSourceOverrideMode',
      'BootSourceOverrideTarget',
    ])
  }
})

void test('what the settings object has is sent there', async t => {
  const { bmc, boots, test } = await bmcFor(t)
  const path = `${test.machine.path}/Settings`
  test.resources.set(path, { '@odata.id': path, Boot: { BootSourceOverrideTarget: 'None' } })
  test.machine.system['@Redfish.Settings'] = { SettingsObject: { '@odata.id': path } }
  test.machine.boot['BootSourceOverrideEnabled'] = 'Disabled'
  await setBootDevice(bmc, cdrom)
  assert.deepEqual(boots(), [
    [path, { BootSourceOverrideTarget: 'Cd' }],
    [test.machine.path, { BootSourceOverrideEnabled: 'Continuous' }],
  ])
})

void test('a BMC that refuses a device for good gets it for one boot, and says so', async t => {
  const { bmc, test } = await bmcFor(t)
  test.machine.boot['BootSourceOverrideEnabled@Redfish.AllowableValues'] = ['Once', 'Disabled']
  assert.deepEqual(await setBootDevice(bmc, cdrom), { persistent: false })
  assert.equal(test.machine.boot['BootSourceOverrideEnabled'], 'Once')
})

void test('a device that the BMC does not have is refused with what it has', async t => {
  const { bmc, test } = await bmcFor(t)
  test.machine.boot['BootSourceOverrideTarget@Redfish.AllowableValues'] = ['None', 'Pxe']
  await assert.rejects(setBootDevice(bmc, cdrom), /can't boot from cdrom. It offers None, Pxe/)
  await resetBoot(bmc)
  assert.equal(test.machine.boot['BootSourceOverrideEnabled'], 'Disabled')
})

for (const mediaOn of ['System', 'Manager'] as const) {
  void test(`a medium in a slot of the ${mediaOn.toLowerCase()} is inserted once, and ejected`, async t => {
    const { bmc, test } = await bmcFor(t, { mediaOn })
    await insertMedium(bmc, ISO, noPause)
    await insertMedium(bmc, ISO, noPause)
    assert.deepEqual([test.machine.cd['Image'], test.machine.cd['Inserted']], [ISO.url, true])
    assert.equal(test.seen('POST', 'InsertMedia').length, 1)
    await ejectAll(bmc, noPause)
    await ejectAll(bmc, noPause)
    assert.equal(test.machine.cd['Inserted'], false)
    assert.equal(test.seen('POST', 'EjectMedia').length, 1)
  })
}

void test('what a BMC misses in the order is added, as its error names it', async t => {
  const { bmc, test } = await bmcFor(t)
  for (const missing of ['TransferProtocolType', 'TransferMethod', 'UserName']) {
    const error = { error: { message: `The property ${missing} is required.` } }
    test.fail({ kind: 'status', status: 400, body: error, path: /InsertMedia$/, times: 1 })
  }
  await insertMedium(bmc, ISO, noPause)
  assert.deepEqual(test.seen('POST', 'InsertMedia').at(-1)!.body, {
    Image: ISO.url,
    TransferProtocolType: 'HTTP',
    TransferMethod: 'Stream',
    UserName: 'none',
    Password: 'none',
  })
})

void test('a slot that refuses is passed over for the next', async t => {
  for (const status of [400, 405]) {
    const { bmc, test } = await bmcFor(t)
    test.resource('Systems/1/VirtualMedia/Usb')['MediaTypes'] = ['DVD']
    test.fail({ kind: 'status', status, body: 'no', path: /Cd\/Actions\/VirtualMedia.InsertMedia$/ })
    await insertMedium(bmc, ISO, noPause)
    assert.equal(test.resource('Systems/1/VirtualMedia/Usb')['Image'], ISO.url)
  }
})

void test('the refusals of all slots are told, without the address of the medium', async t => {
  const { bmc, test } = await bmcFor(t)
  const error = { error: { message: `can't read ${ISO.url}` } }
  test.fail({ kind: 'status', status: 400, body: error, path: /InsertMedia$/ })
  await assert.rejects(insertMedium(bmc, ISO, noPause), /does not take the boot ISO. Cd: .*can't read the boot ISO/)
})

void test('a slot without actions is changed by PATCH', async t => {
  const { bmc, test } = await bmcFor(t)
  for (const key of ['Actions', 'ConnectedVia']) delete test.machine.cd[key]
  await insertMedium(bmc, ISO, noPause)
  assert.deepEqual(test.seen('PATCH')[0]!.body, { Image: ISO.url, Inserted: true, WriteProtected: true })
  await ejectAll(bmc, noPause)
  assert.equal(test.machine.cd['Inserted'], false)
})

void test('a BMC that wants a body to eject gets an empty one', async t => {
  for (const status of [400, 415]) {
    const { bmc, test } = await bmcFor(t)
    await insertMedium(bmc, ISO, noPause)
    test.fail({ kind: 'status', status, body: 'no', path: /EjectMedia$/, times: 1 })
    await ejectAll(bmc, noPause)
    assert.deepEqual(
      test.seen('POST', 'EjectMedia').map(({ body }) => body),
      [null, {}],
    )
  }
})

void test('a slot that says no types is taken by its name, and an image called None is none', async t => {
  const { bmc, test } = await bmcFor(t)
  for (const slot of ['Cd', 'Usb']) delete test.resource(`Systems/1/VirtualMedia/${slot}`)['MediaTypes']
  for (const key of ['Inserted', 'ConnectedVia']) delete test.machine.cd[key]
  test.machine.cd['Image'] = 'None'
  await insertMedium(bmc, ISO, noPause)
  assert.equal(test.machine.cd['Image'], ISO.url)
})

void test('the name of a medium that is gone is not believed', async t => {
  const { bmc, test } = await bmcFor(t)
  Object.assign(test.machine.cd, { Image: ISO.url, ImageName: 'boot.iso', ConnectedVia: 'NotConnected' })
  await insertMedium(bmc, ISO, noPause)
  assert.equal(test.seen('POST', 'InsertMedia').length, 1)
})

void test('a BMC that is busy with its media is asked again', async t => {
  const { bmc, test } = await bmcFor(t)
  test.fail({ kind: 'status', status: 500, body: 'later', path: /InsertMedia$/, times: 2 })
  await insertMedium(bmc, ISO, noPause)
  assert.equal(test.machine.cd['Inserted'], true)
})

void test('without a slot, or with one that is taken, the error says what is missing', async t => {
  const { bmc, test } = await bmcFor(t)
  Object.assign(test.machine.cd, { Image: 'http://other/', Inserted: true, ConnectedVia: 'URI' })
  await assert.rejects(insertMedium(bmc, ISO, noPause), /no free slot for the boot ISO: other media are in Cd/)
  test.machine.cd['MediaTypes'] = ['Floppy']
  await assert.rejects(insertMedium(bmc, ISO, noPause), /needs virtual media of type CD or DVD/)
})

void test('a machine that boots over HTTP gets the URL and the target in one', async t => {
  const { bmc, boots, test } = await bmcFor(t)
  const order = { device: 'uefihttp', persistent: true, uri: ISO.url } as const
  const listed = test.machine.boot['BootSourceOverrideTarget@Redfish.AllowableValues'] as string[]
  if (!listed.includes('UefiHttp')) listed.push('UefiHttp')
  await setBootDevice(bmc, order)
  await setBootDevice(bmc, order)
  assert.equal(boots().length, 1)
  assert.deepEqual(boots()[0]![1], {
    BootSourceOverrideTarget: 'UefiHttp',
    BootSourceOverrideEnabled: 'Continuous',
    HttpBootUri: ISO.url,
  })
})

void test('nothing is changed without the lock: neither at first nor when a busy BMC is asked again', async t => {
  const { test } = await bmcFor(t)
  test.fail({ kind: 'busy', retryAfter: 0, method: 'POST', path: /Reset$/, times: 1 })
  let asked = 0
  const requireLock = async () => {
    if (++asked > 1) throw new Error('the lock is lost')
  }
  const uuid = 'c0ffee00-0000-4000-8000-000000000001'
  const bmc = bmcs.of({ uuid, driverInfo: test.driverInfo() }, signal, { requireLock })
  await assert.rejects(switchPower(bmc, { target: 'power on' }, noPause), /the lock is lost/)
  assert.deepEqual([test.machine.resets, test.seen('POST', 'Reset').length], [[], 1])
})

void test('whoever has patience does not fail with the login of one who has less', async t => {
  const { test } = await bmcFor(t)
  test.fail({ kind: 'busy', retryAfter: 0, method: 'POST', path: /Sessions$/, times: 4 })
  const machine = { uuid: 'c0ffee00-0000-4000-8000-000000000001', driverInfo: test.driverInfo() }
  const [hasty, patient] = await Promise.allSettled([
    bmcs.of(machine, signal, { tries: 2 }).system(),
    bmcs.of(machine, signal).system(),
  ])
  assert.deepEqual([hasty.status, patient.status], ['rejected', 'fulfilled'])
})
