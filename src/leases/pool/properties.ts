// The query language of resource_properties: a string that holds JSON, such as ["and", [">=", "$vcpus", "8"], ["=", "$gpu", "yes"]].
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'

/** The properties of a host: its columns, which are numbers or strings, and its capabilities, which are strings. */
export type Facts = (key: string) => string | number | undefined

type Compare = (a: string | number, b: string | number) => boolean

const OPERATORS: Record<string, Compare> = {
  '=': (a, b) => a === b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '>=': (a, b) => a >= b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
}

type Query =
  | { kind: 'all'; terms: readonly Query[] }
  | { kind: 'any'; terms: readonly Query[] }
  | { kind: 'compare'; key: string; compare: Compare; value: string }

const EVERYTHING: Query = { kind: 'all', terms: [] }

export function parseProperties(text: string): Query {
  if (text.trim() === '') return EVERYTHING
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed(text)
  }
  if (Array.isArray(value) && value.length === 0) return EVERYTHING
  return parse(value, text, 0)
}

const malformed = (text: string) =>
  problem('lease_invalid', {
    reason:
      `Malformed resource properties: ${text.slice(0, 200)}; expected [OP, "$key", "value"] ` +
      `with OP one of ${Object.keys(OPERATORS).join(' ')}, or ["and" | "or", query, …].`,
  })

function parse(value: unknown, text: string, depth: number): Query {
  if (!Array.isArray(value) || depth > limits.propertiesDepthMax) throw malformed(text)
  const [operator, ...operands] = value as unknown[]
  if (operator === 'and' || operator === 'or') {
    if (operands.length === 0) throw malformed(text)
    const terms = operands.map(term => parse(term, text, depth + 1))
    return { kind: operator === 'and' ? 'all' : 'any', terms }
  }
  const [key, given] = operands
  const isComparison = typeof operator === 'string' && Object.hasOwn(OPERATORS, operator) && operands.length === 2
  if (!isComparison || typeof key !== 'string' || !/^\$./.test(key)) throw malformed(text)
  if (typeof given !== 'string' && typeof given !== 'number') throw malformed(text)
  return { kind: 'compare', key: key.slice(1), compare: OPERATORS[operator]!, value: String(given) }
}

/** A key that the host doesn't have matches nothing, not even "!=". */
export function matches(query: Query, facts: Facts): boolean {
  if (query.kind === 'all') return query.terms.every(term => matches(term, facts))
  if (query.kind === 'any') return query.terms.some(term => matches(term, facts))
  const fact = facts(query.key)
  if (fact === undefined) return false
  if (typeof fact === 'string') return query.compare(fact, query.value)
  const value = query.value.trim() === '' ? NaN : Number(query.value)
  return !Number.isNaN(value) && query.compare(fact, value)
}

/** The keys that a query asks about. */
export function keysOf(query: Query): string[] {
  return query.kind === 'compare' ? [query.key] : query.terms.flatMap(keysOf)
}
