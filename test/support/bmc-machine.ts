// A machine behind a test BMC: how its power moves, what it boots from, and how its settings come into force.
import type { Json } from '../../src/shared/json.ts'
import type { Resources } from './bmc-resources.ts'

export interface Boot {
  target: string
  /** In the first slot for CDs. */
  image: string | null
  httpBootUri: string | null
}

export class TestMachine {
  /** Its path; /redfish/v1/Systems/1. */
  readonly path: string
  /** Each time that it was switched on or restarted: what it booted from. */
  readonly boots: Boot[] = []
  /** ResetTypes in the order in which they came. */
  readonly resets: string[] = []
  /** How long the old PowerState is shown after a reset. */
  powerDelayMs = 0
  /** After it goes off it comes back on by itself, once. */
  bounces = false
  /** Graceful resets are heard by nobody: it has no operating system. */
  isDeaf = false
  /** A reset to the state that it has already is refused with 409. */
  isStrict = false
  /** What comes into force at the next boot. */
  readonly atBoot: (() => void)[] = []
  readonly #resources: Resources
  #timer: NodeJS.Timeout | null = null

  constructor(path: string, resources: Resources) {
    this.path = path
    this.#resources = resources
  }

  get system(): Json {
    return this.#resources.get(this.path)!
  }

  get power(): string {
    return this.system['PowerState'] as string
  }

  set power(state: 'On' | 'Off') {
    this.#settle()
    this.system['PowerState'] = state
  }

  get boot(): Json {
    return this.system['Boot'] as Json
  }

  /** The slot for CDs, on the system or on its manager. */
  get cd(): Json {
    const paths = [this.path, this.path.replace('/Systems/', '/Managers/')].map(path => `${path}/VirtualMedia/Cd`)
    return paths.map(path => this.#resources.get(path)).find(slot => slot)!
  }

  /** The path below this machine's system. */
  below(path: string): Json {
    return this.#resources.get(`${this.path}/${path}`)!
  }

  /** The status of the answer. */
  reset(type: string): number {
    if (this.isStrict && this.power === (type === 'On' ? 'On' : type.endsWith('Off') ? 'Off' : null)) return 409
    this.resets.push(type)
    if (type === 'Nmi' || (this.isDeaf && type.startsWith('Graceful'))) return 204
    if (type === 'On' && this.power === 'On') return 204
    if (type.endsWith('Restart') && this.power === 'Off') return 204
    const goesOff = type === 'ForceOff' || type === 'GracefulShutdown'
    this.#later(() => (goesOff ? this.#off() : this.#on()))
    return 204
  }

  stop(): void {
    this.#settle()
  }

  #later(act: () => void): void {
    this.#settle()
    if (this.powerDelayMs === 0) act()
    else this.#timer = setTimeout(act, this.powerDelayMs)
  }

  #settle(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  #off(): void {
    this.system['PowerState'] = 'Off'
    if (!this.bounces) return
    this.bounces = false
    this.#later(() => this.#on())
  }

  #on(): void {
    const { boot } = this
    const isOverridden = boot['BootSourceOverrideEnabled'] !== 'Disabled'
    this.boots.push({
      target: isOverridden ? (boot['BootSourceOverrideTarget'] as string) : 'Hdd',
      image: this.cd['Image'] as string | null,
      httpBootUri: boot['HttpBootUri'] as string | null,
    })
    if (boot['BootSourceOverrideEnabled'] === 'Once') {
      Object.assign(boot, { BootSourceOverrideEnabled: 'Disabled', BootSourceOverrideTarget: 'None' })
    }
    this.system['PowerState'] = 'On'
    this.system['BootProgress'] = { LastState: 'OSRunning' }
    const [bios, pending] = [this.below('Bios'), this.below('Bios/Settings')]
    Object.assign(bios['Attributes'] as Json, pending['Attributes'])
    pending['Attributes'] = {}
    for (const act of this.atBoot.splice(0)) act()
  }
}
