// Values in the bodies of a BMC: numbers may be text, and what the maker forgot to fill in counts as nothing.
import { isObject } from '../../../shared/is-object.ts'
import { limits } from '../../../shared/limits.ts'
import { numberIn } from '../../../shared/scalar.ts'
import type { Json } from '../port.ts'

const NOTHING =
  /^(n\/?a|none|null|unknown|unspecified|not (specified|available|present)|default string|to be filled by o\.?e\.?m\.?|system (product name|manufacturer|serial number)|0+|\.+)$/i
/** Longer names are no names. */
const CHARS_MAX = 255

/** The first of these members that says something. */
export function textIn(body: unknown, ...names: readonly string[]): string | undefined {
  if (!isObject(body)) return undefined
  for (const name of names) {
    const value = body[name]
    if (typeof value !== 'string') continue
    const text = value
      .slice(0, limits.redfishTextMax)
      .toWellFormed()
      .replaceAll(/[\s\p{Cc}]+/gu, ' ')
      .trim()
    if (text !== '' && !NOTHING.test(text)) return text.slice(0, CHARS_MAX)
  }
  return undefined
}

/** The first of these members that is a number above zero. */
export function amountIn(body: unknown, ...names: readonly string[]): number | undefined {
  if (!isObject(body)) return undefined
  return names.map(name => numberIn(body[name])).find(number => Number.isFinite(number) && number > 0)
}

export const objectIn = (body: unknown, name: string): Json =>
  isObject(body) && isObject(body[name]) ? body[name] : {}

export const listIn = (body: unknown, name: string): Json[] =>
  isObject(body) && Array.isArray(body[name]) ? (body[name] as unknown[]).filter(isObject) : []

/** An empty bay or socket is listed too. */
export const isThere = (body: Json) => objectIn(body, 'Status')['State'] !== 'Absent'

/** The object without the members that nothing is known of. */
export const known = <T extends object>(members: { [Name in keyof T]: T[Name] | undefined }): T =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T

export const total = (numbers: readonly (number | undefined)[]): number | undefined => {
  const sum = numbers.reduce<number>((all, one) => all + (one ?? 0), 0)
  return sum > 0 ? sum : undefined
}
