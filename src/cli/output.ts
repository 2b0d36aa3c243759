// Prints answers: as tables for people, and in formats for programs.
import { UsageError } from '../shared/usage-error.ts'
import { yamlOf } from '../shared/yaml.ts'
import { csvText } from './csv.ts'
import { type Folds, rowBelow, screenOf, sheetOf, tableOf, wrapped } from './table.ts'
import { terminal } from './terminal.ts'
import { fieldWithLocalTime, withLocalTimes } from './wall-clock.ts'

export const FORMATS = ['table', 'json', 'yaml', 'csv', 'value'] as const

export interface OutputFlags {
  format: (typeof FORMATS)[number]
  column?: string[]
}

export type Row = Readonly<Record<string, unknown>>

/** `columns` are the default columns. JSON and YAML have all fields, unless the user chooses some. */
export function printList(
  rows: readonly Row[],
  columns: readonly string[],
  { format, column }: OutputFlags,
  folds?: Folds,
): void {
  const known = new Set([...columns, ...rows.flatMap(row => Object.keys(row))])
  const shown = column ? chosen(column, known) : columns
  if (format === 'json' || format === 'yaml') {
    writeDocument(documentOf(column ? rows.map(row => only(row, shown)) : rows.map(withoutLinks), format))
  } else if (format === 'csv') {
    write(csvText([shown, ...cellsOf(rows, shown, plain())]))
  } else if (format === 'value') {
    write(
      cellsOf(rows, shown, plain())
        .map(cells => `${cells.join(' ')}\n`)
        .join(''),
    )
  } else {
    const local = withLocalTimes(shown, rows)
    write(tableOf(local.headings, cellsOf(local.rows, shown, printable), screenOf(terminal().stdout), folds))
  }
}

/** Prints the rows of a list, and later some of them again, below. */
export class RowPrinter {
  readonly #columns: readonly string[]
  readonly #flags: OutputFlags
  #rows: readonly Row[] = []

  constructor(columns: readonly string[], flags: OutputFlags) {
    this.#columns = columns
    this.#flags = flags
  }

  /** Of programs' formats, JSON has one row a line, and YAML is a list that grows. */
  first(rows: readonly Row[]): void {
    this.#rows = rows
    if (this.#flags.format === 'json') for (const row of rows) this.again(row)
    else if (this.#flags.format !== 'yaml' || rows.length > 0) printList(rows, this.#columns, this.#flags)
  }

  /** Whether it would be printed in another way. */
  isOther(before: Row | undefined, row: Row): boolean {
    return before === undefined || this.#partsOf(before) !== this.#partsOf(row)
  }

  /** What is printed of it, however wide the columns are. */
  #partsOf(row: Row): string {
    const { format } = this.#flags
    if (format !== 'table') return this.#textOf(row)
    return cellsOf([row], this.#shownOf(row), printable)[0]!.join('\0')
  }

  #shownOf(row: Row): readonly string[] {
    const { column } = this.#flags
    return column ? chosen(column, new Set([...this.#columns, ...Object.keys(row)])) : this.#columns
  }

  again(row: Row): void {
    this.#write(row)
  }

  #write(row: Row): void {
    const isDocument = ['json', 'yaml'].includes(this.#flags.format)
    ;(isDocument ? writeDocument : write)(this.#textOf(row))
  }

  gone(row: Row): void {
    const { format } = this.#flags
    if (format === 'json' || format === 'yaml') this.#write({ ...row, gone: true })
    else if (format === 'table') say(`${(row['name'] ?? row['uuid'] ?? row['id'] ?? 'one') as string} is gone`)
  }

  #textOf(row: Row): string {
    const { format, column } = this.#flags
    const shown = this.#shownOf(row)
    const document = () => (column ? only(row, [...shown, ...('gone' in row ? ['gone'] : [])]) : withoutLinks(row))
    if (format === 'json') return `${JSON.stringify(document())}\n`
    if (format === 'yaml') return documentOf([document()], 'yaml')
    if (format === 'csv') return csvText(cellsOf([row], shown, plain()))
    if (format === 'value') return `${cellsOf([row], shown, plain())[0]!.join(' ')}\n`
    const local = withLocalTimes(shown, [...this.#rows, row])
    return rowBelow(local.headings, cellsOf(local.rows, shown, printable), screenOf(terminal().stdout))
  }
}

/** Prints one object: all its fields, or the chosen ones. */
export function printOne(given: Row, { format, column }: OutputFlags): void {
  const row = withoutLinks(given)
  const shown = column ? chosen(column, new Set(Object.keys(row))) : Object.keys(row)
  if (format === 'json' || format === 'yaml') writeDocument(documentOf(only(row, shown), format))
  else if (format === 'csv') write(csvText([shown, ...cellsOf([row], shown, plain())]))
  else if (format === 'value') write(shown.map(name => `${plain()(row[name])}\n`).join(''))
  else
    write(
      sheetOf(
        shown.map(name => [name, lineByLine(fieldWithLocalTime(name, row[name]))] as const),
        screenOf(terminal().stdout),
      ),
    )
}

/** Prints what matters of one object to people who have just made or changed it. Programs get all, and so does `show`. */
export function printShort(given: Row, fields: readonly string[], flags: OutputFlags): void {
  if (flags.format !== 'table' || flags.column) return printOne(given, flags)
  const isSaid = (value: unknown) => value !== null && value !== undefined && value !== false && printable(value) !== ''
  printOne(Object.fromEntries(fields.filter(name => isSaid(given[name])).map(name => [name, given[name]])), flags)
}

/** Prints the result as a sentence for people; programs use the exit code. */
export const say = (sentence: string) =>
  write(
    wrapped(visible(sentence), screenOf(terminal().stdout).width)
      .map(line => `${line}\n`)
      .join(''),
  )

/** Tells people something beside the result. */
export const tell = (sentence: string) => void terminal().stderr.write(`holdfast: ${visible(sentence)}\n`)

const write = (text: string) => void terminal().stdout.write(text)

/** A document for programs, as it is; a terminal is not controlled by it. */
export function writeDocument(text: string): void {
  write(terminal().stdout.isTTY ? text.split('\n').map(visible).join('\n') : text)
}

/** How cells for programs are written: as they are, and on a terminal without what controls it. */
const plain = () => (terminal().stdout.isTTY ? (value: unknown) => visible(textOf(value)) : textOf)

/** Case and spaces don't matter: `-c "Provision State"` is provision_state. */
export const plainName = (name: string) => name.trim().toLowerCase().replaceAll(/[ -]/g, '_')

function chosen(wanted: readonly string[], known: ReadonlySet<string>): string[] {
  return wanted.map(name => {
    const plain = plainName(name)
    const found = [...known].find(one => one.toLowerCase() === plain)
    if (found === undefined) throw new UsageError(`there is no column ${name}; there are ${[...known].join(', ')}`)
    return found
  })
}

const only = (row: Row, names: readonly string[]) => Object.fromEntries(names.map(name => [name, row[name] ?? null]))

/** Links to other resources are useless outside the API. */
const LINKS = new Set(['links', 'ports', 'portgroups', 'states', 'volume'])
export const withoutLinks = (row: Row) => Object.fromEntries(Object.entries(row).filter(([name]) => !LINKS.has(name)))

const documentOf = (value: unknown, format: 'json' | 'yaml') =>
  format === 'json' ? `${JSON.stringify(value, null, 2)}\n` : yamlOf(value)

const cellsOf = (rows: readonly Row[], names: readonly string[], show = textOf) =>
  rows.map(row => names.map(name => show(row[name])))

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return value.join(',')
  return JSON.stringify(value)
}

function printable(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (Array.isArray(value) && value.every(item => typeof item === 'string')) return visible(value.join(', '))
  if (typeof value === 'object' && !Array.isArray(value)) {
    const parts = Object.entries(value as Row).map(([name, inner]) => `${name}=${textOf(inner)}`)
    return visible(parts.join(', '))
  }
  return visible(textOf(value))
}

/** A list of objects, with one object a line. */
function lineByLine(value: unknown): string {
  const isListOfThings = Array.isArray(value) && value.some(item => typeof item === 'object')
  return isListOfThings ? value.map(printable).join('\n') : printable(value)
}

/** Takes out what controls the terminal, or turns the order of the rest of the line: others wrote the text. */
export const visible = (text: string) =>
  text.replaceAll(/[\t\r\n\u2028\u2029]+/g, ' ').replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
