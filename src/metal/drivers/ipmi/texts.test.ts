import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bootDeviceIn, eventsIn, powerIn, readingsIn } from './texts.ts'

test('power is on, off, or not said', () => {
  assert.equal(powerIn('Chassis Power is on\n'), 'power on')
  assert.equal(powerIn('Chassis Power is off\n'), 'power off')
  assert.equal(powerIn('Chassis Power is unknown\n'), null)
})

test('the boot device, and for how long it is set', () => {
  const text = (selector: string, span: string) => `Boot parameter data: 0004000000
 Boot Flags :
   - Boot Flag Invalid
   - Options apply to ${span}
   - BIOS EFI boot 
   - Boot Device Selector : ${selector}
   - BIOS verbosity : System Default
`
  const read = (selector: string, span = 'only next boot') => bootDeviceIn(text(selector, span))
  assert.deepEqual(read('Force PXE', 'all future boots'), { boot_device: 'pxe', persistent: true })
  assert.deepEqual(read('Force Boot from default Hard-Drive'), { boot_device: 'disk', persistent: false })
  assert.equal(read('Force Boot from default Hard-Drive, request Safe-Mode').boot_device, 'safe')
  assert.equal(read('Force Boot from CD/DVD').boot_device, 'cdrom')
  assert.equal(read('Force Boot into BIOS Setup').boot_device, 'bios')
  assert.equal(read('No override').boot_device, null)
  assert.equal(bootDeviceIn('').boot_device, null)
})

test('sensors with their kind, value and health; one without a value has none', () => {
  const text = `Temp CPU,35,degrees C,ok
Fan 1,4200,RPM,nc
12V,12.06,Volts,cr
PSU,96,Watts,ok
Ambient,,,ns
Usage,3,percent,ok

junk`
  assert.deepEqual(
    readingsIn(text).map(({ sensor, kind, value, unit, health }) => [sensor, kind, value, unit, health]),
    [
      ['Temp CPU', 'Temperature', 35, 'Cel', 'OK'],
      ['Fan 1', 'Fan', 4_200, 'RPM', 'Warning'],
      ['12V', 'Voltage', 12.06, 'V', 'Critical'],
      ['PSU', 'Power', 96, 'W', 'OK'],
      ['Ambient', 'Other', null, null, null],
      ['Usage', 'Other', 3, 'percent', 'OK'],
    ],
  )
})

test('events with their time, unless the clock of the BMC was never set', () => {
  const text = `   1 |  Pre-Init  |0000059882| Temperature #0x01 | Upper Non-critical going high | Asserted
   a | 11/16/2026 | 14:05:09 | Power Supply PSU1 | Failure detected | Asserted
   b | 11/16/26 | 14:05:10 UTC | Event Logging Disabled SEL | Log area reset/cleared | Asserted
SEL has no entries
`
  assert.deepEqual(eventsIn(text), [
    { at: null, text: 'Temperature #0x01, Upper Non-critical going high, Asserted', severity: 'Warning' },
    { at: '2026-11-16T14:05:09Z', text: 'Power Supply PSU1, Failure detected, Asserted', severity: 'Critical' },
    {
      at: '2026-11-16T14:05:10Z',
      text: 'Event Logging Disabled SEL, Log area reset/cleared, Asserted',
      severity: null,
    },
  ])
})
