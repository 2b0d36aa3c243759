// Mutants of SQL by rule: comparisons, guards, and statements of functions. SQL is read token by token, not parsed.
import type { Change } from './rules.ts'

const SWAPPED: readonly [RegExp, string][] = [
  [/<=/y, '<'],
  [/>=/y, '>'],
  [/<>/y, '='],
  [/!=/y, '='],
  [/<(?![<>=@])/y, '<='],
  [/>(?![>=])/y, '>='],
  [/(?<![:<>!=])=(?!>)/y, '<>'],
  [/ \+ /y, ' - '],
  [/ - /y, ' + '],
  [/\band\b/iy, 'or'],
  [/\bor\b(?! replace)/iy, 'and'],
  [/\bis not null\b/iy, 'is null'],
  [/\bis null\b/iy, 'is not null'],
  [/\bnot exists\b/iy, 'exists'],
  [/(?<!if |not )\bexists\b/iy, 'not exists'],
  [/(?<!is )\bnot in\b/iy, 'in'],
  [/\bmin\(/iy, 'max('],
  [/\bmax\(/iy, 'min('],
  [/\bleast\(/iy, 'greatest('],
  [/\bgreatest\(/iy, 'least('],
  [/\bleft join\b/iy, 'join'],
  [/ desc\b/iy, ' asc'],
]

/** A statement of a function that can be left out, to its semicolon. */
const STATEMENT =
  /(?<=^[ \t]*|\bthen )(?:update|delete from|insert into|perform|raise exception|return query)\b[^;]*;/gim

/** Comments, texts, and what names things rather than compares them. */
const BLANK = /--[^\n]*|'(?:[^']|'')*'|\bcreate (?:unique )?index\b[^;]*;/gi

/** Every change that a rule makes of this SQL. */
export function sqlChanges(text: string): Change[] {
  const bare = text.replaceAll(BLANK, found => ' '.repeat(found.length))
  const found: Change[] = []
  for (let start = 0; start < bare.length; start++) {
    for (const [pattern, to] of SWAPPED) {
      pattern.lastIndex = start
      const from = pattern.exec(bare)?.[0]
      if (from === undefined) continue
      found.push({ rule: 'sql', start, from, to })
      start += from.length - 1
      break
    }
  }
  return found
}

/** What runs: functions of PostgreSQL, triggers of SQLite. */
const FUNCTION = /^create (?:or replace )?(?:function|trigger) (\w+)[^;]*?\bbegin\b[\s\S]*?^end(?: \$\$)?;/gm

/** The changes of a migration: of its functions that no later migration makes anew, and of its constraints. */
export function migrationChanges(text: string, later: readonly string[]): Change[] {
  const found: Change[] = []
  const replaced = (name: string) => later.some(one => one.includes(`create or replace function ${name}(`))
  for (const { index, 0: body, 1: name } of text.matchAll(FUNCTION)) {
    if (replaced(name!)) continue
    const from = body.search(/\bbegin\b/)
    for (const change of sqlChanges(body.slice(from))) found.push({ ...change, start: index + from + change.start })
    for (const { index: at, 0: statement } of body.slice(from).matchAll(STATEMENT)) {
      found.push({ rule: 'no statement', start: index + from + at, from: statement, to: 'null;' })
    }
  }
  const rest = text.replaceAll(FUNCTION, body => ' '.repeat(body.length))
  for (const { index, 0: check } of rest.matchAll(/\bcheck \([^\n]*\)/g)) {
    for (const change of sqlChanges(check)) found.push({ ...change, start: index + change.start })
  }
  return found.toSorted((a, b) => a.start - b.start)
}
