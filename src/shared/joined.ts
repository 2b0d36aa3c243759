// Joins many texts to one. `Buffer.concat` checks each part again and again; with a thousand parts that is most of its time.

const COMMA = 0x2c

/** The head, the texts with commas between them, and the tail. */
export function joined(head: string, texts: readonly Buffer[], tail: string): Buffer {
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
