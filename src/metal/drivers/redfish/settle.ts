// Waiting for what comes into force while the machine starts anew.
import { limits } from '../../../shared/limits.ts'
import { HardwareFailure } from '../port.ts'
import { BmcAway } from './bmc.ts'
import type { Pause } from './power.ts'

/** Waits until nothing is missing any more. Some BMCs are silent for a while as the machine starts. */
export async function until(missing: () => Promise<readonly string[]>, pause: Pause): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += limits.redfishSettlePollMs) {
    const left = await missing().catch(wordsOf)
    if (left.length === 0) return
    if (waitedMs >= limits.redfishSettleMs) {
      const minutes = limits.redfishSettleMs / 60_000
      throw new HardwareFailure(`The machine had ${minutes} minutes, and this is still not so: ${left.join(', ')}.`)
    }
    await pause(limits.redfishSettlePollMs)
  }
}

function wordsOf(error: unknown): string[] {
  if (error instanceof BmcAway) return [error.message]
  throw error
}
