// Reads and writes CSV (RFC 4180). The library is loaded on first use, because most commands don't need it.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const reader = () => require('csv-parse/sync') as typeof import('csv-parse/sync')
const writer = () => require('csv-stringify/sync') as typeof import('csv-stringify/sync')

interface CsvRow {
  /** The line where the row begins; a quoted cell may span lines. */
  line: number
  cells: string[]
}

export class CsvError extends Error {
  /** The line where the unreadable row begins. */
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

const MISPLACED = 'quotes belong around the whole cell, and are doubled inside'

/** Skips empty lines. */
export function parseCsv(text: string): CsvRow[] {
  const { parse, CsvError: Unreadable } = reader()
  const rows: CsvRow[] = []
  let line = 1
  // The library counts a line break inside quotes as two if it is CRLF, so lines are counted here.
  const take = (cells: string[]) => {
    if (cells.length > 1 || cells[0] !== '') rows.push({ line, cells: cells.map(asWritten) })
    line += 1 + (cells.join(',').match(/\r\n|\r|\n/g)?.length ?? 0)
    return null
  }
  // A stray CR is no line break, and doesn't belong to a name.
  const cast = (cell: string, { quoting }: { quoting: boolean }) => {
    if (!quoting && cell.includes('\r')) throw new CsvError(line, MISPLACED)
    return cell
  }
  try {
    parse(text, { on_record: take, cast, relax_column_count: true, record_delimiter: ['\r\n', '\n'] })
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    const isOpen = error.code === 'CSV_QUOTE_NOT_CLOSED'
    const says = isOpen ? 'a quoted cell has no end' : MISPLACED
    throw new CsvError(line, says)
  }
  return rows
}

export const csvText = (rows: readonly (readonly string[])[]): string =>
  writer().stringify(
    rows.map(row => row.map(asText)),
    { quoted_match: /\r/ },
  )

/**
 * A spreadsheet runs a cell that begins so, and others chose the names. With an apostrophe before it, it is text there;
 * numbers are numbers. Reading takes it off again, so that what was exported is imported as it was.
 */
const FORMULA = /^'*[=+\-@\t\r]/
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

const asText = (cell: string): string => (FORMULA.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell)
const asWritten = (cell: string): string => (cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell)
