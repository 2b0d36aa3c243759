// How far a long piece of work is: a bar at a terminal, a line for each part of it elsewhere.
import { styleText } from 'node:util'
import { visible } from '../output.ts'

const BAR_CELLS = 24

export class Progress {
  readonly #total: number
  #done = 0
  #words = ''

  constructor(total: number) {
    this.#total = total
  }

  /** What is being done now. */
  says(words: string): void {
    const isNews = words !== this.#words
    this.#words = words
    if (process.stderr.isTTY) this.#draw()
    else if (isNews) process.stderr.write(`${visible(words)}\n`)
  }

  /** The same in other words, for those who look. */
  shows(words: string): void {
    if (process.stderr.isTTY) this.says(words)
  }

  advance(): void {
    this.#done++
    if (process.stderr.isTTY) this.#draw()
  }

  clear(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  }

  #draw(): void {
    const part = this.#total === 0 ? 1 : Math.min(this.#done / this.#total, 1)
    const full = Math.floor(part * BAR_CELLS)
    const bar = styleText('green', '█'.repeat(full), { stream: process.stderr }) + '░'.repeat(BAR_CELLS - full)
    const percent = `${Math.floor(part * 100)} %`.padStart(5)
    const room = (process.stderr.columns || 80) - BAR_CELLS - percent.length - 4
    process.stderr.write(`\r\u001b[K${bar} ${percent}  ${visible(this.#words).slice(0, Math.max(room, 0))}`)
  }
}
