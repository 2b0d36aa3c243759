// Writes an answer as JSON. A short one is one text; a long one is written in pieces of so many bytes, with turns for
// others between them, however large its rows are.
import { limits } from '../shared/limits.ts'
import { StoredJson } from '../shared/json.ts'

/** An item as it is shown: to be written, or bytes that are ready. */
type Shown = object | string
/** A text, or something to wait for before it goes on. */
type Texts = Generator<string | Buffer | Promise<unknown>, void, unknown>

/** A list in an answer. Its items are shown when they are written, and its rows read when those before are written. */
class Listed {
  /** About how many bytes it will have; 0 if nobody knows. */
  readonly bytes: number
  readonly texts: () => Texts

  constructor(bytes: number, texts: () => Texts) {
    this.bytes = bytes
    this.texts = texts
  }
}

/** A list of these items. */
export const listed = <Item>(items: Iterable<Item>, show: (item: Item) => Shown): Listed =>
  new Listed(0, () => between('[', [items], item => itemText(show(item)), ']'))

/** An object with a member for each of these items. No key may come twice. */
export const keyed = <Item>(items: Iterable<Item>, show: (item: Item) => readonly [string, object]): Listed =>
  new Listed(0, () => between('{', [items], item => memberText(...show(item)), '}'))

/** A list of rows that are read a part at a time. */
export const readInParts = <Row>(
  bytes: number,
  parts: Iterable<readonly Row[] | Promise<readonly Row[]>>,
  show: (row: Row) => Shown,
): Listed => new Listed(bytes, () => between('[', parts, row => itemText(show(row)), ']'))

function* between<Item>(
  open: string,
  parts: Iterable<Iterable<Item> | Promise<Iterable<Item>>>,
  write: (item: Item) => string | Buffer,
  close: string,
): Texts {
  yield open
  let isFirst = true
  for (const part of parts) {
    const items = part instanceof Promise ? ((yield part) as Iterable<Item>) : part
    for (const item of items) {
      if (!isFirst) yield ','
      isFirst = false
      yield write(item)
    }
  }
  yield close
}

const memberText = (name: string, value: unknown) =>
  `${JSON.stringify(name)}:${value instanceof StoredJson ? value.text : JSON.stringify(value)}`

/** Stored JSON goes through unread. */
function itemText(item: unknown): string | Buffer {
  if (item instanceof Buffer) return item
  if (typeof item !== 'object' || item === null || !Object.values(item).some(value => value instanceof StoredJson)) {
    return JSON.stringify(item) ?? 'null'
  }
  const members = Object.entries(item).filter(([, value]) => value !== undefined)
  return `{${members.map(([name, value]) => memberText(name, value)).join()}}`
}

function* textsOf(body: object): Texts {
  if (body instanceof Listed) {
    yield* body.texts()
    return
  }
  if (Array.isArray(body)) {
    yield* between('[', [body as unknown[]], itemText, ']')
    return
  }
  let before = '{'
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    before = ','
    if (value instanceof Listed) yield* value.texts()
    else if (Array.isArray(value)) yield* between('[', [value as unknown[]], itemText, ']')
    else yield value instanceof StoredJson ? value.text : JSON.stringify(value)
  }
  yield before === '{' ? '{}' : '}'
}

/** A body that is neither a list nor has one is written at once: its size is that of one row. */
const isOneRow = (body: object): boolean =>
  !(body instanceof Listed) && !Array.isArray(body) && !Object.values(body).some(hasParts)
const hasParts = (value: unknown) =>
  value instanceof Listed || value instanceof StoredJson || (Array.isArray(value) && value.length > 1)

/** An answer that is written in pieces. */
export class Long {
  /** About how many bytes it will have, or at least has. */
  readonly bytes: number
  readonly #begun: Gathered
  readonly #texts: Texts
  #awaited: Promise<unknown> | null
  #found: unknown

  constructor(bytes: number, begun: Gathered, texts: Texts, awaited: Promise<unknown> | null) {
    this.bytes = Math.max(bytes, begun.length)
    this.#begun = begun
    this.#texts = texts
    this.#awaited = awaited
    // Whoever asks for the pieces hears of it.
    awaited?.catch(() => {})
  }

  /**
   * Its next pieces: more than one if a single row was larger than a piece, and none while it only waited. Null at the
   * end. Whoever asks takes a turn before each.
   */
  async next(): Promise<Buffer[] | null> {
    const gathered = this.#begun
    if (this.#awaited !== null) {
      this.#found = await this.#awaited
      this.#awaited = null
      return []
    }
    while (!gathered.isFull) {
      const step = this.#texts.next(this.#found)
      if (step.done) return gathered.length === 0 ? null : gathered.take()
      if (step.value instanceof Promise) {
        this.#awaited = step.value
        return []
      }
      gathered.add(step.value)
    }
    return gathered.take()
  }
}

/** Texts and bytes that become the next piece. */
class Gathered {
  #parts: (string | Buffer)[] = []
  length = 0

  get isFull(): boolean {
    return this.length >= limits.answerPieceBytes
  }

  add(part: string | Buffer): void {
    this.#parts.push(part)
    this.length += part.length
  }

  text(): string {
    return this.#parts.join('')
  }

  /** Pieces of no more than their size, and nothing is left. */
  take(): Buffer[] {
    const parts = this.#parts
    const whole = parts.every(part => typeof part === 'string')
      ? Buffer.from(parts.join(''))
      : Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : part)))
    this.#parts = []
    this.length = 0
    return cut(whole)
  }
}

/** Bytes in pieces, without a copy. */
export function cut(whole: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < whole.length; at += limits.answerPieceBytes) {
    pieces.push(whole.subarray(at, at + limits.answerPieceBytes))
  }
  return pieces
}

/** The JSON of a body: as a text if it is short. What is surely long is not begun before there is room for it. */
export function written(body: object): string | Long {
  const bytes = bytesOf(body)
  const gathered = new Gathered()
  const texts = isOneRow(body) ? once(body) : textsOf(body)
  let awaited: Promise<unknown> | null = null
  while (bytes <= limits.answerPieceBytes && awaited === null && !gathered.isFull) {
    const step = texts.next()
    if (step.done) return gathered.text()
    if (step.value instanceof Promise) awaited = step.value
    else gathered.add(step.value)
  }
  return new Long(bytes, gathered, texts, awaited)
}

function* once(body: object): Texts {
  yield JSON.stringify(body)
}

const bytesOf = (body: object): number =>
  Object.values(body).reduce((sum: number, value) => sum + (value instanceof Listed ? value.bytes : 0), 0)
