// The steps of fake-hardware that clients can ask for: any on an interface that is switched on. Those of BIOS and RAID do
// what upstream's do, to a machine that isn't there.
import { isObject } from '../../shared/is-object.ts'
import { inOrder } from '../nodes/steps.ts'
import type { PlannedPart } from './parts.ts'
import type { BiosSetting, Done, Json, Machine, WantedStep } from './port.ts'

export function fakeStepProblem(step: WantedStep, { interfaces }: Machine): string | null {
  if (interfaces[step.interface] === `no-${step.interface}`) return `The ${step.interface} interface is switched off.`
  if (step.interface === 'bios' && step.step === 'apply_configuration' && settingsIn(step.args) === null) {
    return 'Its args need settings, a list of objects with name and value.'
  }
  return null
}

function settingsIn({ settings }: Json): { name: string; value: string }[] | null {
  if (!Array.isArray(settings)) return null
  const read = settings.map((given: unknown) => {
    const { name, value } = isObject(given) ? given : {}
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    return typeof name === 'string' && name !== '' && isPlain ? { name, value: String(value) } : null
  })
  return read.every(setting => setting !== null) ? read : null
}

/** The deployment itself, among the steps that were asked for. */
const CORE: WantedStep = { interface: 'deploy', step: 'deploy', args: {}, priority: 100 }

const stepsIn = (list: unknown): WantedStep[] => (Array.isArray(list) ? (list as WantedStep[]) : [])

/** The parts of a deployment or a cleaning with steps; none if nobody asked for a step. */
export function fakeParts(step: 'deploy' | 'clean', args: Json, machine: Machine): PlannedPart[] {
  const wanted = stepsIn(args[`${step}_steps`])
  if (wanted.length === 0) return []
  const steps = step === 'deploy' && !wanted.some(isCore) ? inOrder([...wanted, CORE]) : wanted
  const state = new FakeSettings(machine)
  return steps.map(one => ({ ...one, run: async () => state.after(one) }))
}

const isCore = ({ interface: name, step }: WantedStep) => name === CORE.interface && step === CORE.step

/** What the steps before have set. */
class FakeSettings {
  #bios: Record<string, string>
  readonly #wantedDisks: unknown

  constructor({ driverInternalInfo, targetRaidConfig }: Machine) {
    const kept = driverInternalInfo['fake_bios']
    this.#bios = isObject(kept) ? (kept as Record<string, string>) : {}
    this.#wantedDisks = targetRaidConfig['logical_disks'] ?? []
  }

  after({ interface: name, step, args }: WantedStep): Done {
    if (name === 'bios' && step === 'apply_configuration') {
      return this.#withBios({
        ...this.#bios,
        ...Object.fromEntries(settingsIn(args)!.map(setting => [setting.name, setting.value])),
      })
    }
    if (name === 'bios' && step === 'factory_reset') return this.#withBios({})
    if (name === 'raid' && step === 'create_configuration') return withDisks(this.#wantedDisks)
    if (name === 'raid' && step === 'apply_configuration') {
      const { raid_config: wanted } = args
      return withDisks(isObject(wanted) ? (wanted['logical_disks'] ?? []) : [])
    }
    if (name === 'raid' && step === 'delete_configuration') return withDisks([])
    return {}
  }

  #withBios(settings: Record<string, string>): Done {
    this.#bios = settings
    const bios = Object.entries(settings).map(([name, value]): BiosSetting => ({ name, value }))
    return { bios, internal: { fake_bios: settings } }
  }
}

const withDisks = (disks: unknown): Done => ({ raidConfig: { logical_disks: disks } })
