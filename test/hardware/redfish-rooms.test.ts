// What the redfish driver reads and changes besides power and boot: sensors, lights, the event log, firmware settings, RAID.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { readEvents } from '../../src/metal/drivers/redfish/events.ts'
import { listIndicators, readIndicator, switchIndicator } from '../../src/metal/drivers/redfish/indicators.ts'
import { Bmcs } from '../../src/metal/drivers/redfish/pool.ts'
import { readSensors } from '../../src/metal/drivers/redfish/sensors.ts'
import type { Json } from '../../src/shared/json.ts'
import { type BmcOptions, startBmc } from '../support/bmc.ts'

async function machineWith(t: TestContext, options: BmcOptions = {}) {
  const test = await startBmc(options)
  const bmcs = new Bmcs({ pauseMs: 5, taskPollMs: 5 })
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
