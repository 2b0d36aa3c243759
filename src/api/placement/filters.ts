// Parses `resources`, `required`, `member_of` and `in_tree` for both provider lists and candidates.
import type { ResourceAmount } from '../../ledger/candidates/request.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { problem } from '../../problems/problem.ts'
import type { Has } from './versions.ts'

const invalid = (reason: string) => problem('invalid_query', { reason })

/** Parses `VCPU:2,MEMORY_MB:1024`. If a class is named twice, the last amount counts. */
export function parseResources(value: string): ResourceAmount[] {
  const form =
    'Badly formed resources parameter. Expected resources query string parameter in form: ' +
    '?resources=VCPU:2,MEMORY_MB:1024. Got: '
  if (value.trim() === '') throw invalid(`${form}empty string.`)
  const amounts = new Map<string, number>()
  for (const part of value.split(',')) {
    const [name, text, ...more] = part.split(':')
    if (name === undefined || text === undefined || more.length > 0) throw invalid(`${form}${part}.`)
    if (!/^\s*[+-]?\d+\s*$/.test(text)) {
      throw invalid(`Requested resource ${name} expected positive integer amount. Got: ${text}.`)
    }
    const amount = Number(text)
    if (amount < 1) throw invalid(`Requested resource ${name} requires amount >= 1. Got: ${amount}.`)
    amounts.set(name, amount)
  }
  return Array.from(amounts, ([resourceClass, amount]) => ({ resourceClass, amount }))
}

interface TraitsWanted {
  /** All of these lists must match; within a list, any one trait. */
  required: string[][]
  forbidden: string[]
}

/** Parses all values of one `required`; before 1.39 only the last counts. */
export function parseRequired(values: readonly string[], has: Has): TraitsWanted {
  const wanted: TraitsWanted = { required: [], forbidden: [] }
  for (const value of has.anyTraits ? values : values.slice(-1)) {
    const { required, forbidden } = value.startsWith('in:') ? parseAnyOf(value, has) : parseTraits(value, has)
    wanted.required.push(...required)
    wanted.forbidden.push(...forbidden)
  }
  return wanted
}

function parseAnyOf(value: string, has: Has): TraitsWanted {
  const prefix = 'Invalid query string parameters: '
  const form = "The format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' "
  if (!has.anyTraits) throw invalid(`${prefix}${form}only supported since microversion 1.39. Got: ${value}`)
  const traits = value
    .slice('in:'.length)
    .split(',')
    .map(trait => trait.trim())
  if (traits.includes('')) {
    throw invalid(
      `${prefix}Expected 'required' parameter value of the form: in:HW_CPU_X86_VMX,CUSTOM_MAGIC. ` +
        `Got an empty trait in: ${value}`,
    )
  }
  if (traits.some(trait => trait.startsWith('!'))) {
    throw invalid(`${prefix}${form}does not support forbidden traits. Got: ${value}`)
  }
  return { required: [[...new Set(traits)]], forbidden: [] }
}

/** Parses `A,B` and, if the version has it, `!C`. Several `!` count as one, as upstream. */
export function parseTraits(value: string, has: { forbiddenTraits: boolean }): TraitsWanted {
  const traits = value.split(',').map(trait => trait.trim())
  const forbidden = traits.filter(trait => trait.startsWith('!')).map(trait => trait.replace(/^!+/, ''))
  const expected =
    "Invalid query string parameters: Expected 'required' parameter value of the form: " +
    `HW_CPU_X86_VMX,${has.forbiddenTraits ? '!' : ''}CUSTOM_MAGIC. `
  if (traits.includes('') || forbidden.includes('')) throw invalid(`${expected}Got an empty trait in: ${value}`)
  if (forbidden.length > 0 && !has.forbiddenTraits) throw invalid(`${expected}Got: ${value}`)
  const required = traits.filter(trait => !trait.startsWith('!')).map(trait => [trait])
  return { required, forbidden: [...new Set(forbidden)] }
}

interface AggregatesWanted {
  memberOf: string[][]
  forbiddenAggregates: string[]
}

/** Parses all values of one `member_of`. */
export function parseMemberOf(values: readonly string[], has: Has, suffix = ''): AggregatesWanted {
  if (values.length > 1 && !has.manyMemberOf) throw invalid(`Multiple member_of${suffix} parameters are not supported`)
  const wanted: AggregatesWanted = { memberOf: [], forbiddenAggregates: [] }
  for (const value of values) {
    const isForbidden = value.startsWith('!')
    const list = isForbidden ? value.slice(1) : value
    if (list.includes(',') && !list.startsWith('in:')) {
      throw invalid(
        "Multiple values for 'member_of' must be prefixed with the 'in:' or '!in:' keyword using the valid " +
          `microversion. Got: ${value}`,
      )
    }
    const uuids = list.startsWith('in:') ? list.slice('in:'.length).split(',') : [list]
    for (const uuid of uuids) {
      if (canonicalUuid(uuid) === null) {
        throw invalid(
          `Invalid query string parameters: Expected 'member_of' parameter to contain valid UUID(s). Got: ${uuid}`,
        )
      }
    }
    if (isForbidden && !has.forbiddenAggregates) {
      throw invalid(`Forbidden member_of${suffix} parameters are not supported in the specified microversion`)
    }
    const names = uuids.map(uuid => canonicalUuid(uuid)!)
    if (isForbidden) wanted.forbiddenAggregates.push(...names)
    else wanted.memberOf.push(names)
  }
  return wanted
}

export function parseInTree(value: string): string {
  const uuid = canonicalUuid(value.trim())
  if (uuid === null) {
    throw invalid(`Invalid query string parameters: Expected 'in_tree' parameter to be a format of uuid. Got: ${value}`)
  }
  return uuid
}
