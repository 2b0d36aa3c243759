// The type of a setting, and the schemas that many settings share.
import type { TSchema } from 'typebox'
import { limits } from '../shared/limits.ts'
import { Type } from '../shared/type.ts'

export interface Setting {
  flag: string
  is: TSchema
  fallback: unknown
  help: string
  /** Masks the value where others could read it. */
  masked?: (value: string) => string
  /** The members of an object that are masked, wherever they are in it. */
  secret?: string
}

export const oneOf = <T extends string>(...values: T[]) => Type.Unsafe<T>({ type: 'string', enum: values })
export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const text = Type.String({ minLength: 1 })
export const yesOrNo = Type.Boolean()
export const port = Type.Integer({ minimum: 0, maximum: 65_535 })
export const minutes = Type.Integer({ minimum: 0, maximum: limits.leaseMinutesMax })
