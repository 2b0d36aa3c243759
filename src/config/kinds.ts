// What a setting is, and the kinds that many are of.
import { type TSchema, Type } from 'typebox'
import { limits } from '../shared/limits.ts'

export interface Setting {
  flag: string
  is: TSchema
  fallback: unknown
  help: string
  /** How its value is shown where it could be read by others. */
  masked?: (value: string) => string
}

export const oneOf = <T extends string>(...values: T[]) => Type.Unsafe<T>({ type: 'string', enum: values })
export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const text = Type.String({ minLength: 1 })
export const yesOrNo = Type.Boolean()
export const port = Type.Integer({ minimum: 0, maximum: 65_535 })
export const minutes = Type.Integer({ minimum: 0, maximum: limits.leaseMinutesMax })
