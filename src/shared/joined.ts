// Joins many texts to one. `Buffer.concat` checks each part again and again; with a thousand parts that is most of its time.
import { BoundedMap } from './bounded-map.ts'
import { limits } from './limits.ts'

const COMMA = 0x2c

interface Joined {
  head: string
  texts: readonly Buffer[]
  tail: string
  whole: Buffer
}

/** By its first text. Clients ask for the same list again and again, and copying its texts takes longer than comparing them. */
const kept = new BoundedMap<Buffer, Joined>(limits.keptListsMax)

/** The head, the texts with commas between them, and the tail. A text never changes, so what they were joined to is kept. */
export function joined(head: string, texts: readonly Buffer[], tail: string): Buffer {
  const [first] = texts
  const before = first && kept.get(first)
  if (before && before.head === head && before.tail === tail && areSame(before.texts, texts)) return before.whole
  const whole = join(head, texts, tail)
  if (first && whole.length <= limits.keptListBytesMax) kept.set(first, { head, texts, tail, whole })
  return whole
}

function areSame(some: readonly Buffer[], others: readonly Buffer[]): boolean {
  if (some.length !== others.length) return false
  for (let i = 0; i < some.length; i++) if (some[i] !== others[i]) return false
  return true
}

function join(head: string, texts: readonly Buffer[], tail: string): Buffer {
  let length = Buffer.byteLength(head) + Buffer.byteLength(tail) + Math.max(0, texts.length - 1)
  for (const text of texts) length += text.length
  const whole = Buffer.allocUnsafe(length)
  let at = whole.write(head)
  for (const [i, text] of texts.entries()) {
    if (i > 0) whole[at++] = COMMA
    whole.set(text, at)
    at += text.length
  }
  whole.write(tail, at)
  return whole
}
