// ipmitool: one command at a time for each BMC, with a pause after it, and a limited number of processes for all.
import { BoundedMap } from '../../../shared/bounded-map.ts'
import { Gate } from '../../../shared/gate.ts'
import { limits } from '../../../shared/limits.ts'
import { HardwareFailure } from '../port.ts'
import { runChild } from './child.ts'
import type { IpmiSettings } from './settings.ts'
import { type Failure, failureOf } from './words.ts'

export interface ToolOptions {
  /** The program: its path, or null where there is none. */
  file: string | null
  /** The path of programs, for what ipmitool itself needs. */
  path: string
  pauseMs: number
  pause: (ms: number, signal?: AbortSignal) => Promise<unknown>
}

/** Tried in this order when none is set: SHA-256 of today's BMCs, then SHA-1 of all others. */
const SUITES = [17, 3]
const BMCS_MAX = limits.ipmiKnownMax

interface Bmc {
  gate: Gate
  /** How many use it or wait for it: it is not forgotten meanwhile. */
  users: number
  /** When the pause after the last command is over. */
  rested: Promise<unknown>
}

export class Ipmitool {
  readonly #options: ToolOptions
  readonly #places = new Gate({ places: limits.ipmiProcessesMax, waitingMax: limits.ipmiWaitingMax, refusal: crowded })
  readonly #bmcs = new Map<string, Bmc>()
  /** The cipher suite that worked. */
  readonly #suites = new BoundedMap<string, number>(BMCS_MAX)

  constructor(options: ToolOptions) {
    this.#options = options
  }

  get lacks(): string | null {
    return this.#options.file === null ? MISSING : null
  }

  get #file(): string {
    if (this.#options.file === null) throw new HardwareFailure(MISSING)
    return this.#options.file
  }

  /** What ipmitool prints. Throws a HardwareFailure that says what is wrong. */
  async run(settings: IpmiSettings, words: readonly string[], signal: AbortSignal, ms?: number): Promise<string> {
    for (let tries = 1; ; tries++) {
      const result = await this.#turn(settings, () => this.#withSuite(settings, words, signal, ms))
      if (typeof result === 'string') return result
      const isWorthIt = result.kind === 'busy' && tries < limits.ipmiBusyTries
      if (!isWorthIt) throw new HardwareFailure(result.message)
      await this.#options.pause(limits.ipmiBusyPauseMs, signal)
    }
  }

  /** What a long command needs, such as a console. The suite is known once a command has worked. */
  command(settings: IpmiSettings, words: readonly string[]): { file: string; args: string[]; env: Env } {
    const suite = settings.protocol === '1.5' ? null : (this.#suitesFor(settings)[0] ?? null)
    return { file: this.#file, args: argumentsFor(settings, suite, words), env: this.#environment(settings) }
  }

  async #turn<T>(settings: IpmiSettings, work: () => Promise<T>): Promise<T> {
    const key = keyOf(settings)
    const bmc = this.#bmcs.getOrInsertComputed(key, () => ({
      gate: new Gate({ places: 1, waitingMax: limits.ipmiWaitingMax, refusal: crowded }),
      users: 0,
      rested: Promise.resolve(),
    }))
    bmc.users++
    try {
      return await bmc.gate.pass(async () => {
        await bmc.rested
        try {
          // The place is for the process alone: who waits for a slow BMC keeps nobody from another one.
          return await this.#places.pass(work)
        } finally {
          bmc.rested = this.#options.pause(this.#options.pauseMs)
        }
      })
    } finally {
      bmc.users--
      void this.#forget(key, bmc)
    }
  }

  async #forget(key: string, bmc: Bmc): Promise<void> {
    await bmc.rested
    if (bmc.users === 0 && this.#bmcs.get(key) === bmc) this.#bmcs.delete(key)
  }

  #suitesFor(settings: IpmiSettings): readonly number[] {
    if (settings.cipherSuite !== null) return [settings.cipherSuite]
    const known = this.#suites.get(keyOf(settings))
    return known === undefined ? SUITES : [known, ...SUITES.filter(suite => suite !== known)]
  }

  async #withSuite(
    settings: IpmiSettings,
    words: readonly string[],
    signal: AbortSignal,
    ms: number = limits.ipmiCommandMs,
  ): Promise<string | Failure> {
    const suites = settings.protocol === '1.5' ? [null] : this.#suitesFor(settings)
    let failure: Failure | null = null
    for (const suite of suites) {
      const args = argumentsFor(settings, suite, words)
      const run = await runChild({ file: this.#file, args, env: this.#environment(settings), ms, signal })
      failure = failureOf(run, { ...settings, suite })
      if (failure === null) {
        if (suite !== null) this.#suites.set(keyOf(settings), suite)
        return run.stdout
      }
      if (failure.kind !== 'suite') break
    }
    return failure!
  }

  /** Secrets go here: everyone on this machine may read a command line. */
  #environment({ password, kgKey }: IpmiSettings): Env {
    const key: Env = kgKey === null ? {} : { IPMI_KGKEY: kgKey }
    return { PATH: this.#options.path, LANG: 'C', HOME: '/nonexistent', IPMI_PASSWORD: password, ...key }
  }
}

type Env = Record<string, string>

const MISSING = 'ipmitool is not installed here (Debian, Ubuntu: apt install ipmitool).'

const crowded = () => new HardwareFailure('Too many commands wait for BMCs; try again later.')

const keyOf = ({ address, port }: IpmiSettings) => `${address} ${port}`

function argumentsFor(settings: IpmiSettings, suite: number | null, words: readonly string[]): string[] {
  const { address, port, username, privilege, protocol, kgKey, bridge } = settings
  const { ipmiRepeats, ipmiAnswerSeconds } = limits
  const plane = protocol === '1.5' ? 'lan' : 'lanplus'
  return `-I ${plane} -p ${port} -L ${privilege} -E -R ${ipmiRepeats} -N ${ipmiAnswerSeconds}`
    .split(' ')
    .concat('-H', address)
    .concat(username === '' ? [] : ['-U', username])
    .concat(kgKey === null ? [] : '-K')
    .concat(suite === null ? [] : ['-C', String(suite)])
    .concat(bridge, words)
}
