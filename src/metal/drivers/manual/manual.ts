// manual: machines without a BMC that are simply there, with an operating system. They are always on. What is done to
// them when they change hands is what the operator's hooks do.
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { jsonText } from '../../../shared/json.ts'
import {
  type Done,
  type Driver,
  HardwareFailure,
  type Holder,
  type InterfaceName,
  type Machine,
  type PowerState,
  type Site,
  type StepResult,
  type Task,
  type WantedStep,
  unsupported,
} from '../port.ts'
import type { Answer, Question } from '../questions.ts'
import { makeCall, type Sign } from './call.ts'
import { type Hook, type HookName, hooksFor, type HookSet, type HookSets } from './hooks.ts'
import { letterFor, type Names } from './letter.ts'
import { fileOf, runProgram } from './program.ts'
import { pauseMs, type Ran, type Verdict, verdictOn } from './verdict.ts'

export interface ManualOptions {
  hooks: HookSets
  sign: Sign
  /** What the holder is called. */
  namesOf: (holder: Holder) => Promise<Names>
}

/** The hooks that are asked when a machine changes hands, by step. */
const HOOK_OF = { deploy: 'hand_over', tearDown: 'return', clean: 'clean' } as const
const isHooked = (step: Task['step']): step is keyof typeof HOOK_OF => Object.hasOwn(HOOK_OF, step)

const none = (name: string): readonly [string] => [`no-${name}`]
const NONE = new Set<InterfaceName>(['bios', 'console', 'inspect', 'raid', 'rescue', 'vendor'])

/** The word that the power hook gets for a target, and the state after it. */
const POWER: Readonly<Record<string, { word: string; after: PowerState }>> = {
  'power on': { word: 'on', after: 'power on' },
  'power off': { word: 'off', after: 'power off' },
  'soft power off': { word: 'soft-off', after: 'power off' },
  rebooting: { word: 'reboot', after: 'power on' },
  'soft rebooting': { word: 'soft-reboot', after: 'power on' },
}

const ON: Done = { powerState: 'power on' }
const done = (found: Done): StepResult => ({ kind: 'done', found })

export class Manual implements Driver {
  readonly name: string = 'manual'
  readonly interfaces = {
    bios: none('bios'),
    boot: ['noop'],
    console: none('console'),
    deploy: ['manual'],
    inspect: none('inspect'),
    management: ['noop'],
    network: ['noop'],
    power: ['manual'],
    raid: none('raid'),
    rescue: none('rescue'),
    storage: ['noop'],
    vendor: none('vendor'),
  } as const
  readonly properties = {
    address: 'The host name or IP address by which hooks reach the machine; else they get its name. Optional.',
    hooks: 'The name of a set of hooks in the configuration; else the set called default. Optional.',
  }
  readonly bootDevices = []
  /** Hooks may be run twice, so another conductor runs the one again in which the first has died. */
  readonly resumable = ['deploy', 'clean'] as const
  readonly #options: ManualOptions
  /** The hooks under way. */
  readonly #running = new Set<Promise<Ran>>()

  constructor(options: ManualOptions) {
    this.#options = options
  }

  handsOver({ driverInfo }: Machine): boolean {
    const hooks = hooksFor({ driverInfo }, this.#options.hooks)
    // A name that is wrong is told when the hook is asked.
    return typeof hooks === 'string' || Object.values(HOOK_OF).some(name => hooks[name] !== undefined)
  }

  validate(name: InterfaceName, machine: Machine): string | null {
    if (NONE.has(name)) return unsupported(this.name, name)
    const hooks = hooksFor(machine, this.#options.hooks)
    return (name === 'deploy' || name === 'power') && typeof hooks === 'string' ? hooks : null
  }

  /** The clean hook is told of the steps, and knows what they mean. */
  validateStep(during: 'deploy' | 'clean', _: WantedStep, machine: Machine): string | null {
    const hooks = hooksFor(machine, this.#options.hooks)
    if (typeof hooks === 'string') return hooks
    if (during === 'clean' && hooks.clean !== undefined) return null
    return 'Driver manual has steps only in a cleaning, and only with a clean hook.'
  }

  async run(task: Task, machine: Machine, site: Site): Promise<StepResult> {
    const { step } = task
    const hooks = this.#hooksOf(machine)
    if (Object.hasOwn(POWER, step)) return done(await this.#switched(task, machine, hooks, site))
    if (isHooked(step)) return this.#changeHands(HOOK_OF[step], task, machine, hooks, site)
    if (step !== 'verify' && step !== 'adopt') throw new HardwareFailure(unsupported(this.name, step))
    return done({ powerState: await this.#powerOf(machine, hooks, site.signal) })
  }

  async readPower(machine: Machine, signal: AbortSignal): Promise<PowerState> {
    return this.#powerOf(machine, this.#hooksOf(machine), signal)
  }

  async ask(question: Question, machine: Machine, signal: AbortSignal): Promise<Answer> {
    switch (question.name) {
      case 'validate':
        return this.#validated(machine, signal)
      case 'power_state':
        return { power_state: await this.readPower(machine, signal) }
      case 'supported_boot_devices':
        return { supported_boot_devices: [] }
      case 'console':
        return { console: null }
      default:
        throw new HardwareFailure(`Driver manual can't do this: the machine has no BMC to ask (${question.name}).`)
    }
  }

  /** Waits until the hooks are ended, which were told to: whoever takes over must not meet them. */
  async stop(): Promise<void> {
    await Promise.allSettled(this.#running)
  }

  #hooksOf(machine: Machine): HookSet {
    const hooks = hooksFor(machine, this.#options.hooks)
    if (typeof hooks === 'string') throw new HardwareFailure(`${hooks}.`)
    return hooks
  }

  /** Asks the hook, unless there is none, and says so in the node's history. */
  async #changeHands(name: HookName, task: Task, machine: Machine, hooks: HookSet, site: Site): Promise<StepResult> {
    const hook = hooks[name]
    // Whoever can switch it may have done so.
    const found = hooks.power === undefined ? ON : {}
    if (hook === undefined) return done(found)
    // The parts of the step are the times that the hook is asked.
    const asked = site.part + 1
    await site.begin(asked, { interface: 'deploy', step: name, args: { asked } })
    const { verdict, output } = await this.#asked({ name, hook, task, asked, signal: site.signal }, machine)
    const note = (event: string, severity: 'info' | 'error') => site.note({ event, severity, output })
    if (verdict.kind === 'failed') {
      await note(`Hook ${name} ${verdict.why}`, 'error')
      throw new HardwareFailure(`Hook ${name} ${verdict.why}`)
    }
    const said = verdict.said === '' ? '' : `: ${verdict.said}`
    if (verdict.kind === 'done') {
      await note(`Hook ${name} is done${said}`, 'info')
      return done(found)
    }
    const ms = pauseMs(asked, verdict.retryAfterMs)
    if (ms !== null) {
      await note(`Hook ${name} asks for more time${said}`, 'info')
      return { kind: 'waiting', ms }
    }
    await note(`Hook ${name} was asked ${asked} times and is not done`, 'error')
    throw new HardwareFailure(`Hook ${name} was asked ${asked} times, and still asks for more time${said}`)
  }

  async #switched(task: Task, machine: Machine, hooks: HookSet, site: Site): Promise<Done> {
    const { word, after } = POWER[task.step]!
    if (hooks.power !== undefined) {
      await this.#powerHook(word, task, machine, hooks.power, site.signal)
      await site.note({ event: `Hook power did ${word}` })
      return { powerState: after }
    }
    if (word === 'on') return ON
    throw new HardwareFailure(
      "The machine has no BMC, and the configuration no hook for power: it can't be switched from here.",
    )
  }

  async #powerOf(machine: Machine, { power }: HookSet, signal: AbortSignal): Promise<PowerState> {
    if (power === undefined) return 'power on'
    const task = { attempt: `${machine.uuid}.state`, args: {}, holder: null }
    const said = await this.#powerHook('state', task, machine, power, signal)
    if (said === 'on') return 'power on'
    if (said === 'off') return 'power off'
    throw new HardwareFailure(`Hook power was asked for the state, and said neither on nor off but '${said}'`)
  }

  /** Returns its last line. */
  async #powerHook(
    word: string,
    task: Pick<Task, 'attempt' | 'args' | 'holder'>,
    machine: Machine,
    hook: Hook,
    signal: AbortSignal,
  ): Promise<string> {
    const { verdict } = await this.#asked({ name: 'power', hook, task, asked: 1, signal, power: word }, machine)
    if (verdict.kind === 'failed') throw new HardwareFailure(`Hook power (${word}) ${verdict.why}`)
    if (verdict.kind === 'later') throw new HardwareFailure(`Hook power (${word}) asks to try again: ${verdict.said}`)
    return verdict.said
  }

  async #asked(asking: Asking, machine: Machine): Promise<{ verdict: Verdict; output: string }> {
    const { name, hook, task, asked, power, signal } = asking
    const names = task.holder ? await this.#options.namesOf(task.holder) : { user: null, project: null }
    const letter = { hook: name, task, asked, names, ...(power !== undefined && { power }) }
    const body = jsonText(letterFor(letter, machine))
    const words = power === undefined ? [] : [power]
    const running =
      'url' in hook
        ? makeCall({ call: hook, id: task.attempt, body, sign: this.#options.sign, signal })
        : runProgram({ program: hook, words, input: body, signal })
    this.#running.add(running)
    const ran = await running.finally(() => this.#running.delete(running))
    // Then the hook was ended by us, and says nothing of the machine.
    signal.throwIfAborted()
    return { verdict: verdictOn(ran), output: ran.output }
  }

  async #validated(machine: Machine, signal: AbortSignal): Promise<Partial<Record<InterfaceName, string | null>>> {
    const hooks = hooksFor(machine, this.#options.hooks)
    if (typeof hooks === 'string') return { deploy: hooks, power: hooks }
    const wrong = await Promise.all(Object.values(HOOK_OF).map(name => wrongWith(name, hooks[name])))
    const power = this.#powerOf(machine, hooks, signal).then(
      () => null,
      (error: Error) => error.message,
    )
    return { deploy: wrong.find(reason => reason !== null) ?? null, power: await power }
  }
}

interface Asking {
  name: HookName
  hook: Hook
  task: Pick<Task, 'attempt' | 'args' | 'holder'>
  asked: number
  power?: string
  signal: AbortSignal
}

/** Looks whether the program is there. A call isn't made for that. */
async function wrongWith(name: HookName, hook: Hook | undefined): Promise<string | null> {
  if (hook === undefined || 'url' in hook || !hook.command[0]!.includes('/')) return null
  const file = fileOf(hook)
  try {
    await access(file, constants.X_OK)
    return null
  } catch {
    return `Hook ${name}: ${file} is not there, or may not be executed`
  }
}
