// The text of a serial console: what a machine printed, without colours and places on a screen.

/** Lines that are kept, and the longest of them. */
const [LINES_MAX, CHARS_MAX] = [2_000, 1_000]
/** Sequences of terminals: of the keyboard and screen, of titles, and short ones. */
const SEQUENCE = /^\u001b(?:\[([0-?]*)[ -/]*([@-~])|[\]P^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()*+#%].|[0-Z\\^-~])/u
/** One that has begun, and no longer than this one can be. */
const [BEGUN, BEGUN_MAX] = [/^\u001b(?:\[[ -?]*|[\]P^_][^\u0007\u001b]*\u001b?|[()*+#%])?$/u, 256]

export class ConsoleScreen {
  readonly #decoder = new TextDecoder()
  #lines: string[] = ['']
  #column = 0
  #rest = ''

  get text(): string {
    return this.#lines.join('\n')
  }

  print(bytes: BufferSource): void {
    let text = this.#rest + this.#decoder.decode(bytes, { stream: true })
    this.#rest = ''
    while (text !== '') {
      if (!text.startsWith('\u001b')) {
        const end = text.indexOf('\u001b')
        const plain = end < 0 ? text : text.slice(0, end)
        for (const char of plain) this.#put(char)
        text = text.slice(plain.length)
        continue
      }
      const found = SEQUENCE.exec(text)
      if (!found && BEGUN.test(text) && text.length < BEGUN_MAX) {
        this.#rest = text
        return
      }
      if (found) this.#obey(found[1] ?? '', found[2] ?? '')
      text = text.slice(found?.[0].length ?? 1)
    }
  }

  /** Of all that can be told to a screen: erase it, erase the rest of a line. */
  #obey(how: string, what: string): void {
    if (what === 'J' && how === '2') this.#feed()
    if (what === 'K' && how === '') this.#set(this.#line.slice(0, this.#column))
  }

  #put(char: string): void {
    if (char === '\r') this.#column = 0
    else if (char === '\n') this.#feed()
    else if (char === '\b') this.#column = Math.max(0, this.#column - 1)
    else if (char === '\t') this.#write(' '.repeat(8 - (this.#column % 8)))
    else if (char >= ' ' && char !== '\u007f') this.#write(char)
  }

  #write(text: string): void {
    if (this.#column >= CHARS_MAX) this.#feed()
    const line = this.#line.padEnd(this.#column)
    this.#set(line.slice(0, this.#column) + text + line.slice(this.#column + text.length))
    this.#column += text.length
  }

  #feed(): void {
    this.#lines.push('')
    if (this.#lines.length > LINES_MAX) this.#lines.shift()
    this.#column = 0
  }

  get #line(): string {
    return this.#lines.at(-1)!
  }

  #set(line: string): void {
    this.#lines[this.#lines.length - 1] = line
  }
}

const KEYS: Readonly<Record<string, string>> = {
  Enter: '\r',
  Backspace: '\u007f',
  Tab: '\t',
  Escape: '\u001b',
  ArrowUp: '\u001b[A',
  ArrowDown: '\u001b[B',
  ArrowRight: '\u001b[C',
  ArrowLeft: '\u001b[D',
  Home: '\u001b[H',
  End: '\u001b[F',
  Delete: '\u001b[3~',
  PageUp: '\u001b[5~',
  PageDown: '\u001b[6~',
}

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'altKey' | 'metaKey' | 'shiftKey'>

/** What a key sends to the machine; null for what is the browser's, such as copy and paste. */
export function bytesOf({ key, ctrlKey, altKey, metaKey, shiftKey }: Pressed): string | null {
  if (metaKey || (ctrlKey && shiftKey)) return null
  if (ctrlKey) return /^[a-uw-z@[\\^_]$/i.test(key) ? String.fromCharCode(key.toUpperCase().charCodeAt(0) & 0x1f) : null
  const sent = KEYS[key] ?? (Array.from(key).length === 1 ? key : null)
  return sent !== null && altKey ? `\u001b${sent}` : sent
}
