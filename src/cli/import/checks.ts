// Small checks that combine into checks of a whole document. Each reports everything that is wrong, and where.
import type { Path } from './mistake.ts'
import { isObject } from '../../shared/is-object.ts'

export interface Finding {
  path: Path
  says: string
}

export type Check = (value: unknown, path: Path) => Finding[]

/** The value for an error message, shortened. */
export const shown = (value: unknown) => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

const unless =
  (isFine: (value: unknown) => boolean, expected: string): Check =>
  (value, path) =>
    isFine(value) ? [] : [{ path, says: `${shown(value)} is not ${expected}` }]

export const flag = unless(value => typeof value === 'boolean', 'true or false')
export const text = (max: number, min = 0) =>
  unless(
    value => typeof value === 'string' && value.length >= min && value.length <= max,
    `a text of ${min > 0 ? `${min} to` : 'at most'} ${max} characters`,
  )
export const matching = (pattern: RegExp, expected: string) =>
  unless(value => typeof value === 'string' && pattern.test(value), expected)
export const oneOf = (words: readonly string[]) =>
  unless(value => words.includes(value as string), `one of ${words.join(', ')}`)
export const whole = (min: number, max: number) =>
  unless(
    value => Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
    `a whole number from ${min} to ${max}`,
  )
export const positive = unless(value => typeof value === 'number' && value > 0 && value < 3.4e38, 'a number above zero')
export const textOrNumber = (max: number) =>
  unless(
    value => (typeof value === 'string' || typeof value === 'number') && String(value).length <= max,
    `a text of at most ${max} characters`,
  )

/** null removes a value. */
export const orNull =
  (check: Check): Check =>
  (value, path) =>
    value === null ? [] : check(value, path)

/** Any object of at most `bytesMax` bytes. */
export const anyObject =
  (bytesMax: number): Check =>
  (value, path) => {
    if (!isObject(value)) return [{ path, says: `${shown(value)} is not an object` }]
    return JSON.stringify(value).length <= bytesMax ? [] : [{ path, says: `is larger than ${bytesMax} bytes` }]
  }

export const listOf =
  (item: Check, max = Infinity): Check =>
  (value, path) => {
    if (!Array.isArray(value)) return [{ path, says: `${shown(value)} is not a list` }]
    const tooMany = value.length > max ? [{ path, says: `has ${value.length} items, and may have ${max}` }] : []
    return [...tooMany, ...value.flatMap((one, at) => item(one, [...path, at]))]
  }

/** An object with only these members. */
export const objectOf =
  (members: Readonly<Record<string, Check>>, needed: readonly string[] = []): Check =>
  (value, path) => {
    if (!isObject(value)) return [{ path, says: `${shown(value)} is not an object` }]
    const missing = needed.filter(name => !Object.hasOwn(value, name)).map(name => ({ path, says: `has no ${name}` }))
    const found = Object.entries(value).flatMap(([name, inner]) => {
      if (Object.hasOwn(members, name)) return members[name]!(inner, [...path, name])
      const known = Object.keys(members).filter(one => !one.endsWith('_interface'))
      return [{ path: [...path, name], says: `is unknown here; there are ${known.join(', ')}` }]
    })
    return [...missing, ...found]
  }

/** An object with free names: `name` checks each name, `member` each value. */
export const mapOf =
  (name: Check, member: Check, max = Infinity): Check =>
  (value, path) => {
    if (!isObject(value)) return [{ path, says: `${shown(value)} is not an object` }]
    const entries = Object.entries(value)
    const tooMany = entries.length > max ? [{ path, says: `has ${entries.length} members, and may have ${max}` }] : []
    const found = entries.flatMap(([key, inner]) => [...name(key, [...path, key]), ...member(inner, [...path, key])])
    return [...tooMany, ...found]
  }

/** A value with a short and a long form, such as a port as its MAC address or as an object. */
export const either =
  (isShort: (value: unknown) => boolean, short: Check, long: Check): Check =>
  (value, path) =>
    isShort(value) ? short(value, path) : long(value, path)

export const also =
  (...checks: readonly Check[]): Check =>
  (value, path) =>
    checks.flatMap(check => check(value, path))
