// What the redfish driver reads and changes besides power and boot: sensors, lights, the event log, firmware settings, RAID.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Machine } from '../../src/metal/drivers/port.ts'
import type { Bmc } from '../../src/metal/drivers/redfish/bmc.ts'
import { applyBios, biosShown, resetBios } from '../../src/metal/drivers/redfish/bios.ts'
import { readConsole } from '../../src/metal/drivers/redfish/console.ts'
import { readEvents } from '../../src/metal/drivers/redfish/events.ts'
import { listIndicators, readIndicator, switchIndicator } from '../../src/metal/drivers/redfish/indicators.ts'
import { Bmcs } from '../../src/metal/drivers/redfish/pool.ts'
import { createRaid, deleteRaid } from '../../src/metal/drivers/redfish/raid.ts'
import { readSensors } from '../../src/metal/drivers/redfish/sensors.ts'
import type { Json } from '../../src/shared/json.ts'
import { type BmcOptions, startBmc } from '../support/bmc.ts'

async function machineWith(t: TestContext, options: BmcOptions = {}) {
  const test = await startBmc(options)
  const bmcs = new Bmcs({ pauseMs: 5, taskPollMs: 5, taskMs: 2_000 })
  t.after(async () => {
    await bmcs.stop()
    await test.stop()
  })
  const bmc = bmcs.of({ uuid: 'U', driverInfo: test.driverInfo() }, AbortSignal.timeout(20_000))
  return { test, bmc, machine: test.machine }
}

test('sensors are read from Thermal and Power', async t => {
  const { bmc, test } = await machineWith(t)
  const temperatures = test.resource('Chassis/1/Thermal')['Temperatures'] as Json[]
  temperatures.push({ Name: 'CPU1 Temp', ReadingCelsius: 43 }, { Name: 'CPU2 Temp', Status: { State: 'Absent' } })
  assert.deepEqual(await readSensors(bmc), [
    { sensor: 'CPU1 Temp', kind: 'Temperature', value: 42, unit: 'Cel', health: 'OK' },
    { sensor: 'CPU1 Temp 2', kind: 'Temperature', value: 43, unit: 'Cel', health: null },
    { sensor: 'Fan 1', kind: 'Fan', value: 5400, unit: 'RPM', health: 'OK' },
    { sensor: 'System Power', kind: 'Power', value: 210, unit: 'W', health: null },
    { sensor: 'PSU 1', kind: 'Power', value: 215, unit: 'W', health: 'OK' },
    { sensor: '12V', kind: 'Voltage', value: 12.1, unit: 'V', health: 'OK' },
  ])
})

test('where Thermal and Power are gone, sensors are read one by one', async t => {
  const { bmc, test } = await machineWith(t)
  for (const key of ['Thermal', 'Power']) delete test.resource('Chassis/1')[key]
  const read = await readSensors(bmc)
  assert.deepEqual(
    read.map(({ sensor, kind, value, unit }) => [sensor, kind, value, unit]),
    [
      ['CPU1 Temp', 'Temperature', 42, 'Cel'],
      ['Fan 1', 'Fan', 5400, 'RPM'],
      ['System Power', 'Power', 210, 'W'],
    ],
  )
})

test('where there are no single sensors either, fans and power supplies are', async t => {
  const { bmc, test } = await machineWith(t)
  for (const key of ['Thermal', 'Power', 'Sensors']) delete test.resource('Chassis/1')[key]
  const read = await readSensors(bmc)
  assert.deepEqual(
    read.map(({ sensor, value, health }) => [sensor, value, health]),
    [
      ['Fan 1', 5400, 'OK'],
      ['PSU 1', null, 'OK'],
    ],
  )
})

test('a machine without sensors has none', async t => {
  const { bmc, test } = await machineWith(t)
  test.resource('Chassis/1')['Thermal'] = null
  for (const key of ['Power', 'Sensors', 'ThermalSubsystem', 'PowerSubsystem']) delete test.resource('Chassis/1')[key]
  assert.deepEqual(await readSensors(bmc), [])
})

test('the lights of system, chassis and disks are listed, read and switched', async t => {
  const { bmc, test, machine } = await machineWith(t, { machines: [{ disksBytes: [1e12] }] })
  const { indicators } = await listIndicators(bmc)
  const states = ['ON', 'OFF', 'BLINKING']
  assert.deepEqual(indicators, {
    system: [{ name: '1', readonly: false, states }],
    chassis: [{ name: '1', readonly: false, states }],
    disk: [{ name: 'RAID1:1', readonly: false, states }],
  })
  for (const [component, name] of [
    ['system', '1'],
    ['disk', 'RAID1:1'],
  ] as const) {
    assert.deepEqual(await readIndicator(bmc, { component, name }), { state: 'OFF' })
    await switchIndicator(bmc, { component, name, state: 'BLINKING' })
    assert.deepEqual(await readIndicator(bmc, { component, name }), { state: 'BLINKING' })
  }
  assert.equal(machine.system['IndicatorLED'], 'Blinking')
  assert.equal(test.resource('Systems/1/Storage/RAID1/Drives/1')['IndicatorLED'], 'Blinking')
})

test('a light that only says where the machine is does not blink', async t => {
  const { bmc, test } = await machineWith(t)
  const chassis = test.resource('Chassis/1')
  delete chassis['IndicatorLED']
  await switchIndicator(bmc, { component: 'chassis', name: '1', state: 'ON' })
  assert.equal(chassis['LocationIndicatorActive'], true)
  assert.deepEqual(await readIndicator(bmc, { component: 'chassis', name: '1' }), { state: 'ON' })
  const blinking = { component: 'chassis', name: '1', state: 'BLINKING' }
  await assert.rejects(switchIndicator(bmc, blinking), /can not be BLINKING/)
})

test('a light that is not there is said', async t => {
  const { bmc } = await machineWith(t)
  await assert.rejects(readIndicator(bmc, { component: 'nic', name: '1' }), /no indicator 1 of component nic/)
  await assert.rejects(readIndicator(bmc, { component: 'disk', name: '9' }), /no indicator 9 of component disk/)
})

test('the event log is read, oldest first', async t => {
  const { bmc, test } = await machineWith(t)
  const entries = test.resource('Systems/1/LogServices/SEL/Entries')['Members'] as Json[]
  entries.push({ '@odata.id': '/x', Created: '2025-12-31T00:00:00Z', Severity: 'OK', Message: 'Log cleared' })
  assert.deepEqual(await readEvents(bmc), [
    { at: '2025-12-31T00:00:00Z', text: 'Log cleared', severity: 'OK' },
    { at: '2026-01-02T03:04:05Z', text: 'Power supply 1 lost its input', severity: 'Critical' },
  ])
})

test('the console is the page of the BMC, where it has one', async t => {
  const { bmc, test } = await machineWith(t)
  const visit = (console: string) => ({
    bmc,
    signal: t.signal,
    pause: async () => {},
    machine: { driverInfo: test.driverInfo(), interfaces: { console } } as unknown as Machine,
  })
  assert.deepEqual(await readConsole(visit('redfish-graphical')), {
    console: { kind: 'link', url: `${test.address}/` },
  })
  assert.deepEqual(await readConsole(visit('no-console')), { console: null })
  for (const name of ['GraphicalConsole', 'SerialConsole']) delete test.resource('Managers/1')[name]
  assert.deepEqual(await readConsole(visit('redfish-graphical')), { console: null })
})

const readBios = async (bmc: Bmc) => (await biosShown({ bmc, machine: { interfaces: {} } as Machine })).bios ?? []
const pause = async () => {}
/** No machine needs so many pauses. */
const patience = (max: number) => {
  let count = 0
  return async () => {
    if (++count > max) throw new Error('it waits in vain')
  }
}

test('settings of the firmware are read with what the registry says of them', async t => {
  const { bmc } = await machineWith(t)
  const settings = await readBios(bmc)
  const [mode] = settings
  assert.deepEqual(mode, {
    name: 'BootMode',
    value: 'Uefi',
    attribute_type: 'Enumeration',
    allowable_values: ['Uefi', 'Bios'],
    lower_bound: null,
    upper_bound: null,
    min_length: null,
    max_length: null,
    read_only: false,
    reset_required: true,
    unique: null,
  })
  assert.deepEqual(
    settings.map(({ value }) => value),
    ['Uefi', 'Enabled', 'true', '10', ''],
  )
})

test('settings without a registry are read all the same', async t => {
  const { bmc, test } = await machineWith(t)
  test.resources.delete('/redfish/v1/Registries/BiosAttributeRegistry.v1_0_0.json')
  assert.deepEqual((await readBios(bmc))[0], { name: 'BootMode', value: 'Uefi' })
})

test('a machine that shows no settings has none', async t => {
  const { bmc, machine } = await machineWith(t)
  delete machine.system['Bios']
  assert.deepEqual(await readBios(bmc), [])
})

test('a change of settings waits for a restart, and comes into force with it', async t => {
  const { bmc, machine } = await machineWith(t, { etags: 'strict' })
  const settings = [
    { name: 'BootMode', value: 'Bios' },
    { name: 'FanOffset', value: '25' },
    { name: 'NumLock', value: 'false' },
  ]
  const done = await applyBios({ bmc, pause }, { settings })
  assert.deepEqual(machine.below('Bios')['Attributes'], {
    BootMode: 'Bios',
    ProcVirtualization: 'Enabled',
    NumLock: false,
    FanOffset: 25,
    AssetTag: '',
  })
  assert.equal(done.powerState, 'power on')
  assert.equal(done.bios?.find(({ name }) => name === 'FanOffset')?.value, '25')
  assert.equal(machine.boots.length, 1)
})

test('a task that ends only after the restart is not awaited before it', async t => {
  const { bmc, machine } = await machineWith(t, { taskPolls: 1_000_000 })
  const settings = [{ name: 'BootMode', value: 'Bios' }]
  await assert.rejects(
    applyBios({ bmc, pause: patience(0) }, { settings }),
    // The restart itself is a task that never ends here.
    /did not finish POST .*Reset in/,
  )
  assert.deepEqual(machine.resets, ['On'])
})

test('settings that are in force already need no restart', async t => {
  const { bmc, machine } = await machineWith(t)
  await applyBios({ bmc, pause }, { settings: [{ name: 'BootMode', value: 'Uefi' }] })
  assert.deepEqual([machine.boots, machine.resets], [[], []])
})

test('whoever repeats a change that waits already does not write it again', async t => {
  const { bmc, machine, test } = await machineWith(t)
  machine.below('Bios/Settings')['Attributes'] = { BootMode: 'Bios' }
  await applyBios({ bmc, pause }, { settings: [{ name: 'BootMode', value: 'Bios' }] })
  assert.equal(test.seen('PATCH').length, 0)
  assert.equal((machine.below('Bios')['Attributes'] as Json)['BootMode'], 'Bios')
})

test('settings that are unknown, or refused, or never come into force are said', async t => {
  const { bmc, test, machine } = await machineWith(t)
  const apply = (settings: unknown) => applyBios({ bmc, pause }, { settings })
  await assert.rejects(apply([{ name: 'Nothing', value: 1 }]), /no setting Nothing/)
  await assert.rejects(apply(undefined), /needs settings/)
  test.fail({ kind: 'status', status: 400, method: 'PATCH', body: 'BootMode can only be Uefi', times: 1 })
  await assert.rejects(apply([{ name: 'BootMode', value: 'Bios' }]), /BootMode can only be Uefi/)
  assert.deepEqual(machine.resets, [])
  test.fail({ kind: 'status', status: 204, method: 'PATCH', body: '' })
  await assert.rejects(apply([{ name: 'BootMode', value: 'Bios' }]), /15 minutes, and this is still not so: BootMode/)
})

test('the firmware is reset to what the factory set', async t => {
  const { bmc, machine } = await machineWith(t)
  Object.assign(machine.below('Bios')['Attributes'] as Json, { BootMode: 'Bios' })
  const done = await resetBios({ bmc, pause: patience(3) })
  assert.equal(done.bios?.find(({ name }) => name === 'BootMode')?.value, 'Uefi')
})

const ROOT = { size_gb: 100, raid_level: '1', is_root_volume: true, volume_name: 'root' }
const DATA = { size_gb: 'MAX', raid_level: '0' }

test('volumes are made from target_raid_config, and deleted', async t => {
  const { bmc, test } = await machineWith(t)
  const machine = { targetRaidConfig: { logical_disks: [DATA, ROOT] } }
  const done = await createRaid({ bmc, pause: patience(0), machine }, {})
  assert.deepEqual(done.raidConfig, {
    logical_disks: [
      { controller: 'RAID1', id: '1', volume_name: 'root', raid_level: '1', size_gb: 100, is_root_volume: true },
      { controller: 'RAID1', id: '2', volume_name: 'Volume 2', raid_level: '0', size_gb: 960 },
    ],
  })
  const drives = (id: number) =>
    ((test.resource(`Systems/1/Storage/RAID1/Volumes/${id}`)['Links'] as Json)['Drives'] as Json[]).map(drive =>
      String(drive['@odata.id']).at(-1),
    )
  assert.deepEqual(
    [drives(1), drives(2)],
    [
      ['1', '2'],
      ['3', '4'],
    ],
  )
  await assert.rejects(createRaid({ bmc, pause, machine }, {}), /no free disks for a volume RAID1 of 100 GiB/)
  await createRaid({ bmc, pause: patience(0), machine }, { delete_existing: true, create_nonroot_volumes: false })
  const gone = await deleteRaid({ bmc, pause: patience(0) })
  assert.deepEqual(gone, { raidConfig: { logical_disks: [] } })
})

test('a controller that makes volumes at the next start gets one', async t => {
  const { bmc, test, machine } = await machineWith(t)
  const support = { SupportedValues: ['OnReset'] }
  test.resource('Systems/1/Storage/RAID1/Volumes')['@Redfish.OperationApplyTimeSupport'] = support
  const target = { targetRaidConfig: { logical_disks: [ROOT] } }
  const done = await createRaid({ bmc, pause: patience(3), machine: target }, {})
  assert.equal(done.powerState, 'power on')
  assert.equal(machine.boots.length, 1)
  assert.equal((done.raidConfig!['logical_disks'] as Json[]).length, 1)
})

test('volumes without a plan, or that a controller refuses, are said', async t => {
  const { bmc, test } = await machineWith(t)
  const create = (logical_disks: Json[]) =>
    createRaid({ bmc, pause, machine: { targetRaidConfig: { logical_disks } } }, {})
  await assert.rejects(create([]), /no target_raid_config/)
  await assert.rejects(create([{ size_gb: 1, raid_level: '7' }]), /raid_level "7"/)
  test.fail({ kind: 'status', status: 400, method: 'POST', path: /Volumes/, body: 'The controller is in HBA mode' })
  await assert.rejects(create([ROOT]), /HBA mode/)
})
