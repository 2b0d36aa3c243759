// Shows the progress of an import: a bar on a terminal, else one line for each phase.
import { styleText } from 'node:util'
import { visible } from '../output.ts'
import { terminal } from '../terminal.ts'

const BAR_CELLS = 24

export class Progress {
  readonly #stderr = terminal().stderr
  readonly #total: number
  #done = 0
  #words = ''

  constructor(total: number) {
    this.#total = total
  }

  /** Names the present phase. */
  says(words: string): void {
    const isNews = words !== this.#words
    this.#words = words
    if (this.#stderr.isTTY) this.#draw()
    else if (isNews) this.#stderr.write(`${visible(words)}\n`)
  }

  /** A detail of the phase, shown only on a terminal. */
  shows(words: string): void {
    if (this.#stderr.isTTY) this.says(words)
  }

  advance(): void {
    this.#done++
    if (this.#stderr.isTTY) this.#draw()
  }

  clear(): void {
    if (this.#stderr.isTTY) this.#stderr.write('\r\u001b[K')
  }

  #draw(): void {
    const part = this.#total === 0 ? 1 : Math.min(this.#done / this.#total, 1)
    const full = Math.floor(part * BAR_CELLS)
    const bar = styleText('green', '█'.repeat(full), { stream: this.#stderr }) + '░'.repeat(BAR_CELLS - full)
    const percent = `${Math.floor(part * 100)} %`.padStart(5)
    const room = (this.#stderr.columns || 80) - BAR_CELLS - percent.length - 4
    this.#stderr.write(`\r\u001b[K${bar} ${percent}  ${visible(this.#words).slice(0, Math.max(room, 0))}`)
  }
}
