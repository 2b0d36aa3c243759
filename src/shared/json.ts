// JSON in the database. Rows hold it as text, and most of it is never parsed: a list of nodes is joined from such
// texts. The type says what is in a text; only this file parses and writes it.

export type Json = Record<string, unknown>

/** A JSON text with a value of this type in it. */
export type JsonText<T> = string & { readonly json: T }

export const jsonIn = <T>(text: JsonText<T>): T => JSON.parse(text) as T
export const jsonText = <T>(value: T): JsonText<T> => JSON.stringify(value) as JsonText<T>

export const EMPTY = jsonText<Json>({})
