// The serial consoles of fake-hardware: they echo what is typed, and print when power changes.
import type { Machine, SerialLine } from './port.ts'

export class FakeConsoles {
  readonly #lines = new Map<string, Set<FakeLine>>()

  open({ uuid, name, powerState }: Machine): SerialLine {
    const lines = this.#lines.getOrInsertComputed(uuid, () => new Set())
    const line = new FakeLine(() => {
      lines.delete(line)
      if (lines.size === 0) this.#lines.delete(uuid)
    })
    lines.add(line)
    line.print(`\r\n${name ?? uuid}: a machine that is not there, ${powerState ?? 'power off'}\r\n$ `)
    return line
  }

  print(uuid: string, text: string): void {
    for (const line of this.#lines.get(uuid) ?? []) line.print(`\r\n${text}\r\n$ `)
  }
}

class FakeLine implements SerialLine {
  readonly output: ReadableStream<Buffer>
  readonly #closed: () => void
  #printer!: ReadableStreamDefaultController<Buffer>
  #isClosed = false

  constructor(closed: () => void) {
    this.#closed = closed
    this.output = new ReadableStream<Buffer>({ start: printer => void (this.#printer = printer) })
  }

  print(text: string): void {
    if (!this.#isClosed) this.#printer.enqueue(Buffer.from(text))
  }

  /** Return is a new line with a prompt, as of a shell. */
  write(bytes: Buffer): void {
    this.print(bytes.toString('utf8').replaceAll(/\r\n?|\n/g, '\r\n$ '))
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#closed()
    this.#printer.close()
  }
}
