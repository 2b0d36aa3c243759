// Schemas that several bodies share.
import { problem } from '../../problems/problem.ts'
import { limits } from '../../shared/limits.ts'
import type { ComputeRequest } from './request.ts'
import { Type } from '../../shared/type.ts'

/** No blanks around a name: people read names in tables and type them again. */
export const Name = Type.String({ minLength: 1, maxLength: 255, pattern: '^\\S(.*\\S)?$' })

/** A whole number, which older clients send as text. */
export const whole = (minimum: number, maximum: number = limits.flavorNumberMax) =>
  Type.Union([Type.Integer({ minimum, maximum }), Type.String({ pattern: '^\\d{1,10}$' })])

/** An object of texts by key, with at most this many members. */
export const texts = (maxProperties: number) =>
  Type.Unsafe<Record<string, string | number>>({
    type: 'object',
    patternProperties: {
      '^[a-zA-Z0-9\\-_:. ]{1,255}$': { anyOf: [{ type: 'string', maxLength: 255 }, { type: 'number' }] },
    },
    additionalProperties: false,
    maxProperties,
  })

export const closed = { additionalProperties: false } as const

export const asTexts = (given: Readonly<Record<string, string | number>>): Record<string, string> =>
  Object.fromEntries(Object.entries(given).map(([key, value]) => [key, String(value)]))

/** The description of a server. */
export const Description = Type.Union([Type.String({ maxLength: 255 }), Type.Null()])

/** Versions without descriptions refuse them, as any other member that they don't know. */
export function requireDescribable({ has }: ComputeRequest, given: { description?: string | null }): void {
  if (given.description === undefined || has.descriptions) return
  throw problem('compute_invalid', {
    reason: "Additional properties are not allowed ('description' was unexpected)",
  })
}
