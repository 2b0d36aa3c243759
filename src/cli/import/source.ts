// Parses a fleet file, and finds where each value begins.
import { isAlias, isCollection, isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from 'yaml'
import { CsvError, parseCsv } from '../csv.ts'
import { columnOf, nodeOf } from './csv.ts'
import { type Mistake, mistake, type Path, type Spot } from './mistake.ts'
import { BMC_MEMBERS } from './bmc.ts'
import { NODE_MEMBERS } from './members.ts'

const FILE_FORMATS = ['yaml', 'json', 'csv'] as const
export type FileFormat = (typeof FILE_FORMATS)[number]

/** Enough for 10,000 nodes described in full. A YAML file of this size takes about ten seconds to parse. */
export const FILE_BYTES_MAX = 32 * 1024 * 1024
/** One use of an anchor for each entry that a file may have. */
const ALIASES_MAX = 50_000

export interface Source {
  file: string
  value: unknown
  spotOf: (path: Path) => Spot | null
}

interface ReadSource {
  /** null if the file can't be parsed. */
  source: Source | null
  mistakes: Mistake[]
}

const EXTENSIONS: Record<string, FileFormat> = { yaml: 'yaml', yml: 'yaml', json: 'json', csv: 'csv' }

/** The format by file extension. The default is YAML, which includes JSON. */
export const formatOf = (file: string): FileFormat =>
  EXTENSIONS[/\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? ''] ?? 'yaml'

export function sourceOf(file: string, text: string, format: FileFormat): ReadSource {
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text
  return READERS[format](file, plain)
}

const READERS: Record<FileFormat, (file: string, text: string) => ReadSource> = {
  yaml: yamlSource,
  json: jsonSource,
  csv: csvSource,
}

const unreadable = (file: string, spot: Spot | null, says: string): ReadSource => ({
  source: null,
  mistakes: [mistake({ file, spot, path: [] }, says)],
})

const firstLine = (error: unknown) => (error as Error).message.split('\n', 1)[0]!

function jsonSource(file: string, text: string): ReadSource {
  try {
    const value: unknown = JSON.parse(text)
    // YAML includes JSON, and its parser knows where things are. It is slow, so only mistakes are looked up.
    let found: Positions | null = null
    return { source: { file, value, spotOf: path => spotOf((found ??= positionsIn(text)), path) }, mistakes: [] }
  } catch (error) {
    const { document, spotAt } = positionsIn(text)
    const [first] = document.errors
    return unreadable(file, first ? spotAt(first.pos[0]) : null, `is no JSON: ${firstLine(error)}`)
  }
}

function yamlSource(file: string, text: string): ReadSource {
  const positions = positionsIn(text)
  const { document, spotAt } = positions
  if (document.errors.length > 0) {
    const says = (error: Error) => firstLine(error).replace(/ at line \d+, column \d+:?$/, '')
    return {
      source: null,
      mistakes: document.errors.map(error => mistake({ file, spot: spotAt(error.pos[0]), path: [] }, says(error))),
    }
  }
  try {
    // Copied through JSON, so that each use of an anchor is a separate object, and a cycle is an error.
    const value: unknown = JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: ALIASES_MAX })) ?? 'null')
    return { source: { file, value, spotOf: path => spotOf(positions, path) }, mistakes: [] }
  } catch (error) {
    return unreadable(file, null, `can't be read: ${firstLine(error)}`)
  }
}

interface Positions {
  document: ReturnType<typeof parseDocument>
  spotAt: (offset: number) => Spot
}

function positionsIn(text: string): Positions {
  const lineCounter = new LineCounter()
  const spotAt = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset)
    return { line, column: col }
  }
  return { document: parseDocument(text, { lineCounter, merge: true }), spotAt }
}

/** Where the value is, or the nearest parent that exists. */
function spotOf({ document: { contents }, spotAt }: Positions, path: Path): Spot | null {
  let found = isNode(contents) ? contents : null
  let spot = found?.range ? spotAt(found.range[0]) : null
  for (const part of path) {
    const next = stepInto(found, part)
    if (next?.at?.range) spot = spotAt(next.at.range[0])
    found = next?.value ?? null
  }
  return spot
}

/** A member is where its name is, and an aliased value where the alias is. */
function stepInto(parent: Node | null, part: string | number): { at: Node | null; value: Node | null } | null {
  if (!isCollection(parent)) return null
  const node = (given: unknown) => (isNode(given) && !isAlias(given) ? given : null)
  if (!isMap(parent)) {
    const item = parent.items[Number(part)]
    return isNode(item) ? { at: item, value: node(item) } : null
  }
  const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(part))
  return pair ? { at: isNode(pair.key) ? pair.key : null, value: node(pair.value) } : null
}

function csvSource(file: string, text: string): ReadSource {
  try {
    const [head, ...rows] = parseCsv(text)
    if (!head) return unreadable(file, { line: 1, column: '' }, 'is empty; the first line names the columns')
    // Spaces around a column name are ignored, unless they belong to the key of an object's member.
    const columns = head.cells.map(cell => (isKnown(cell) ? cell : cell.trim()))
    const wrong = columns.flatMap((name, at) => {
      const says = wrongColumn(name, { isAgain: columns.indexOf(name) < at, isAlone: columns.length === 1 })
      return says === null ? [] : { name, mistake: mistake({ file, spot: { line: 1, column: '' }, path: [] }, says) }
    })
    const unread = new Set(wrong.map(({ name }) => name))
    const known = columns.map(name => (unread.has(name) ? '' : name))
    const long = rows
      .filter(({ cells }) => cells.length > columns.length)
      .map(({ line }) =>
        mistake({ file, spot: { line, column: '' }, path: [] }, `has more cells than the ${columns.length} columns`),
      )
    const value = { nodes: rows.map(({ cells }) => nodeOf(known, cells)) }
    const spotOf = ([, at, member, key]: Path): Spot => {
      const line = typeof at === 'number' ? rows[at]!.line : 1
      const wanted = [`${member}.${key}`, String(member)]
      return { line, column: wanted.find(name => known.includes(name)) ?? '' }
    }
    return { source: { file, value, spotOf }, mistakes: [...wrong.map(one => one.mistake), ...long] }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return unreadable(file, { line: error.line, column: '' }, error.message)
  }
}

/** Someone may have listed the names of machines alone. */
const ALONE = '. If it is a machine, the first line must be: name'

function wrongColumn(name: string, { isAgain, isAlone }: { isAgain: boolean; isAlone: boolean }): string | null {
  if (name === '') return 'a column has no name'
  if (isAgain) return `the column ${name} is there twice`
  if (isKnown(name)) return null
  return `there is no column ${name}; call it extra.${name}, or what nodes have: ${shownMembers}${isAlone ? ALONE : ''}`
}

const MEMBERS = [...NODE_MEMBERS, ...BMC_MEMBERS]
const isKnown = (column: string) => MEMBERS.includes(columnOf(column).member)

const shownMembers = MEMBERS.filter(name => !name.endsWith('_interface')).join(', ')
