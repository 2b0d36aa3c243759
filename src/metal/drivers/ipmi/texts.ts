// What ipmitool prints, as values.
import { limits } from '../../../shared/limits.ts'
import type { PowerState } from '../port.ts'
import type { AnswerTo, Reading } from '../questions.ts'

export function powerIn(text: string): PowerState | null {
  const [, word] = /Chassis Power is (on|off)/i.exec(text) ?? []
  return word === undefined ? null : word.toLowerCase() === 'on' ? 'power on' : 'power off'
}

/** By what ipmitool calls the boot device selector. */
const DEVICES: Readonly<Record<string, string>> = {
  'Force PXE': 'pxe',
  'Force Boot from default Hard-Drive': 'disk',
  'Force Boot from default Hard-Drive, request Safe-Mode': 'safe',
  'Force Boot from CD/DVD': 'cdrom',
  'Force Boot into BIOS Setup': 'bios',
}

/** From `chassis bootparam get 5`. */
export function bootDeviceIn(text: string): AnswerTo<'boot_device'> {
  const [, selector = ''] = /Boot Device Selector : (.+)/.exec(text) ?? []
  return {
    boot_device: DEVICES[selector.trim()] ?? null,
    persistent: text.includes('Options apply to all future boots'),
  }
}

/** By the unit that ipmitool prints: the kind of sensor, and the unit's short name. */
const UNITS: Readonly<Record<string, [kind: Reading['kind'], unit: string]>> = {
  'degrees C': ['Temperature', 'Cel'],
  'degrees F': ['Temperature', '[degF]'],
  RPM: ['Fan', 'RPM'],
  Watts: ['Power', 'W'],
  Volts: ['Voltage', 'V'],
  Amps: ['Current', 'A'],
}
const HEALTH: Readonly<Record<string, string>> = { ok: 'OK', nc: 'Warning', cr: 'Critical', nr: 'Critical' }

/** From `-c sdr list full`: name, value, unit and status in each line. */
export function readingsIn(text: string): Reading[] {
  return text.split('\n').flatMap(line => {
    const [sensor, value = '', unit = '', status = ''] = line.trim().split(',')
    if (!sensor || line.split(',').length < 4) return []
    const number = value.trim() === '' ? NaN : Number(value)
    const [kind, short] = UNITS[unit] ?? ['Other', unit]
    return {
      sensor,
      kind,
      value: Number.isFinite(number) ? number : null,
      unit: short === '' ? null : short,
      health: HEALTH[status] ?? null,
    }
  })
}

type Events = AnswerTo<'events'>['events']

/** From `sel elist`: number, date, time, sensor, event and direction, with bars between them. Newest last. */
export function eventsIn(text: string): Events {
  const events = text.split('\n').flatMap(line => {
    const [number = '', date = '', time = '', ...rest] = line.split('|').map(word => word.trim())
    if (!/^[0-9a-f]+$/i.test(number) || rest.length === 0) return []
    return { at: instantIn(date, time), text: rest.join(', '), severity: severityIn(rest.join(' ')) }
  })
  return events.slice(-limits.ipmiEventsMax)
}

/** The clock of a BMC; one that was never set counts from its start ("Pre-Init"). It is taken for UTC, as it should be. */
function instantIn(date: string, time: string): string | null {
  const [, month, day, year] = /^(\d\d)\/(\d\d)\/(\d{2,4})$/.exec(date) ?? []
  const [, clock] = /^(\d\d:\d\d:\d\d)/.exec(time) ?? []
  if (year === undefined || clock === undefined) return null
  return `${year.padStart(4, '20')}-${month}-${day}T${clock}Z`
}

function severityIn(text: string): string | null {
  if (/non-recoverable|\bcritical|failure/i.test(text) && !/non-critical/i.test(text)) return 'Critical'
  return /non-critical|warning|degraded/i.test(text) ? 'Warning' : null
}
