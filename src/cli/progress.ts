// Waiting at a terminal: shows what a command waits for.
import { answered as answeredAt } from '../client/asking.ts'
import { type Look, seconds, waitFor as waitForAt, type WaitOptions } from '../client/waiting.ts'
import { visible } from './output.ts'
import { terminal } from './terminal.ts'
import { cutTo, widthOf } from './width.ts'

export const waitFor = <T>(look: (signal: AbortSignal) => Promise<Look<T>>, options: WaitOptions): Promise<T> =>
  waitForAt(look, { progress: new Progress(), ...options })

export const answered = <T>(request: Parameters<typeof answeredAt<T>>[0], options: WaitOptions): Promise<T> =>
  answeredAt(request, { progress: new Progress(), ...options })

/** On a terminal one line that changes, else a new line for each new topic. */
export class Progress {
  readonly #stderr = terminal().stderr
  #said = ''

  show(text: string, waitedMs: number, topic = text): void {
    const words = visible(text)
    if (this.#stderr.isTTY) {
      const time = ` (${seconds(waitedMs)})`
      const room = Math.max((this.#stderr.columns || 80) - 1 - time.length, 1)
      const line = widthOf(words) > room ? `${cutTo(words, room - 1)}…` : words
      this.#stderr.write(`\r\u001b[K${line}${time}`)
    } else if (topic !== this.#said) {
      this.#stderr.write(`${words}\n`)
    }
    this.#said = topic
  }

  clear(): void {
    if (this.#stderr.isTTY && this.#said !== '') this.#stderr.write('\r\u001b[K')
  }
}
