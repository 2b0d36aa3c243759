// A stream of the status: everything first, or what changed since a cursor; then each change.
import { limits } from '../../shared/limits.ts'
import type { Pulse } from '../../status/pulse.ts'
import { comment, LastingStream, RETRY } from './lasting.ts'
import type { StatusFollowing } from './status-following.ts'

interface StatusStreamOptions {
  pulse: Pulse
  following: StatusFollowing
  /** The place in the log up to which the board is true already. */
  sequence: number
  /** Asked now and then: why the stream must end, or null when it may go on. */
  recheck: () => Promise<string | null>
  failed: (error: unknown) => void
}

export class StatusStream extends LastingStream {
  readonly #options: StatusStreamOptions

  constructor(options: StatusStreamOptions) {
    super({ beatMs: limits.statusBeatMs, beatsWaitedMax: limits.statusBeatsWaitedMax, failed: options.failed })
    this.#options = options
    this.once('close', options.pulse.follow(options.sequence))
  }

  protected async *frames(): AsyncGenerator<string | Buffer, void, void> {
    const { pulse, following, sequence, recheck } = this.#options
    let beats = 0
    for (let isFirst = true; ; isFirst = false) {
      const { round } = pulse
      const pieces = await following.next(isFirst ? sequence : pulse.sequence)
      if (pieces) {
        yield `${isFirst ? RETRY : ''}id: ${following.cursor}\ndata: `
        yield* pieces
        yield '\n\n'
      }
      if (this.farewell !== null) return yield comment(this.farewell, RETRY)
      if (pulse.isFailing) return yield comment('the board can not be read now; come back', RETRY)
      if (this.takeBeat()) {
        const isCheck = ++beats % limits.statusBeatsPerCheck === 0
        const reason = isCheck ? await recheck() : null
        if (reason !== null) return yield comment(reason)
        yield comment('still here', `id: ${following.cursor}\n`)
        // Last: with other rights there is no cursor until everything was told again.
        if (isCheck) following.renewRights()
      } else await this.rest(signal => pulse.after(round, signal))
    }
  }
}
