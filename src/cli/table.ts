// Tables for people: columns as wide as they need to be, narrower where the terminal is.
import { styleText } from 'node:util'

export interface Screen {
  /** Infinity when nobody looks: whoever reads a pipe wants all of it. */
  width: number
  hasColour: boolean
}

export const screenOf = (stream: NodeJS.WriteStream): Screen => ({
  width: stream.isTTY ? stream.columns || 80 : Infinity,
  hasColour: stream.isTTY && stream.hasColors(),
})

const GAP = '  '
const NARROWEST = 4

/** One row a line; what doesn't fit ends in an ellipsis. */
export function tableOf(columns: readonly string[], rows: readonly (readonly string[])[], screen: Screen): string {
  const widths = fitted(
    columns.map((name, at) => Math.max(widthOf(name), ...rows.map(row => widthOf(row[at]!)))),
    screen.width,
  )
  const line = (cells: readonly string[], paint: (text: string, at: number) => string) =>
    cells
      .map((cell, at) => padded(cell, widths[at]!, at === cells.length - 1, text => paint(text, at)))
      .join(GAP)
      .trimEnd()
  const heading = line(columns, text => painted('bold', text, screen))
  return [heading, ...rows.map(row => line(row, (text, at) => coloured(columns[at]!, text, screen)))].join('\n') + '\n'
}

/** One field a line; what doesn't fit goes on below. */
export function sheetOf(fields: readonly (readonly [string, string])[], screen: Screen): string {
  const left = Math.max(0, ...fields.map(([name]) => widthOf(name)))
  const room = Math.max(screen.width - left - GAP.length, NARROWEST)
  const lines = fields.flatMap(([name, value]) =>
    value
      .split('\n')
      .flatMap(part => wrapped(part, room))
      .map((part, at) => {
        const heading = painted('bold', (at === 0 ? name : '').padEnd(left), screen)
        return `${heading}${GAP}${coloured(name, part, screen)}`.trimEnd()
      }),
  )
  return lines.map(line => `${line}\n`).join('')
}

/** The widest give way first, evenly. */
function fitted(wanted: readonly number[], width: number): number[] {
  const room = width - GAP.length * (wanted.length - 1)
  const widths = [...wanted]
  let over = widths.reduce((sum, one) => sum + one, 0) - room
  while (over > 0) {
    const widest = Math.max(...widths)
    if (widest <= NARROWEST) break
    const at = widths.lastIndexOf(widest)
    const next = Math.max(NARROWEST, ...widths.filter(one => one < widest))
    const cut = Math.min(over, Math.max(1, widest - next))
    widths[at] = widest - cut
    over -= cut
  }
  return widths
}

function padded(cell: string, width: number, isLast: boolean, paint: (text: string) => string): string {
  const text = widthOf(cell) > width ? `${cutTo(cell, width - 1)}…` : cell
  return paint(text) + (isLast ? '' : ' '.repeat(Math.max(0, width - widthOf(text))))
}

function cutTo(text: string, width: number): string {
  let [out, used] = ['', 0]
  for (const character of text) {
    used += widthOf(character)
    if (used > width) break
    out += character
  }
  return out
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  let rest = text
  while (widthOf(rest) > width) {
    const cut = cutTo(rest, width)
    const space = cut.lastIndexOf(' ')
    const taken = space > width / 2 ? cut.slice(0, space + 1) : cut
    lines.push(taken.trimEnd())
    rest = rest.slice(taken.length)
  }
  return [...lines, rest]
}

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

type Colour = 'bold' | 'green' | 'yellow' | 'red' | 'dim'

const painted = (colour: Colour, text: string, { hasColour }: Screen) =>
  hasColour ? styleText(colour, text, { validateStream: false }) : text

const STATES = /^(state|status|provision_state|outcome)$/
const GOOD = /^(active|available|done|reserved)$/i
const BAD = /(^error$|fail)/i

/** Only what tells how something is: good, bad, or on its way. */
function coloured(column: string, text: string, screen: Screen): string {
  if (text === '-') return painted('dim', text, screen)
  if (!STATES.test(column) || text === '') return text
  return painted(BAD.test(text) ? 'red' : GOOD.test(text) ? 'green' : 'yellow', text, screen)
}
