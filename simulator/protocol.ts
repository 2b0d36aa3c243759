// The part of PostgreSQL's protocol (version 3) that the virtual network has to understand: where messages end, which of
// them are answered by ReadyForQuery, and what they say.

export interface Message {
  /** Its letter; '' for the first message of a connection, which has none. */
  type: string
  /** All of it. */
  bytes: Buffer
  /** Without the letter and the length. */
  body: Buffer
}

/** Cuts a stream of bytes into messages. */
export class Framing {
  #rest: Buffer = Buffer.alloc(0)
  /** The first message of a client has no letter. */
  #isFirst: boolean

  constructor({ isClient }: { isClient: boolean }) {
    this.#isFirst = isClient
  }

  add(bytes: Buffer): Message[] {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const messages: Message[] = []
    for (;;) {
      const letters = this.#isFirst ? 0 : 1
      if (this.#rest.length < letters + 4) return messages
      const end = letters + this.#rest.readUInt32BE(letters)
      if (this.#rest.length < end) return messages
      const all = this.#rest.subarray(0, end)
      messages.push({ type: letters ? String.fromCharCode(all[0]!) : '', bytes: all, body: all.subarray(letters + 4) })
      this.#rest = this.#rest.subarray(end)
      this.#isFirst = false
    }
  }
}

export function message(type: string, ...parts: (Buffer | string)[]): Buffer {
  const body = Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(`${part}\0`) : part)))
  const head = Buffer.alloc(type.length + 4)
  head.write(type, 'latin1')
  head.writeUInt32BE(body.length + 4, type.length)
  return Buffer.concat([head, body])
}

export const SYNC = message('S')
export const simpleQuery = (sql: string) => message('Q', sql)

/** The settings of a client's first message. */
export function startupSettings({ body }: Message): Map<string, string> {
  const words = body.subarray(4).toString().split('\0')
  const settings = new Map<string, string>()
  for (let i = 0; i + 1 < words.length && words[i] !== ''; i += 2) settings.set(words[i]!, words[i + 1]!)
  return settings
}

export function startupWith(settings: ReadonlyMap<string, string>): Buffer {
  const version = Buffer.alloc(4)
  version.writeUInt32BE(196_608)
  return message('', version, ...[...settings].flat(), Buffer.alloc(1))
}

/** An ErrorResponse by its fields: S severity, C code, M message. */
export function errorFields({ body }: Message): Map<string, string> {
  const fields = body.toString().split('\0')
  return new Map(fields.filter(field => field !== '').map(field => [field[0]!, field.slice(1)]))
}

export const errorWith = (fields: ReadonlyMap<string, string>): Buffer =>
  message('E', ...Array.from(fields, ([letter, text]) => `${letter}${text}`), Buffer.alloc(1))

export const failure = (severity: string, code: string, text: string): Buffer =>
  errorWith(
    new Map([
      ['S', severity],
      ['V', severity],
      ['C', code],
      ['M', text],
    ]),
  )

const textAt = (body: Buffer, from: number) => body.toString('utf8', from, body.indexOf(0, from))

/** Parse: the statement's name and its text. */
export function parsed({ body }: Message): { name: string; text: string } {
  const name = textAt(body, 0)
  return { name, text: textAt(body, Buffer.byteLength(name) + 1) }
}

/** Bind: the statement's name, and its arguments as texts. */
export function bound({ body }: Message): { name: string; values: (string | null)[] } {
  let at = body.indexOf(0) + 1
  const name = textAt(body, at)
  at = body.indexOf(0, at) + 1
  at += 2 + 2 * body.readUInt16BE(at)
  const { values } = valuesAt(body, at)
  return { name, values }
}

/** DataRow: its values as texts. */
export const rowValues = ({ body }: Message): (string | null)[] => valuesAt(body, 0).values

function valuesAt(body: Buffer, start: number): { values: (string | null)[] } {
  const values: (string | null)[] = []
  let at = start + 2
  for (let left = body.readUInt16BE(start); left > 0; left--) {
    const length = body.readInt32BE(at)
    at += 4
    values.push(length < 0 ? null : body.toString('utf8', at, at + length))
    at += Math.max(length, 0)
  }
  return { values }
}

/** Query: its text. */
export const queryText = ({ body }: Message): string => body.toString('utf8', 0, body.length - 1)
