// Values made from a schema: some that it allows, and some that it just doesn't.
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { canonicalUuid } from '../../src/ledger/uuid.ts'

interface Schema {
  type?: string
  anyOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  items?: Schema
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  properties?: Record<string, Schema>
  required?: string[]
  patternProperties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  minProperties?: number
}

const ajv = new Ajv2020({ strict: false, validateSchema: false })
ajv.addFormat('uuid', text => canonicalUuid(text) !== null)

/** Whether a schema allows a value. */
export const allows = (schema: object): ((value: unknown) => boolean) => {
  const validate = ajv.compile(schema)
  return value => validate(value)
}

const SOME = 3
const LETTERS_MAX = 20

/** What the schema allows. */
export const allowed = (schema: object) => valueOf(schema).filter(allows(schema))

/** What it doesn't: something allowed, changed in one place. */
export const refused = (schema: object) => {
  const isAllowed = allows(schema)
  return fc
    .tuple(valueOf(schema), fc.nat(), fc.nat(), fc.jsonValue({ maxDepth: 1 }))
    .map(([value, where, how, other]) => changed(value, where, how, other))
    .filter(value => !isAllowed(value))
}

function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valueOf))
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'string':
      return textOf(schema)
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000, max: Math.min(schema.maximum ?? 1_000, 2 ** 31 - 1) })
    case 'number':
      return fc.integer({ min: schema.minimum ?? 0, max: 1_000 })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return listOf(schema)
    case 'object':
      return objectOf(schema)
    default:
      return fc.jsonValue({ maxDepth: 1 })
  }
}

function textOf({ format, pattern, minLength = 0, maxLength = LETTERS_MAX }: Schema): fc.Arbitrary<string> {
  if (format === 'uuid') return fc.uuid()
  const fits = (text: string) => text.length >= minLength && text.length <= maxLength
  if (pattern !== undefined) {
    // Nothing is made from what only looks around; what it doesn't allow is dropped in the end.
    const made = new RegExp(pattern.replaceAll(/\(\?<?[!=][^)]*\)/g, ''))
    return fc.stringMatching(made, { size: '-1' }).filter(text => fits(text) && new RegExp(pattern).test(text))
  }
  return fc.string({ minLength, maxLength: Math.min(maxLength, Math.max(minLength, LETTERS_MAX)) })
}

function listOf({ items = {}, minItems = 0, maxItems = SOME, uniqueItems }: Schema): fc.Arbitrary<unknown> {
  const length = { minLength: minItems, maxLength: Math.min(maxItems, Math.max(minItems, SOME)) }
  return uniqueItems ? fc.uniqueArray(valueOf(items), length) : fc.array(valueOf(items), length)
}

function objectOf(schema: Schema): fc.Arbitrary<object> {
  const { properties = {}, required = [], patternProperties = {}, minProperties = 0 } = schema
  const known = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, valueOf(inner)])),
    { requiredKeys: required },
  ) as fc.Arbitrary<object>
  const [first] = Object.entries(patternProperties)
  const further =
    first === undefined
      ? typeof schema.additionalProperties === 'object'
        ? fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), valueOf(schema.additionalProperties), { maxKeys: SOME })
        : fc.constant({})
      : fc.dictionary(fc.stringMatching(new RegExp(first[0])), valueOf(first[1]), {
          minKeys: minProperties,
          maxKeys: Math.max(minProperties, SOME),
        })
  return fc.tuple(further, known).map(([more, members]) => ({ ...more, ...members }))
}

/** The value with one of its places taken out, replaced, or given a member that nobody knows. */
function changed(value: unknown, where: number, how: number, other: unknown): unknown {
  const isHolder = typeof value === 'object' && value !== null
  const keys = isHolder ? Object.keys(value) : []
  if (!isHolder || (keys.length > 0 && where % 4 === 0) || how % 7 === 0) return other
  const key = keys[where % keys.length]
  if (key === undefined || how % 7 === 1)
    return Array.isArray(value) ? [...value, other] : { ...value, 'x-unknown': other }
  if (Array.isArray(value)) return value.with(Number(key), changed(value[Number(key)], where >> 2, how >> 3, other))
  const { [key]: inner, ...rest } = value as Record<string, unknown>
  return how % 7 === 2 ? rest : { ...rest, [key]: changed(inner, where >> 2, how >> 3, other) }
}
