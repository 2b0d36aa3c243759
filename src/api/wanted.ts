// What a value should be, in a few words. They are made from the schema that the document shows, so check, document and
// refusal agree; where a pattern would say it badly, the schema's description says it.
import type { TSchema } from 'typebox'
import { expected } from '../shared/expected.ts'

interface Schema {
  description?: string
  type?: string | readonly string[]
  format?: string
  pattern?: string
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: readonly Schema[]
  items?: Schema
  required?: readonly string[]
  properties?: Readonly<Record<string, Schema>>
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minProperties?: number
  minimum?: number
  maximum?: number
}

const WORDS_MAX = 30

/** The values that a schema allows, such as "a string of at most 80 characters" or "one of asc, desc". */
export const wanted = (schema: TSchema): string => wordsOf(schema)

function wordsOf(schema: Schema): string {
  const { description, anyOf, enum: words, const: only, type } = schema
  if (description !== undefined)
    return description.replace(/^[A-Z](?![A-Z])/, first => first.toLowerCase()).replace(/\.$/, '')
  if (anyOf) return [...new Set(anyOf.map(wordsOf))].join(' or ')
  if (words) return wordsAmong(words)
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(type)) return type.map(one => wordsOf({ ...schema, type: one })).join(' or ')
  switch (type as string | undefined) {
    case 'string':
      return stringWords(schema)
    case 'integer':
      return `a whole number${range(schema.minimum, schema.maximum)}`
    case 'number':
      return `a number${range(schema.minimum, schema.maximum)}`
    case 'boolean':
      return 'true or false'
    case 'null':
      return 'null'
    case 'array':
      return `a list${sizes(schema.minItems, schema.maxItems, 'item')}${schema.items ? `, each ${wordsOf(schema.items)}` : ''}`
    case 'object':
      return objectWords(schema)
    default:
      return 'any value'
  }
}

function wordsAmong(words: readonly unknown[]): string {
  const shown = words.map(word => (typeof word === 'string' && word !== '' ? word : JSON.stringify(word)))
  if (shown.length === 1) return shown[0]!
  return `one of ${shown.slice(0, WORDS_MAX).join(', ')}${shown.length > WORDS_MAX ? ', …' : ''}`
}

function stringWords({ format, pattern, minLength, maxLength }: Schema): string {
  if (format === 'uuid') return 'a UUID'
  if (format !== undefined) return `a ${format}`
  const matching = pattern === undefined ? '' : ` that matches ${pattern}`
  return `a string${sizes(minLength, maxLength, 'character')}${matching}`
}

function objectWords({ required = [], properties = {}, minProperties }: Schema): string {
  const [names, all] = [required, Object.keys(properties)]
  if (names.length > 0) return `an object with ${names.join(', ')}`
  if (all.length > 0) return `an object with any of ${all.slice(0, WORDS_MAX).join(', ')}`
  return minProperties === undefined ? 'an object' : `an object of at least ${minProperties} members`
}

function range(min: number | undefined, max: number | undefined): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`
  if (min !== undefined) return ` of at least ${min}`
  return max === undefined ? '' : ` of at most ${max}`
}

function sizes(min: number | undefined, max: number | undefined, unit: string): string {
  const units = (n: number) => `${n} ${unit}${n === 1 ? '' : 's'}`
  if (min && max !== undefined) return ` of ${min} to ${units(max)}`
  if (min) return ` of at least ${units(min)}`
  return max === undefined ? '' : ` of at most ${units(max)}`
}

/** What is wrong about a value of the right type. */
function flawOf(schema: Schema, name: string, value: unknown): string {
  const options = (schema.anyOf ?? [schema]).filter(({ type }) =>
    typeof value === 'string' ? type === 'string' : Array.isArray(value) && type === 'array',
  )
  if (options.length === 0) return ''
  const { length } = value as string | readonly unknown[]
  const isOutside = (low: number | undefined, high: number | undefined) =>
    length < (low ?? 0) ? 'is too short' : length > (high ?? Infinity) ? 'is too long' : ''
  const flaws = options.map(({ minLength, maxLength, minItems, maxItems, pattern }) => {
    const outside = typeof value === 'string' ? isOutside(minLength, maxLength) : isOutside(minItems, maxItems)
    if (outside !== '' || typeof value !== 'string' || pattern === undefined) return outside
    return new RegExp(pattern, 'u').test(value) ? '' : `is an invalid ${name}, it does not match`
  })
  return flaws.includes('') ? '' : flaws[0]!
}

/** The refusal of a value that a member's schema doesn't allow. */
export const unexpected = (schema: TSchema, name: string, value: unknown): string =>
  expected(wanted(schema), name, value, flawOf(schema, name, value))
