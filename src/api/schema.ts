// Checks JSON bodies and query strings against typebox schemas. The errors copy the words of Python's jsonschema, which
// OpenStack's clients and tests expect.
import { Ajv, type AnySchemaObject, type ErrorObject, type ValidateFunction } from 'ajv'
import type { Static, TSchema } from 'typebox'
import { canonicalUuid } from '../ledger/uuid.ts'
import { isObject } from '../shared/is-object.ts'
import { limits } from '../shared/limits.ts'
import type { Form } from './operation.ts'
import { wanted } from './wanted.ts'

const ajv = new Ajv({ strict: false, verbose: true, allowUnionTypes: true })
ajv.addFormat('uuid', text => canonicalUuid(text) !== null)

/** What is wrong with a value: in the words of jsonschema, which show it, and in words that don't. */
interface Wrong {
  ok: false
  reason: string
  unshown: string
}

/** Returns the value with its type, or what is wrong with it. */
export interface Check<T> extends Form {
  (value: unknown): { ok: true; value: T } | Wrong
}

/** The schema is compiled at its first use: compiling all of them would be a quarter of the time to start. */
export function check<S extends TSchema>(schema: S): Check<Static<S>> {
  let validate: ValidateFunction | null = null
  const checked: Check<Static<S>> = value => {
    validate ??= ajv.compile(schema)
    if (!validate(value)) return wrongOf(validate.errors![0]!)
    return { ok: true, value: value as Static<S> }
  }
  checked.schema = schema
  return checked
}

/**
 * Checks the members of an object some at a time, if the schema says the same of each of them. False also means that
 * this can't be said in parts.
 */
export function* partsPass<T>(check: Check<T>, value: unknown): Generator<undefined, boolean, void> {
  const { patternProperties, properties } = check.schema as AnySchemaObject
  if (!isObject(value) || patternProperties === undefined || properties !== undefined) return false
  const members = Object.entries(value)
  for (let from = 0; from < members.length; from += limits.membersPerTurn) {
    if (!check(Object.fromEntries(members.slice(from, from + limits.membersPerTurn))).ok) return false
    yield
  }
  return members.length > 0
}

function wrongOf(error: ErrorObject): Wrong {
  return { ok: false, reason: reasonOf(error), unshown: unshownOf(error) }
}

function unshownOf({ keyword, params, instancePath, parentSchema }: ErrorObject): string {
  const place = instancePath.split('/').slice(1).join('.') || 'the body'
  if (keyword === 'required') return `${show(params['missingProperty'])} is a required property of ${place}.`
  const wrong = keyword === 'additionalProperties' ? `${params['additionalProperty']} in ${place}` : place
  return `${wrong} is not valid: expected ${hintOf(parentSchema)}.`
}

/** What would be right, where jsonschema's words don't say it. */
const UNSAID = new Set(['minLength', 'maxLength', 'minItems', 'maxItems', 'maxProperties', 'anyOf', 'const', 'not'])
const HINT_CHARS_MAX = 400

function hintOf(schema: AnySchemaObject | undefined): string {
  const words = wanted(schema ?? {})
  return words.length > HINT_CHARS_MAX ? `${words.slice(0, HINT_CHARS_MAX)}…` : words
}

function reasonOf(error: ErrorObject): string {
  const { keyword, parentSchema } = error
  const isSaid = !UNSAID.has(keyword) && (keyword !== 'pattern' || parentSchema?.['description'] === undefined)
  const hint = isSaid ? '' : ` (expected ${hintOf(parentSchema)})`
  const where = error.schemaPath.split('/').slice(1, -1)
  const at = error.instancePath.split('/').slice(1)
  const path = (parts: readonly string[]) => parts.map(part => `['${part}']`).join('')
  return `${describe(error)}${hint}  Failed validating '${error.keyword}' in schema${path(where)}:  On instance${path(at)}`
}

function describe({ keyword, params, data, parentSchema }: ErrorObject): string {
  const given = show(data)
  switch (keyword) {
    case 'required':
      return `${show(params['missingProperty'])} is a required property`
    case 'additionalProperties':
      return unexpected(show(params['additionalProperty']), parentSchema)
    case 'type':
      return `${given} is not of type ${[params['type']].flat().map(show).join(', ')}`
    case 'minimum':
      return `${given} is less than the minimum of ${params['limit']}`
    case 'maximum':
      return `${given} is greater than the maximum of ${params['limit']}`
    case 'minLength':
      return `${given} is too short`
    case 'maxLength':
      return `${given} is too long`
    case 'maxItems':
      return `${given} is too long`
    case 'maxProperties':
      return `${given} has too many properties: at most ${params['limit']}`
    case 'minItems':
    case 'minProperties':
      return `${given} does not have enough properties: it should be non-empty`
    case 'uniqueItems':
      return `${given} has non-unique elements`
    case 'pattern':
      return `${given} does not match '${params['pattern']}'`
    case 'format':
      return `${given} is not a '${params['format']}'`
    case 'enum':
      return `${given} is not one of [${(params['allowedValues'] as unknown[]).map(show).join(', ')}]`
    case 'anyOf':
      return `${given} is not valid under any of the given schemas`
    default:
      return `${given} is not valid`
  }
}

function unexpected(name: string, schema: AnySchemaObject | undefined): string {
  const patterns = Object.keys((schema?.['patternProperties'] as object | undefined) ?? {})
  if (patterns.length === 0) {
    const known = Object.keys((schema?.['properties'] as object | undefined) ?? {})
    const right = known.length === 0 ? '' : `, expected only ${known.join(', ')}`
    return `Additional properties are not allowed (${name} was unexpected)${right}`
  }
  return `${name} does not match any of the regexes: ${patterns.map(pattern => `'${pattern}'`).join(', ')}`
}

/** A value for an error message: quoted as in Python, and cut if it is long. */
function show(value: unknown): string {
  const text = typeof value === 'string' ? `'${value}'` : asJson(value)
  return text.length > 300 ? `${text.slice(0, 297)}...` : text
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'undefined'
  } catch {
    // JSON.parse reads any depth, but JSON.stringify overflows the stack.
    return 'a value that is nested too deep'
  }
}
