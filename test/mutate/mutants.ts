// The mutants of files, and samples of them that a number decides.
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { type Change as Placed, mutated } from '../../simulator/mutate.ts'
import { JUDGED } from './judged.ts'
import { type Change, changesOf } from './rules.ts'
import { migrationChanges } from './sql-rules.ts'

export const ROOT = join(import.meta.dirname, '../..')

/** A mutant that a rule made. */
export interface Mutant extends Placed {
  rule: string
  start: number
  /** From 1. */
  line: number
  /** The line as it is, without its indentation. */
  source: string
  /** What stays the same when lines move: sorts mutants, and finds them again. */
  key: string
}

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)

/** All files of the domain that these paths name: a file, or all in a folder. */
export function sourcesOf(paths: readonly string[]): string[] {
  const found = paths.flatMap(path =>
    /\.(ts|sql)$/.test(path) ? [path] : globSync(`${path}/**/*.{ts,sql}`, { cwd: ROOT }).toSorted(),
  )
  return [...new Set(found)].filter(file => file.startsWith('src/') && !/\.(test|d)\.ts$/.test(file))
}

/** All mutants of a file that still parse. */
export function mutantsOf(file: string): Mutant[] {
  const text = read(file)
  const seen = new Map<string, number>()
  return changes(file, text).flatMap(change => {
    const line = text.slice(0, change.start).split('\n').length
    const source = text.split('\n')[line - 1]!.trim()
    const what = `${file} ${source} ${change.rule} ${change.from} ${change.to}`
    const number = seen.get(what) ?? 0
    seen.set(what, number + 1)
    const mutant = { ...change, name: `${file}:${line}`, file, line, source, key: hash(`${what} ${number}`) }
    return parses(mutant, text) ? [mutant] : []
  })
}

function changes(file: string, text: string): Change[] {
  if (file.endsWith('.ts')) return changesOf(text)
  const dialect = /\.(postgres|sqlite)\.sql$/.exec(file)![0]
  const later = globSync(`src/store/migrations/*${dialect}`, { cwd: ROOT }).filter(other => other > file)
  return migrationChanges(text, later.map(read))
}

function parses(mutant: Mutant, text: string): boolean {
  if (!mutant.file.endsWith('.ts')) return true
  try {
    stripTypeScriptTypes(mutated(mutant, text))
    return true
  } catch {
    return false
  }
}

/** Whether its file is still as it was. */
export const isThere = ({ file, from, start }: Mutant): boolean => read(file).startsWith(from, start)

/** So many of them, always the same for a number; all if there are no more. */
export function sampleOf(mutants: readonly Mutant[], size: number, seed: number): Mutant[] {
  const chosen = mutants.toSorted((a, b) => (rank(a, seed) < rank(b, seed) ? -1 : 1)).slice(0, size)
  return chosen.toSorted((a, b) => (a.file === b.file ? a.start - b.start : a.file < b.file ? -1 : 1))
}

const rank = ({ key }: Mutant, seed: number) => hash(`${seed} ${key}`)

/** In one line. */
export const shown = (text: string): string => {
  const flat = text.replaceAll(/\s+/g, ' ').trim()
  return flat.length > 70 ? `${flat.slice(0, 67)}…` : flat
}
export const described = ({ rule, from, to }: Change): string => `${rule}: ${shown(from)} → ${shown(to) || 'nothing'}`

/** Why no test can tell it from the code, if someone has judged so. */
export const judgementOf = (mutant: Mutant): string | undefined =>
  JUDGED.find(
    ({ file, line, change }) => file === mutant.file && line === mutant.source && change === described(mutant),
  )?.why
