// JSON in the database. A row has the text: most of it passes through unread, as in a list of nodes, which is put together
// from such texts. What is in a text its type says, and only here is it read and written.

export type Json = Record<string, unknown>

/** A JSON text with a value of this type in it. */
export type JsonText<T> = string & { readonly json: T }

export const jsonIn = <T>(text: JsonText<T>): T => JSON.parse(text) as T
export const jsonText = <T>(value: T): JsonText<T> => JSON.stringify(value) as JsonText<T>

export const EMPTY = jsonText<Json>({})
