// Comma-separated values as RFC 4180 has them, and nodes as their rows.
import { jsonOrText } from '../client-command.ts'
import type { Json } from '../../client/index.ts'
import { csvLine } from '../output.ts'

interface CsvRow {
  /** Where it begins; a quoted cell may go on for lines. */
  line: number
  cells: string[]
}

export class CsvError extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** Empty lines are left out. */
export function parseCsv(text: string): CsvRow[] {
  const rows: CsvRow[] = []
  let [at, line] = [0, 1]
  let row: CsvRow = { line, cells: [] }
  while (at < text.length) {
    const end = endOfCell(text, at, line)
    const cell = text.slice(at, end)
    row.cells.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    line += cell.split('\n').length - 1
    const after = /^(,|\r?\n|$)/.exec(text.slice(end, end + 2))?.[0]
    if (after === undefined) throw new CsvError(line, 'quotes belong around the whole cell, and are doubled inside')
    at = end + after.length
    if (after === ',') {
      if (at === text.length) row.cells.push('')
      continue
    }
    if (row.cells.length > 1 || row.cells[0] !== '') rows.push(row)
    row = { line: ++line, cells: [] }
  }
  if (row.cells.length > 0) rows.push(row)
  return rows
}

const DELIMITER = /["\r\n,]|$/g

function endOfCell(text: string, start: number, line: number): number {
  if (text[start] !== '"') {
    DELIMITER.lastIndex = start
    return DELIMITER.exec(text)!.index
  }
  for (let at = start + 1; ; at += 2) {
    at = text.indexOf('"', at)
    if (at < 0) throw new CsvError(line, 'a quoted cell has no end')
    if (text[at + 1] !== '"') return at + 1
  }
}

/** Between the words of a list, as in traits and ports. */
const SEPARATOR = ' '
const LISTS = new Set(['traits', 'ports'])
const FLAGS = new Set(['maintenance', 'leasable', 'retired', 'automated_clean'])
/** Objects, of which each member has a column: properties.cpus. */
const DOCUMENTS = new Set(['driver_info', 'properties', 'extra', 'network_data'])

/** What a column is about: a member of a node, or a member of one of its objects. */
export function columnOf(name: string): { member: string; key: string | null } {
  const dot = name.indexOf('.')
  const member = dot < 0 ? name : name.slice(0, dot)
  return DOCUMENTS.has(member) && dot > 0 ? { member, key: name.slice(dot + 1) } : { member: name, key: null }
}

/** A node as a row says it; an empty cell says nothing. */
export function nodeOf(columns: readonly string[], cells: readonly string[]): Json {
  const node: Json = {}
  for (const [at, name] of columns.entries()) {
    const cell = cells[at] ?? ''
    if (name === '' || cell.trim() === '') continue
    const { member, key } = columnOf(name)
    if (key !== null) node[member] = { ...(node[member] as Json | undefined), [key]: jsonOrText(cell) }
    else if (LISTS.has(member)) node[member] = cell.trim().split(/\s+/)
    else node[member] = FLAGS.has(member) || DOCUMENTS.has(member) ? jsonOrText(cell) : cell
  }
  return node
}

/** All nodes as one table, with the columns that any of them needs. Of ports it has the addresses. */
export function csvOf(nodes: readonly Json[], members: readonly string[]): string {
  const rows = nodes.map(node => new Map(Object.entries(node).flatMap(([name, value]) => cellsOf(name, value))))
  const used = new Set(rows.flatMap(row => [...row.keys()]))
  const columns = members.flatMap(member =>
    DOCUMENTS.has(member)
      ? [...used].filter(name => columnOf(name).member === member).sort()
      : used.has(member)
        ? member
        : [],
  )
  return [columns, ...rows.map(row => columns.map(name => row.get(name) ?? ''))].map(csvLine).join('')
}

function cellsOf(name: string, value: unknown): [string, string][] {
  if (DOCUMENTS.has(name))
    return Object.entries(value as Json).map(([key, inner]) => [`${name}.${key}`, jsonCell(inner)])
  if (!Array.isArray(value)) return [[name, String(value)]]
  const words = value.map(item => (typeof item === 'string' ? item : (item as { address: string }).address))
  return [[name, words.join(SEPARATOR)]]
}

/** Text as it is, unless it would be read as something else. */
const jsonCell = (value: unknown) =>
  typeof value === 'string' && value.trim() !== '' && jsonOrText(value) === value ? value : JSON.stringify(value)
