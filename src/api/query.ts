// Parses the query of a URL, in the same way for the permission check and for the handler.
import { problem } from '../problems/problem.ts'
import { type Operation, propertiesOf } from './operation.ts'

/**
 * The parameters. A single-valued parameter that is repeated is refused: else one reader could take the first value and
 * another the last. Each dialect decides about parameters that the operation doesn't declare.
 */
export function queryOf(url: string, { query: forms = [] }: Operation, mayRepeat?: RegExp): URLSearchParams {
  const start = url.indexOf('?')
  const query = new URLSearchParams(start < 0 ? '' : url.slice(start + 1))
  const seen = new Set<string>()
  for (const name of query.keys()) {
    const isKnown = () => forms.some(({ schema }) => isNamedIn(schema, name))
    if (seen.has(name) && !mayRepeat?.test(name) && isKnown()) {
      throw problem('query_duplicate_key', { reason: `Query parameter '${name}' may be specified only once.` })
    }
    seen.add(name)
  }
  return query
}

function isNamedIn(schema: Parameters<typeof propertiesOf>[0], name: string): boolean {
  const { patternProperties = {} } = schema as { patternProperties?: object }
  const patterns = Object.keys(patternProperties)
  return Object.hasOwn(propertiesOf(schema), name) || patterns.some(pattern => new RegExp(pattern).test(name))
}
