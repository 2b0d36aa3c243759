// The one sentence for a value that isn't as it should be: what was expected, for which member, and what came instead.
import { isObject } from './is-object.ts'
import { SECRET_KEY } from './secret-keys.ts'

const SHOWN_CHARS_MAX = 100

/** A value for a refusal: cut if it is long, and without what may stand inside it. */
function given(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'this list'
  if (isObject(value)) return 'this object'
  if (SECRET_KEY.test(name)) return 'this'
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text
}

/**
 * `wanted` in a few words, such as "a whole number from 1 to 9"; `flaw` if there is more to say of the value, such as
 * "is too long". Ironic's clients look for "Expected UUID for uuid", "is too long", "invalid name" and the like.
 */
export function expected(wanted: string, name: string, value: unknown, flaw = ''): string {
  const what = wanted.replace(/^a UUID/, 'UUID')
  const instead = given(name, value)
  return flaw === ''
    ? `Expected ${what} for ${name}, not ${instead}.`
    : `Expected ${what} for ${name}: ${instead} ${flaw}.`
}
