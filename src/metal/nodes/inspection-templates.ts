// Placeholders in inspection rules: `{gpus.model}` stands for what the report has there. A list gives one value for
// each of its elements.
import { isScalar } from '../../shared/scalar.ts'
import type { Json } from '../drivers/port.ts'

const PLACEHOLDER = /\{([^{}]*)\}/g
/** Texts that one template can become: more than a node may have traits. */
const EXPANSIONS_MAX = 64

/** A list has members too: its indexes and its length. */
const hasMembers = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** What the report has at a path; dots lead into objects, and into each element of a list. */
export function valuesAt(report: Json, path: string): unknown[] {
  let found: unknown[] = [report]
  for (const name of path.split('.')) {
    found = found.flatMap(value => {
      if (!hasMembers(value)) return []
      if (Object.hasOwn(value, name)) return [value[name]]
      return Array.isArray(value) ? value.flatMap(one => memberOf(one, name)) : []
    })
  }
  return found.filter(value => value !== undefined && value !== null)
}

const memberOf = (value: unknown, name: string) =>
  hasMembers(value) && Object.hasOwn(value, name) ? [value[name]] : []

/** The distinct texts at a path. */
function textsAt(report: Json, path: string): string[] {
  const scalars = valuesAt(report, path).flat().filter(isScalar)
  return [...new Set(scalars.map(value => String(value).trim()))].filter(text => text !== '')
}

export const isTemplate = (text: string) => /[{}]/.test(text)

/** What is written in place of each placeholder; null if the braces or a path are wrong. */
export function filled(template: string, value: string): string | null {
  const text = template.replaceAll(PLACEHOLDER, (_, path: string) => (isPath(path) ? value : '{'))
  return /[{}]/.test(text) ? null : text
}

const isPath = (path: string) => path.split('.').every(name => name !== '')

/** All texts that the template becomes with this report; none if a placeholder has no value. */
export function expanded(
  template: string,
  report: Json,
  written: (value: string) => string = value => value,
): string[] {
  const paths = [...new Set([...template.matchAll(PLACEHOLDER)].map(([, path]) => path!))]
  let texts = [template]
  for (const path of paths) {
    const values = textsAt(report, path).map(written)
    texts = texts.flatMap(text => values.map(value => text.replaceAll(`{${path}}`, value))).slice(0, EXPANSIONS_MAX)
  }
  return [...new Set(texts)]
}

/** The value of a property: what the report has, if the whole text is a placeholder, else a text. */
export function property(value: unknown, report: Json): unknown {
  if (typeof value !== 'string' || !isTemplate(value)) return value
  const [only] = value.match(/^\{([^{}]+)\}$/)?.slice(1) ?? []
  const found = only === undefined ? [] : valuesAt(report, only).flat()
  if (found.length === 1 && isScalar(found[0])) return found[0]
  const texts = expanded(value, report)
  return texts.length === 0 ? undefined : texts.join(', ')
}

/** A value as part of a trait: upper case, all other characters to one _. */
export const inTrait = (value: string) =>
  value
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '')

/** A value as part of a resource class, such as `gpu-a100`. */
export const inClass = (value: string) =>
  value
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
