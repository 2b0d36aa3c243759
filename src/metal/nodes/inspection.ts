// Inspection rules: conditions on what the driver reports, and what they set in the node.
import type { Static } from 'typebox'
import { limits } from '../../shared/limits.ts'
import { isScalar, numberIn } from '../../shared/scalar.ts'
import type { Json } from '../drivers/port.ts'
import { expanded, filled, inClass, inTrait, isTemplate, property, valuesAt } from './inspection-templates.ts'
import { isTraitName, mayBeTrait, TRAIT_CHARS_MAX } from './trait-names.ts'
import { Type } from '../../shared/type.ts'

const closed = { additionalProperties: false }
const Condition = Type.Object(
  {
    /** A key of the driver's report; dots lead into objects, and into each element of a list. */
    field: Type.String({ minLength: 1, maxLength: 255 }),
    op: Type.Unsafe<'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge' | 'contains' | 'matches' | 'present'>({
      type: 'string',
      enum: ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'contains', 'matches', 'present'],
    }),
    value: Type.Optional(Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] })),
  },
  closed,
)
export const InspectionRule = Type.Object(
  {
    /** All must hold. A rule without conditions always applies. */
    when: Type.Optional(Type.Array(Condition, { maxItems: 32 })),
    set: Type.Object(
      {
        resource_class: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
        traits: Type.Optional(
          Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: limits.nodeTraitsMax }),
        ),
        properties: Type.Optional(Type.Record(Type.String({ maxLength: 255 }), Type.Unknown())),
      },
      closed,
    ),
  },
  closed,
)
export type InspectionRule = Static<typeof InspectionRule>
type Condition = Static<typeof Condition>

/** Mistakes in the rules: invalid names, templates and patterns. */
export function wrongIn(rules: readonly InspectionRule[]): string[] {
  const sets = rules.map(rule => rule.set)
  const traits = sets.flatMap(set => set.traits ?? []).filter(name => !mayBecomeTrait(name))
  const classes = sets.flatMap(set => set.resource_class ?? []).filter(name => !mayBecomeClass(name))
  const patterns = rules.flatMap(rule => rule.when ?? []).filter(({ op }) => op === 'matches')
  return [...traits, ...classes, ...patterns.map(({ value }) => String(value)).filter(pattern => !isPattern(pattern))]
}

function mayBecomeTrait(name: string): boolean {
  if (!isTemplate(name)) return isTraitName(name)
  const pattern = filled(name, '\n')
  return pattern !== null && mayBeTrait(pattern.split('\n'))
}

function mayBecomeClass(name: string): boolean {
  const text = filled(name, '')
  return text !== null && text.length <= CLASS_CHARS_MAX
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp
  } catch {
    return false
  }
}

/** The width of upstream's column. */
const CLASS_CHARS_MAX = 80

interface Findings {
  resourceClass: string | null
  traits: string[]
  properties: Json
  /** Names that a template gave and that are no traits. */
  invalid: string[]
}

/** Applies the rules in order: a later value wins, traits add up. What names something that wasn't found sets nothing. */
export function applyRules(rules: readonly InspectionRule[], found: Json): Findings {
  const findings: Findings = { resourceClass: null, traits: [], properties: {}, invalid: [] }
  for (const { when = [], set } of rules) {
    if (!when.every(condition => holds(condition, found))) continue
    const [resourceClass] = set.resource_class === undefined ? [] : expanded(set.resource_class, found, inClass)
    findings.resourceClass = resourceClass?.slice(0, CLASS_CHARS_MAX) ?? findings.resourceClass
    for (const template of set.traits ?? []) {
      for (const text of expanded(template, found, inTrait)) {
        const name = text.slice(0, TRAIT_CHARS_MAX)
        if (isTraitName(name)) findings.traits.push(name)
        else findings.invalid.push(name)
      }
    }
    for (const [name, value] of Object.entries(set.properties ?? {})) {
      const wanted = property(value, found)
      if (wanted !== undefined) findings.properties[name] = wanted
    }
  }
  return { ...findings, traits: [...new Set(findings.traits)], invalid: [...new Set(findings.invalid)] }
}

/** Of several values, as in a list, any may hold. `ne`: none is equal. */
function holds({ field, op, value }: Condition, found: Json): boolean {
  const actual = valuesAt(found, field)
  if (op === 'present') return actual.length > 0
  if (op === 'contains') return actual.some(one => contains(one, value))
  const values = actual.flat()
  if (op === 'ne') return !values.includes(value)
  return values.some(one => isSo(one, op, value))
}

/** A list contains an element, a text a part of it. */
function contains(actual: unknown, value: Condition['value']): boolean {
  if (Array.isArray(actual)) return actual.includes(value)
  return isScalar(actual) && String(actual).includes(String(value))
}

function isSo(actual: unknown, op: Condition['op'], value: Condition['value']): boolean {
  if (op === 'matches') return typeof actual === 'string' && new RegExp(`^(?:${value})$`).test(actual)
  if (op === 'eq') return actual === value
  const [left, right] = [numberIn(actual), numberIn(value)]
  return op === 'lt' ? left < right : op === 'le' ? left <= right : op === 'gt' ? left > right : left >= right
}
