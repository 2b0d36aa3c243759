// The width of a text on a terminal.

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const PLAIN = /^[\x20-\x7e]*$/

/** Cells of a terminal. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length
  let width = 0
  for (const character of text) width += /\p{M}|\u200d/u.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}

export const widestOf = (texts: readonly string[]) => texts.reduce((widest, text) => Math.max(widest, widthOf(text)), 0)

export function cutTo(text: string, width: number): string {
  let [out, used] = ['', 0]
  for (const character of text) {
    used += widthOf(character)
    if (used > width) break
    out += character
  }
  return out
}
