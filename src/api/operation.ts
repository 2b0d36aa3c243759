// An operation: what a handler takes and returns, declared beside the handler. The OpenAPI documents are generated from
// it, and a handler that reads anything else fails in every test that calls it.
import type { TSchema } from 'typebox'

/** A body or a query as the document shows it. Each dialect has its own way to read it. */
export interface Form {
  schema: TSchema
  /** The version that brought this form, if older ones had another. */
  since?: string
}

export interface Operation {
  /** Its purpose in one line. */
  summary: string
  /** What else a client should know. */
  description?: string
  /** Its operationId, if not the handler's name. */
  id?: string
  /** The forms of the body, newest version first; null where a version takes no body. */
  body?: readonly (Form | null)[]
  /** The body may be left out. */
  bodyIsOptional?: true
  /** The forms of the query, newest version first. */
  query?: readonly Form[]
  /** The success statuses, each with the shape of its body; null for no body. */
  answers: Readonly<Record<number, TSchema | null>>
  /** The other media types that a 200 may have. */
  otherTypes?: Readonly<Record<string, TSchema>>
}

/** A handler with its operation. */
export type Described<Handler> = Handler & { operation: Operation }

/** A handler may only read what the document shows. Anything else is our bug, so it throws an internal error. */
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
