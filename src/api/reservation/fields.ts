// Reads members of a body by their type. A wrong value is refused in one sentence.
import { limits } from '../../shared/limits.ts'
import { type Problem, problem } from '../../problems/problem.ts'

export const refused = (reason: string): Problem => problem('malformed_request', { reason })

/** A value for an error message, cut if it is long. */
export const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 100))

export function textOf(value: unknown, name: string, charsMax: number): string {
  if (typeof value !== 'string') throw refused(`${name} must be a string, not ${shown(value)}.`)
  if (value.length > charsMax) throw refused(`${name} must have at most ${charsMax} characters.`)
  return value
}

/** A text that isn't blank. */
export function nameOf(value: unknown, name: string, charsMax: number): string {
  const text = textOf(value, name, charsMax)
  if (text.trim() === '') throw refused(`${name} must not be empty.`)
  return text
}

/** A whole number, which command lines send as text too. */
export function integerOf(value: unknown, name: string, { min, max }: { min: number; max: number }): number {
  const number = typeof value === 'string' && /^\s*\d{1,16}\s*$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isInteger(number) || number < min || number > max) {
    throw refused(`${name} must be a whole number from ${min} to ${max}, not ${shown(value)}.`)
  }
  return number
}

const AFFINITIES = new Map<unknown, boolean | null>([
  [undefined, null],
  [null, null],
  [true, true],
  [false, false],
  ['none', null],
  ['true', true],
  ['false', false],
])

/** Whether instances must share a host (true), must not (false), or either (null); command lines send it as text. */
export function affinityOf(value: unknown): boolean | null {
  const found = AFFINITIES.get(typeof value === 'string' ? value.toLowerCase() : value)
  if (found === undefined) throw refused(`affinity must be True, False or None, not ${shown(value)}.`)
  return found
}

const FLAGS = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  ['true', true],
  ['false', false],
])

export function flagOf(value: unknown, name: string): boolean {
  const found = FLAGS.get(typeof value === 'string' ? value.toLowerCase() : value)
  if (found === undefined) throw refused(`${name} must be true or false, not ${shown(value)}.`)
  return found
}

/** A query on hosts: JSON in a string. The search for hosts parses it. */
export function propertiesOf(value: unknown, name: string): string {
  return value === undefined || value === null ? '' : textOf(value, name, limits.propertiesCharsMax)
}
