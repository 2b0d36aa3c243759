// What is read of a BMC and kept in memory together: so much, and no more.
import { limits } from '../../../shared/limits.ts'
import { HardwareFailure } from '../port.ts'
import type { Resource } from './bmc.ts'

export class Budget {
  readonly #what: string
  #left: number = limits.redfishCharsMax

  constructor(what: string) {
    this.#what = what
  }

  /** Throws when it is too much. */
  count<R extends Resource | null>(resource: R): R {
    this.#left -= resource?.chars ?? 0
    if (this.#left >= 0) return resource
    throw new TooMuch(`The BMC tells more than ${limits.redfishCharsMax} characters of ${this.#what}.`)
  }
}

export class TooMuch extends HardwareFailure {}
