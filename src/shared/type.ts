// Builds JSON schemas that carry a type. The types are typebox's; of its builders we need these few, and loading the
// library would load hundreds of files at each start.
import type { TSchema, Type as TypeBox } from 'typebox'

type Name = 'String' | 'Number' | 'Integer' | 'Boolean' | 'Null' | 'Unknown' | 'Literal' | 'Unsafe'
type Builders = Pick<typeof TypeBox, Name | 'Array' | 'Object' | 'Optional' | 'Record' | 'Union'>
type Options = object | undefined

const optional = new WeakSet<object>()

const requiredIn = (properties: Record<string, TSchema>) => {
  const required = Object.keys(properties).filter(name => !optional.has(properties[name]!))
  return required.length > 0 ? { required } : {}
}

/** A key is any text, or one with a pattern. */
const patternOf = (key: { pattern?: string }) => key.pattern ?? '^.*$'

const builders: Record<keyof Builders, (...given: never[]) => object> = {
  String: (options: Options) => ({ type: 'string', ...options }),
  Number: (options: Options) => ({ type: 'number', ...options }),
  Integer: (options: Options) => ({ type: 'integer', ...options }),
  Boolean: (options: Options) => ({ type: 'boolean', ...options }),
  Null: (options: Options) => ({ type: 'null', ...options }),
  Unknown: (options: Options) => ({ ...options }),
  Literal: (value: string | number | boolean, options: Options) => ({ type: typeof value, const: value, ...options }),
  Unsafe: (schema: TSchema) => ({ ...schema }),
  Array: (items: TSchema, options: Options) => ({ type: 'array', items, ...options }),
  Union: (anyOf: TSchema[], options: Options) => ({ anyOf, ...options }),
  Object: (properties: Record<string, TSchema>, options: Options) => ({
    type: 'object',
    ...requiredIn(properties),
    properties,
    ...options,
  }),
  Record: (key: { pattern?: string }, value: TSchema, options: Options) => ({
    type: 'object',
    patternProperties: { [patternOf(key)]: value },
    ...options,
  }),
  // A copy, because elsewhere the same schema may be required.
  Optional: (schema: TSchema) => {
    const copy = { ...schema }
    optional.add(copy)
    return copy
  },
}

export const Type = builders as unknown as Builders
