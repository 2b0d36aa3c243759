// JSON in the database. Rows hold it as text, and most of it is never parsed: a list of nodes is joined from such
// texts. The type says what is in a text; only this file parses and writes it.
//
// A text may be damaged: a disk, a restore, someone's hand. So whoever reads one says which shape it must have. What
// only shows it (`shownIn`) goes on without it; what decides or writes (`jsonIn`) refuses, because a guess could harm.
import { isObject } from './is-object.ts'
import { Listeners } from './listeners.ts'

export type Json = Record<string, unknown>

/** A JSON text with a value of this type in it. */
export type JsonText<T> = string & { readonly json: T }

/** What must be in a text, as far as its readers rely on it. */
export interface Shape<T> {
  /** In words: `a list of texts`. */
  readonly words: string
  readonly fits: (value: unknown) => boolean
  /** What is shown in place of one that can't be read. */
  empty(): T
}

/** A stored text that isn't what it must be. Its content may be a secret, so it isn't said. */
export class Unreadable extends Error {
  /** What should be there. */
  readonly words: string
  constructor(words: string) {
    super(`what is stored is not ${words}`)
    this.words = words
  }
}

const readers = new Listeners<Unreadable>(() => {})
/** Calls the listener for each text that can't be read, whoever reads it; the returned function removes it. */
export const onUnreadable = (heard: (error: Unreadable) => void): (() => void) => readers.add(heard)

/** For what decides or writes: throws `Unreadable`. */
export function jsonIn<T>(text: JsonText<T>, shape: Shape<NoInfer<T>>): T {
  const value = parsed(text)
  if (shape.fits(value)) return value as T
  const error = new Unreadable(shape.words)
  readers.tell(error)
  throw error
}

/** For what only shows it: an empty one if it can't be read. */
export function shownIn<T>(text: JsonText<T>, shape: Shape<NoInfer<T>>): T {
  const value = parsed(text)
  if (shape.fits(value)) return value as T
  readers.tell(new Unreadable(shape.words))
  return shape.empty()
}

/** For what can go on without this row. */
export function isReadable<T>(text: JsonText<T>, shape: Shape<NoInfer<T>>): boolean {
  const isOne = isJsonOf(text, shape)
  if (!isOne) readers.tell(new Unreadable(shape.words))
  return isOne
}

/** The same text, or that of an empty one: for what is shown as it is stored. */
export function shownText<T>(text: JsonText<T>, shape: Shape<NoInfer<T>>): JsonText<T> {
  return text === '{}' || isReadable(text, shape) ? text : jsonText(shape.empty())
}

/** Whether it is a JSON text of this shape. */
export const isJsonOf = (text: unknown, shape: Shape<unknown>): boolean =>
  typeof text === 'string' && shape.fits(parsed(text))

/** Undefined, which no JSON is, if it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

export const jsonText = <T>(value: T): JsonText<T> => JSON.stringify(value) as JsonText<T>

export const EMPTY = jsonText<Json>({})

const isText = (value: unknown) => typeof value === 'string'

export const MEMBERS: Shape<Json> = { words: 'an object', fits: isObject, empty: () => ({}) }
export const WORDS: Shape<Record<string, string>> = {
  words: 'an object of texts',
  fits: value => isObject(value) && Object.values(value).every(isText),
  empty: () => ({}),
}
export const AMOUNTS: Shape<Record<string, number>> = {
  words: 'an object of whole numbers',
  fits: value => isObject(value) && Object.values(value).every(Number.isSafeInteger),
  empty: () => ({}),
}
export const TEXTS: Shape<string[]> = {
  words: 'a list of texts',
  fits: value => Array.isArray(value) && value.every(isText),
  empty: () => [],
}
/** These are made by the database, and not stored. */
export const NUMBERS: Shape<never[]> = {
  words: 'a list of numbers',
  fits: value => Array.isArray(value) && value.every(one => typeof one === 'number'),
  empty: () => [],
}
export const OBJECTS: Shape<Json[]> = {
  words: 'a list of objects',
  fits: value => Array.isArray(value) && value.every(isObject),
  empty: () => [],
}
/** An object or a list. */
export const DOCUMENT: Shape<object> = {
  words: 'an object or a list',
  fits: value => typeof value === 'object' && value !== null,
  empty: () => ({}),
}

/** JSON in an answer that passes through as it is stored: nobody writes a large document again that was only read. */
export class StoredJson {
  readonly text: string

  constructor(text: JsonText<unknown>, shape: Shape<unknown>) {
    this.text = shownText(text, shape)
  }

  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}
