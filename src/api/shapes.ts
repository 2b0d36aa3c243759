// The shapes that answers are made of.
import { type TObject, type TProperties, type TSchema, type TSchemaOptions, Type } from 'typebox'

export const Text = Type.String()
export const Count = Type.Integer({ minimum: 0 })
export const Flag = Type.Boolean()
export const Uuid = Type.String({ format: 'uuid' })
/** Free-form. */
export const Document = Type.Object({}, { additionalProperties: true })

export const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
export const TextOrNull = orNull(Text)
export const FlagOrNull = orNull(Flag)

/** One of these words. */
export const oneOf = (...words: string[]) => Type.Unsafe<string>({ type: 'string', enum: words })

/** A shape with a name, under which documents keep it once. */
export const named = <P extends TProperties>(title: string, properties: P, options: TSchemaOptions = {}) =>
  Type.Object(properties, { title, ...options }) as TObject<P> & { title: string }

/** Values by names that are not known beforehand. */
export const byName = (value: TSchema) => Type.Unsafe<object>({ type: 'object', additionalProperties: value })

/** A member, or a whole shape, that came with a version. */
export const from = <S extends TSchema>(version: string, schema: S): S => ({ ...schema, 'x-holdfast-since': version })

const Link = named('Link', { rel: Text, href: Text })
export const Links = Type.Array(Link)
