// What a constraint or a unique index would have refused, as a query for the rows that break it: while it is missing,
// nothing else looks. Pure.
import { between } from './sqlite.ts'

/** Finds a row for each that breaks the part; null for parts that promise nothing about rows. */
export function rowsAgainst({ name, wanted }: { name: string; wanted: string }): string | null {
  const [, kind, table, column] = /^(\w+) ([^.]+)\.(.*)$/.exec(name) ?? []
  if (table === undefined) return null
  if (kind === 'column') return /\bnot null\b/i.test(wanted) ? `select 1 from ${table} where ${column} is null` : null
  if (kind === 'constraint') return rowsAgainstConstraint(table, wanted)
  const index = /^create unique index .+? on (?:.+? using btree|\w+) ?(?=\()/i.exec(wanted)
  if (kind !== 'index' || !index) return null
  const [columns, rest] = inParentheses(wanted.slice(index[0].length))
  return twice(table, columns, /^ ?where (.*)$/i.exec(rest)?.[1] ?? null)
}

function rowsAgainstConstraint(table: string, wanted: string): string | null {
  const [word] = /^[a-z ]+/i.exec(wanted) ?? ['']
  const [inside, rest] = inParentheses(wanted.slice(word.length))
  switch (word.trim().toLowerCase()) {
    case 'unique':
    case 'primary key':
      return twice(table, inside, null)
    case 'check':
      return `select 1 from ${table} where not (${inside})`
    case 'foreign key':
      return dangling(table, between(inside), rest)
  }
  return null
}

/** Of rows that are equal in these columns, nulls apart, one. */
function twice(table: string, list: string, condition: string | null): string {
  const columns = between(list).map(column => column.replace(/ (?:asc|desc)$/i, ''))
  const known = columns.map(column => `(${column}) is not null`)
  const where = [...known, ...(condition === null ? [] : [`(${condition})`])].join(' and ')
  return `select 1 from ${table} where ${where} group by ${columns.join(', ')} having count(*) > 1`
}

function dangling(table: string, columns: string[], rest: string): string | null {
  const [, parent, list] = /^ ?references (\w+) ?\(([^)]*)\)/i.exec(rest) ?? []
  if (parent === undefined) return null
  const same = between(list!).map((target, i) => `target.${target} = ${table}.${columns[i]}`)
  const known = columns.map(column => `${column} is not null`)
  return `select 1 from ${table} where ${known.join(' and ')}
    and not exists (select 1 from ${parent} as target where ${same.join(' and ')})`
}

/** What is in the parentheses at the beginning, and what follows them. */
function inParentheses(text: string): [inside: string, rest: string] {
  let [depth, end] = [0, 0]
  for (const [token] of text.matchAll(/'(?:[^']|'')*'|[^]/g)) {
    end += token.length
    if (token === '(') depth++
    if (token === ')' && --depth === 0) break
  }
  return [text.slice(1, end - 1), text.slice(end)]
}
