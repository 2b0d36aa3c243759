// Nodes as rows of a CSV file.
import { jsonOrText } from '../client-command.ts'
import type { Json } from '../../client/index.ts'
import { csvText } from '../csv.ts'
import { BMC_SCALARS } from './bmc.ts'
import { NODE_DOCUMENTS, NODE_FLAGS } from './members.ts'

/** Separates the items of a list, such as traits and ports. */
const SEPARATOR = ' '
const LISTS = new Set(['traits', 'ports'])
/** Objects whose members each have a column: properties.cpus. */
const DOCUMENTS: ReadonlySet<string> = new Set(NODE_DOCUMENTS)

const READ_AS_JSON = [NODE_FLAGS, DOCUMENTS, BMC_SCALARS]

/** Which member of a node a column holds, and which key if that member is an object. */
export function columnOf(name: string): { member: string; key: string | null } {
  const dot = name.indexOf('.')
  const member = dot < 0 ? name : name.slice(0, dot)
  return DOCUMENTS.has(member) && dot > 0 ? { member, key: name.slice(dot + 1) } : { member: name, key: null }
}

/** The node in a row; an empty cell means that the member isn't given. */
export function nodeOf(columns: readonly string[], cells: readonly string[]): Json {
  const node: Json = {}
  for (const [at, name] of columns.entries()) {
    const cell = cells[at] ?? ''
    if (name === '' || cell.trim() === '') continue
    const { member, key } = columnOf(name)
    if (key !== null) node[member] = { ...(node[member] as Json | undefined), [key]: jsonOrText(cell) }
    else if (LISTS.has(member)) node[member] = cell.trim().split(/\s+/)
    else node[member] = READ_AS_JSON.some(names => names.has(member)) ? jsonOrText(cell) : cell
  }
  return node
}

/** All nodes as one table, with every column that any node needs. Ports are only their addresses. */
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
  return csvText([columns, ...rows.map(row => columns.map(name => row.get(name) ?? ''))])
}

function cellsOf(name: string, value: unknown): [string, string][] {
  if (DOCUMENTS.has(name))
    return Object.entries(value as Json).map(([key, inner]) => [`${name}.${key}`, jsonCell(inner)])
  if (!Array.isArray(value)) return [[name, String(value)]]
  const words = value.map(item => (typeof item === 'string' ? item : (item as { address: string }).address))
  return [[name, words.join(SEPARATOR)]]
}

/** Text stays as it is, unless it is blank or would be parsed as JSON. */
const jsonCell = (value: unknown) =>
  typeof value === 'string' && value.trim() !== '' && jsonOrText(value) === value ? value : JSON.stringify(value)
