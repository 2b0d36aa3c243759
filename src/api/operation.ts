// What an operation takes and gives. Each handler says it of itself, beside itself; the OpenAPI documents are made from it,
// and a handler that reads anything else fails in every test that calls it.
import type { TSchema } from 'typebox'

/** A body or a query as the document shows it. How it is read is each dialect's own affair. */
export interface Form {
  schema: TSchema
  /** The version that brought it, where an older one had another form. */
  since?: string
}

export interface Operation {
  /** One line that says what it is for. */
  summary: string
  /** What else a client should know. */
  description?: string
  /** Its name, where that of the handler won't do. */
  id?: string
  /** The forms that a body may have, that of the newest version first; null where a version takes none. */
  body?: readonly (Form | null)[]
  /** Works without a body too. */
  bodyIsOptional?: true
  /** The same for the query. */
  query?: readonly Form[]
  /** The statuses of success, each with the shape of its answer; null for an answer without a body. */
  answers: Readonly<Record<number, TSchema | null>>
}

/** A handler, with what it says of itself. */
export type Described<Handler> = Handler & { operation: Operation }

/** A mistake of ours, and so an internal error: what a handler reads must be what the document says. */
export function requireDeclared(declared: readonly (Form | null)[] | undefined, form: Form): void {
  if (!declared?.includes(form)) throw new Error('a handler reads a form that its operation does not declare')
}

/** The same for one parameter of the query. */
export function requireParameter(declared: readonly Form[] | undefined, name: string): void {
  if (!declared?.some(({ schema }) => Object.hasOwn(propertiesOf(schema), name))) {
    throw new Error(`a handler reads the parameter ${name}, which its operation does not declare`)
  }
}

export const propertiesOf = (schema: TSchema): Record<string, TSchema> =>
  (schema as { properties?: Record<string, TSchema> }).properties ?? {}
