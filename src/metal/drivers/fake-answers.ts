// What fake-hardware answers. What was set is remembered in driver_internal_info, since there is no machine.
import { isObject } from '../../shared/is-object.ts'
import { HardwareFailure, type Json, type Machine } from './port.ts'
import type { Answer, AnswerTo, Question, QuestionName, QuestionOf, Reading } from './questions.ts'

const INDICATOR_STATES = ['ON', 'OFF', 'BLINKING']
const INDICATORS = {
  system: [{ name: 'led', readonly: false, states: INDICATOR_STATES }],
  chassis: [
    { name: 'led', readonly: false, states: INDICATOR_STATES },
    { name: 'alarm', readonly: true, states: ['ON', 'OFF'] },
  ],
}

const reading = (sensor: string, kind: Reading['kind'], value: number, unit: string): Reading => ({
  sensor,
  kind,
  value,
  unit,
  health: 'OK',
})

function sensorsOf({ powerState }: Machine): Reading[] {
  const isOn = powerState === 'power on'
  return [
    reading('Inlet Temp', 'Temperature', 21, 'Cel'),
    reading('CPU Temp', 'Temperature', isOn ? 54 : 22, 'Cel'),
    reading('Fan 1', 'Fan', isOn ? 4_200 : 0, 'RPM'),
    reading('System Power', 'Power', isOn ? 180 : 8, 'W'),
  ]
}

const EVENTS = [
  { at: '2020-01-01T00:00:00Z', text: 'Log area cleared', severity: 'OK' },
  { at: '2020-01-01T00:01:00Z', text: 'AC power restored', severity: 'OK' },
]

/** Upstream's fake hardware has these too, before anything was set. */
const BOOTS = { boot_device: 'pxe', persistent: false }

type Answers = { [Name in QuestionName]: (args: QuestionOf<Name>['args'], machine: Machine) => AnswerTo<Name> }

const ANSWERS: Omit<Answers, 'supported_boot_devices'> = {
  validate: () => ({ power: null, management: null }),
  power_state: (_, { powerState }) => ({ power_state: powerState ?? 'power off' }),
  boot_device: (_, { driverInternalInfo: kept }) => ({ ...BOOTS, ...(kept['boot_device'] as object | undefined) }),
  set_boot_device: args => ({ internal: { boot_device: args } }),
  boot_mode: (_, { driverInternalInfo: kept }) => ({
    boot_mode: textIn(kept['boot_mode']) ?? 'uefi',
    secure_boot: kept['secure_boot'] === true,
  }),
  set_boot_mode: args => ({ internal: { ...args } }),
  set_secure_boot: args => ({ internal: { ...args } }),
  sensors: (_, machine) => ({ sensors: sensorsOf(machine) }),
  indicators: () => ({ indicators: INDICATORS }),
  indicator: ({ component, name }, { driverInternalInfo: kept }) => {
    const { key } = indicatorOf(component, name)
    return { state: textIn(statesIn(kept)[key]) ?? 'OFF' }
  },
  set_indicator: ({ component, name, state }, { driverInternalInfo: kept }) => {
    const { key, readonly, states } = indicatorOf(component, name)
    if (readonly || !states.includes(state)) {
      throw new HardwareFailure(`indicator ${name} of component ${component} can not be ${state}`)
    }
    return { internal: { indicators: { ...statesIn(kept), [key]: state } } }
  },
  inject_nmi: () => ({}),
  events: () => ({ events: EVENTS }),
  console: (_, { interfaces }) => ({ console: interfaces.console === 'no-console' ? null : { kind: 'stream' } }),
  vendor: ({ method, data }, { interfaces }) => {
    if (interfaces.vendor === 'no-vendor') throw new HardwareFailure('the vendor interface is switched off')
    if (method !== 'echo') throw new HardwareFailure(`there is no method ${method}`)
    return { ...data }
  },
}

export function fakeAnswer(question: Question, machine: Machine, bootDevices: readonly string[]): Answer {
  if (question.name === 'supported_boot_devices') return { supported_boot_devices: bootDevices }
  const answer = ANSWERS[question.name] as (args: object, machine: Machine) => Answer
  return answer(question.args, machine)
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : null)
const statesIn = (kept: Json): Json => (isObject(kept['indicators']) ? kept['indicators'] : {})

function indicatorOf(component: string, name: string) {
  const known = Object.hasOwn(INDICATORS, component) ? INDICATORS[component as keyof typeof INDICATORS] : []
  const found = known.find(one => one.name === name)
  if (!found) throw new HardwareFailure(`there is no indicator ${name} of component ${component}`)
  return { ...found, key: `${component}/${name}` }
}
