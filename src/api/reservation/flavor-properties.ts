// The flavor of wanted instances in the words of resource_properties. Clients that know only upstream's older members of a
// reservation can send it, and nothing else.
import { refused, shown } from './fields.ts'
import type { Members } from './request.ts'

const QUERY = /^\s*\[\s*"==?"\s*,\s*"\$flavor_id"\s*,\s*"([^"\\]+)"\s*\]\s*$/

/** The members of a reservation by a flavor, with the flavor that its resource_properties name. */
export function withFlavorProperties(given: Members): Members {
  const { flavor_id, resource_properties: text } = given
  if (flavor_id !== undefined || text === undefined || text === null || text === '') return given
  const [, named] = (typeof text === 'string' && QUERY.exec(text)) || []
  if (named === undefined) {
    throw refused(
      `resource_properties of instances by a flavor must be like ["=", "$flavor_id", "m1.small"], not ${shown(text)}.`,
    )
  }
  return { ...given, flavor_id: named }
}
