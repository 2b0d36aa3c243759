// The results of an inspection: the properties that the driver found, and what the operator's rules set.
import { type Static, Type } from 'typebox'
import { limits } from '../../shared/limits.ts'
import { jsonIn, jsonText } from '../../shared/json.ts'
import { isScalar, numberIn } from '../../shared/scalar.ts'
import { placementClass } from './class-names.ts'
import type { Json } from '../drivers/port.ts'
import type { NodeRow } from './rows.ts'
import { isTraitName } from './trait-names.ts'

const closed = { additionalProperties: false }
const Condition = Type.Object(
  {
    /** A key of the driver's report; dots lead into nested objects. */
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
        resource_class: Type.Optional(Type.String({ minLength: 1, maxLength: 80 })),
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

/** Mistakes in the rules: invalid trait names and invalid patterns. */
export function wrongIn(rules: readonly InspectionRule[]): string[] {
  const traits = rules.flatMap(rule => rule.set.traits ?? []).filter(name => !isTraitName(name))
  const patterns = rules.flatMap(rule => rule.when ?? []).filter(({ op }) => op === 'matches')
  return [...traits, ...patterns.map(({ value }) => String(value)).filter(pattern => !isPattern(pattern))]
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp
  } catch {
    return false
  }
}

interface Findings {
  resourceClass: string | null
  traits: string[]
  properties: Json
}

/** Applies the rules in order: a later value wins, traits add up. */
export function applyRules(rules: readonly InspectionRule[], found: Json): Findings {
  const findings: Findings = { resourceClass: null, traits: [], properties: {} }
  for (const { when = [], set } of rules) {
    if (!when.every(condition => holds(condition, found))) continue
    findings.resourceClass = set.resource_class ?? findings.resourceClass
    findings.traits.push(...(set.traits ?? []))
    Object.assign(findings.properties, set.properties)
  }
  return findings
}

function holds({ field, op, value }: Condition, found: Json): boolean {
  const actual = field
    .split('.')
    .reduce<unknown>((at, name) => (hasMembers(at) && Object.hasOwn(at, name) ? at[name] : undefined), found)
  if (op === 'present') return actual !== undefined && actual !== null
  if (op === 'contains') return contains(actual, value)
  if (op === 'matches') return typeof actual === 'string' && new RegExp(`^(?:${value})$`).test(actual)
  if (op === 'eq') return actual === value
  if (op === 'ne') return actual !== value
  const [left, right] = [numberIn(actual), numberIn(value)]
  return op === 'lt' ? left < right : op === 'le' ? left <= right : op === 'gt' ? left > right : left >= right
}

function contains(actual: unknown, value: Condition['value']): boolean {
  if (Array.isArray(actual)) return actual.includes(value)
  return isScalar(actual) && String(actual).includes(String(value))
}

/** A list has members too: its indexes. */
const hasMembers = (value: unknown): value is Json => typeof value === 'object' && value !== null

const PROPERTIES = ['cpus', 'memory_mb', 'local_gb', 'cpu_arch', 'capabilities']

/** Sets a resource class only if the node has none and is not claimed: an operator's choice stays. */
export function inspected(node: NodeRow, found: Json, rules: readonly InspectionRule[], now: number) {
  const findings = applyRules(rules, found)
  const basics = Object.fromEntries(PROPERTIES.filter(name => name in found).map(name => [name, found[name]]))
  const properties = { ...jsonIn(node.properties), ...basics, ...findings.properties }
  const resource_class = node.resource_class ?? (node.instance_uuid === null ? findings.resourceClass : null)
  const changes: Partial<NodeRow> = {
    properties: jsonText(properties),
    resource_class,
    placement_class: placementClass(resource_class),
    inspection_finished_at: now,
  }
  return { changes, newTraits: findings.traits }
}
