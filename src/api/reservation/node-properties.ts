// The class and traits of wanted nodes in the words of resource_properties: a query of equalities. Clients that know only
// upstream's members of a reservation can send it, and nothing else.
import { refused, shown } from './fields.ts'
import type { Members } from './request.ts'

const expected = (given: unknown) =>
  refused(
    'resource_properties of nodes must be like ["=", "$resource_class", "gpu"], or ' +
      `["and", ["=", "$resource_class", "gpu"], ["=", "$trait", "CUSTOM_A100"], …], not ${shown(given)}.`,
  )

/** The members of a reservation of nodes, with the class and the traits that its resource_properties name. */
export function withNodeProperties(given: Members): Members {
  const { resource_properties: text } = given
  if (text === undefined || text === null || text === '') return given
  if (given['resource_class'] !== undefined || given['traits'] !== undefined) {
    throw refused('resource_properties of nodes stand for resource_class and traits: give either.')
  }
  const named: { class: string[]; trait: string[] } = { class: [], trait: [] }
  for (const term of termsOf(text)) {
    if (!Array.isArray(term) || term.length !== 3) throw expected(text)
    const [operator, key, value] = term as unknown[]
    const list = key === '$resource_class' ? named.class : key === '$trait' ? named.trait : null
    if ((operator !== '=' && operator !== '==') || list === null || typeof value !== 'string') throw expected(text)
    list.push(value)
  }
  if (named.class.length !== 1) throw expected(text)
  return { ...given, resource_class: named.class[0], traits: named.trait }
}

function termsOf(text: unknown): unknown[] {
  if (typeof text !== 'string') throw expected(text)
  let query: unknown
  try {
    query = JSON.parse(text)
  } catch {
    throw expected(text)
  }
  if (!Array.isArray(query)) throw expected(text)
  return query[0] === 'and' ? query.slice(1) : [query]
}
