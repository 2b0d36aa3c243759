// fake-hardware: a driver without machines. Steps are quick and succeed, unless driver_info says otherwise.
import { limits } from '../../shared/limits.ts'
import { STEPS, type StepName } from '../nodes/states.ts'
import type {
  Done,
  Driver,
  InterfaceName,
  Json,
  Machine,
  PowerState,
  SerialLine,
  Site,
  StepResult,
  Task,
  WantedStep,
} from './port.ts'
import { fakeParts, fakeStepProblem } from './fake-steps.ts'
import { inParts } from './parts.ts'
import { HardwareFailure } from './port.ts'
import { fakeInspection } from './fake-inventory.ts'
import { isObject } from '../../shared/is-object.ts'
import { numberIn } from '../../shared/scalar.ts'
import { FakeConsoles } from './fake-console.ts'
import { fakeAnswer } from './fake-answers.ts'
import type { Answer, Question } from './questions.ts'

const or = (none: string): [string, string] => ['fake', none]

export class FakeHardware implements Driver {
  readonly name: string = 'fake-hardware'
  readonly interfaces = {
    bios: or('no-bios'),
    boot: ['fake'],
    console: or('no-console'),
    deploy: ['fake'],
    inspect: or('no-inspect'),
    management: ['fake'],
    network: ['noop'],
    power: ['fake'],
    raid: or('no-raid'),
    rescue: or('no-rescue'),
    storage: ['noop', 'fake'],
    vendor: or('no-vendor'),
  } as const
  readonly properties = {
    fake_delay: 'Seconds that each step takes, or an object with the seconds by step or question. Optional.',
    fake_fail: 'The step or question that fails, or a list of them. Optional.',
    fake_wait: 'An object with the seconds that a step leaves the node in its waiting state. Optional.',
    fake_call_back: 'An object with the seconds in which the agent of a ramdisk must call, by step. Optional.',
    fake_step_delay: 'Seconds that each deploy step or clean step takes that was asked for. Optional.',
    fake_inventory: 'An object that inspection reports, in part or as a whole. Its interfaces become ports. Optional.',
  }
  readonly bootDevices = ['pxe', 'disk', 'cdrom', 'bios', 'safe', 'wanboot']
  readonly resumable = []
  readonly vendorMethods = { echo: { http: ['GET', 'POST'], description: 'Answers with what it was given.' } } as const
  readonly #consoles = new FakeConsoles()
  readonly #delayMs: number
  readonly #pause: (ms: number) => Promise<unknown>

  constructor({ delayMs, pause }: { delayMs: number; pause: (ms: number) => Promise<unknown> }) {
    this.#delayMs = delayMs
    this.#pause = pause
  }

  validate(name: InterfaceName, { driverInfo, interfaces }: Machine): string | null {
    const chosen = interfaces[name]
    if (chosen === `no-${name}`) return `The ${name} interface is switched off on this node.`
    if (name !== 'deploy') return null
    for (const key of ['fake_delay', 'fake_wait', 'fake_call_back'] as const) {
      const wrong = wrongSeconds(driverInfo[key])
      if (wrong) return `driver_info/${key}: ${wrong}`
    }
    return null
  }

  validateStep(_during: 'deploy' | 'clean', step: WantedStep, machine: Machine): string | null {
    return fakeStepProblem(step, machine)
  }

  async run({ step, args, resumed }: Task, machine: Machine, site: Site): Promise<StepResult> {
    if (step === 'rescue' || step === 'unrescue' || step === 'inspect') requireInterface(step, machine)
    const info = machine.driverInfo
    const delayMs = msFor(info['fake_delay'], step) ?? this.#delayMs
    if (delayMs > 0) await this.#pause(Math.min(delayMs, limits.fakeDelayMsMax))
    if ([info['fake_fail']].flat().includes(step)) {
      throw new HardwareFailure(`fake-hardware was told to fail at ${step}`)
    }
    const waitMs = resumed || !canWait(step) ? 0 : (msFor(info['fake_wait'], step) ?? 0)
    if (waitMs > 0) return { kind: 'waiting', ms: Math.min(waitMs, limits.fakeDelayMsMax) }
    const callMs = resumed || !canWait(step) ? null : msFor(info['fake_call_back'], step)
    if (callMs !== null) return { kind: 'waiting', ms: Math.min(callMs, limits.fakeDelayMsMax), callsBack: true }
    const result = step === 'deploy' || step === 'clean' ? await this.#runSteps(step, args, machine, site) : null
    const found = foundBy(step, machine)
    if (found.powerState !== undefined) this.#consoles.print(machine.uuid, `${step}: ${found.powerState}`)
    return { kind: 'done', found: { ...found, ...(result?.kind === 'done' && result.found) } }
  }

  /** The steps that were asked for; null if there are none. */
  async #runSteps(step: 'deploy' | 'clean', args: Json, machine: Machine, site: Site): Promise<StepResult | null> {
    const parts = fakeParts(step, args, machine)
    if (parts.length === 0) return null
    const delayMs = msFor(machine.driverInfo['fake_step_delay'], '') ?? 0
    const slowed = parts.map(({ run, ...part }) => ({
      ...part,
      run: async (isRepeated: boolean) => {
        if (delayMs > 0) await this.#pause(Math.min(delayMs, limits.fakeDelayMsMax))
        return run(isRepeated)
      },
    }))
    return inParts(slowed, site)
  }

  async openConsole(machine: Machine): Promise<SerialLine> {
    if ([machine.driverInfo['fake_fail']].flat().includes('console')) {
      throw new HardwareFailure('fake-hardware was told to fail at console')
    }
    return this.#consoles.open(machine)
  }

  async ask(question: Question, machine: Machine): Promise<Answer> {
    const { fake_delay: delay, fake_fail: fail } = machine.driverInfo
    // One number is for the steps.
    const delayMs = isObject(delay) ? (msFor(delay, question.name) ?? 0) : 0
    if (delayMs > 0) await this.#pause(Math.min(delayMs, limits.fakeDelayMsMax))
    if ([fail].flat().includes(question.name)) {
      throw new HardwareFailure(`fake-hardware was told to fail at ${question.name}`)
    }
    return fakeAnswer(question, machine, this.bootDevices)
  }
}

const canWait = (step: string) => Object.hasOwn(STEPS, step) && STEPS[step as StepName].waiting !== null

const POWER_AFTER: Partial<Record<Task['step'], PowerState>> = {
  deploy: 'power on',
  rescue: 'power on',
  unrescue: 'power on',
  tearDown: 'power off',
  clean: 'power off',
  'power on': 'power on',
  'power off': 'power off',
  'soft power off': 'power off',
  rebooting: 'power on',
  'soft rebooting': 'power on',
}

function foundBy(step: Task['step'], { powerState, driverInfo }: Machine): Done {
  if (step === 'inspect') return fakeInspection(driverInfo['fake_inventory'])
  // A machine that was never switched is off. Later its power state is what the node's row says.
  return { powerState: POWER_AFTER[step] ?? powerState ?? 'power off' }
}

function requireInterface(step: 'rescue' | 'unrescue' | 'inspect', { interfaces }: Machine): void {
  const name = step === 'inspect' ? 'inspect' : 'rescue'
  if (interfaces[name] === `no-${name}`) throw new HardwareFailure(`the ${name} interface is switched off`)
}

/**
 * The setting is a number of seconds for all steps, or an object with the seconds by step; text that reads as a number
 * counts as one. Null when it says nothing about this step.
 */
function msFor(setting: unknown, step: string): number | null {
  const seconds = numberIn(isObject(setting) ? setting[step] : setting)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : null
}

function wrongSeconds(setting: unknown): string | null {
  const values = isObject(setting) ? Object.values(setting) : setting === undefined ? [] : [setting]
  return values.every(value => Number(value) >= 0) ? null : 'expected a number of seconds, or an object of them'
}
