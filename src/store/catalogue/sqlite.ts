// The catalogue of SQLite: it keeps the text that made each table, index, trigger and view. A table is told part by part,
// so that a column which an operator has added is not taken for a table that differs.

export const SQLITE_SCHEMA = `select type as kind, name, tbl_name as of, sql as text from sqlite_schema
  where sql is not null and name not like 'sqlite\\_%' escape '\\'`

export interface SqliteRow {
  kind: string
  name: string
  of: string
  text: string
}

/** A part's name and how it is defined. */
type Part = readonly [name: string, definition: string]

export function partsOfSqlite({ kind, name, of, text }: SqliteRow): Part[] {
  const plain = plainSql(text)
  if (kind === 'table') return partsOfTable(name, plain)
  return [[kind === 'view' ? `view ${name}` : `${kind} ${of}.${name}`, plain]]
}

/** The same SQL without comments, needless white space, and quotes around names: none of them changes what it does. */
export const plainSql = (text: string): string =>
  text
    .replaceAll(TOKENS, found => {
      if (found.startsWith("'")) return found
      if (found.startsWith('"')) return /^"[a-z_][a-z0-9_]*"$/.test(found) ? found.slice(1, -1) : found
      return ' '
    })
    .trim()

/** Texts and quoted names, which stay; comments and white space. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|(?:--[^\n]*|\/\*[^]*?\*\/|\s)+/g
const CONSTRAINT = /^(?:constraint|primary|unique|check|foreign)\b/i

function partsOfTable(table: string, plain: string): Part[] {
  const [begin, end] = [plain.indexOf('('), plain.lastIndexOf(')')]
  const parts = between(plain.slice(begin + 1, end)).map((part): Part => {
    if (CONSTRAINT.test(part)) return [`constraint ${table}.${part}`, part]
    const [column] = part.split(' ', 1)
    return [`column ${table}.${column}`, part.slice(column!.length + 1)]
  })
  return [[`table ${table}`, plain.slice(end + 1).trim()], ...parts]
}

/** What is between the commas that stand in no parentheses and in no text. */
export function between(list: string): string[] {
  const parts = ['']
  let depth = 0
  for (const token of list.match(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[^]/g) ?? []) {
    if (token === '(') depth++
    if (token === ')') depth--
    if (token === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += token
  }
  return parts.map(part => part.trim())
}
