// Building blocks for the schemas of answers.
import type { TObject, TProperties, TSchema, TSchemaOptions } from 'typebox'
import { Type } from '../shared/type.ts'

export const Text = Type.String()
export const Count = Type.Integer({ minimum: 0 })
export const Flag = Type.Boolean()
/** Command lines send flags as words. */
export const FlagWord = Type.Union(
  [
    Type.Boolean(),
    Type.String({
      pattern:
        '^\\s*([Tt]([Rr][Uu][Ee])?|[Ff]([Aa][Ll][Ss][Ee])?|[Yy]([Ee][Ss])?|[Nn][Oo]?|[Oo]([Nn]|[Ff][Ff])|[01])\\s*$',
    }),
  ],
  { description: 'True or false.' },
)
export const Uuid = Type.String({ format: 'uuid' })
/** An object with any members. */
export const Document = Type.Object({}, { additionalProperties: true })

export const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
export const TextOrNull = orNull(Text)
export const FlagOrNull = orNull(Flag)

/** One of these words. */
export const oneOf = (...words: string[]) => Type.Unsafe<string>({ type: 'string', enum: words })

/** A named shape: documents keep it once and refer to it. */
export const named = <P extends TProperties>(title: string, properties: P, options: TSchemaOptions = {}) =>
  Type.Object(properties, { title, ...options }) as TObject<P> & { title: string }

/** An object whose member names are not known beforehand. */
export const byName = (value: TSchema) => Type.Unsafe<object>({ type: 'object', additionalProperties: value })

/** Marks a member, or a whole shape, with the version that brought it. */
export const from = <S extends TSchema>(version: string, schema: S): S => ({ ...schema, 'x-holdfast-since': version })

const Link = named('Link', { rel: Text, href: Text })
export const Links = Type.Array(Link)
