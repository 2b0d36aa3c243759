// A question to Placement: groups of resources with conditions. Read from the text of a query and written back; what
// isn't understood here is kept as it is, so that Placement says what is wrong with it.

export interface Group {
  /** Empty for the group whose parts may come from several providers of a tree. */
  suffix: string
  resources: readonly { name: string; amount: string }[]
  /** Traits, or several of which one is enough: `in:A,B`. */
  required: readonly string[]
  forbidden: readonly string[]
  /** As Placement takes them: an aggregate, `in:A,B`, `!in:A`. */
  memberOf: readonly string[]
  inTree: string | null
}

export interface Question {
  groups: readonly Group[]
  /** All the rest: `group_policy`, `limit`, `root_required`, `same_subtree`, and what nobody knows. */
  rest: readonly (readonly [name: string, value: string])[]
}

const GROUPED = /^(resources|required|member_of|in_tree)([a-zA-Z0-9_-]{0,64})$/

const emptyGroup = (suffix: string): Group => ({
  suffix,
  resources: [],
  required: [],
  forbidden: [],
  memberOf: [],
  inTree: null,
})

type Pairs = readonly (readonly [string, string])[]

/** The pairs in the text of a query; a `+` means itself. */
function pairsIn(text: string): [string, string][] {
  return text
    .replace(/^\s*\?/, '')
    .trim()
    .split('&')
    .filter(part => part !== '')
    .map(part => {
      const at = part.indexOf('=')
      return at < 0 ? [decoded(part), ''] : [decoded(part.slice(0, at)), decoded(part.slice(at + 1))]
    })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Only what would break the text apart is escaped: people read it. */
const escaped = (text: string) => text.replaceAll(/[%&#+\s]/g, letter => encodeURIComponent(letter))

export function questionIn(text: string): Question {
  const groups = new Map<string, Group>()
  const rest: [string, string][] = []
  for (const [name, value] of pairsIn(text)) {
    const [, kind, suffix = ''] = GROUPED.exec(name) ?? []
    const group = groups.get(suffix) ?? emptyGroup(suffix)
    const next = kind === undefined ? null : withPart(group, kind, value)
    if (next === null) rest.push([name, value])
    else groups.set(suffix, next)
  }
  return { groups: [...groups.values()], rest }
}

/** The group with one more parameter; null if the group has no place for it. */
function withPart(group: Group, kind: string, value: string): Group | null {
  if (kind === 'resources') return group.resources.length > 0 ? null : { ...group, resources: resourcesIn(value) }
  if (kind === 'member_of') return { ...group, memberOf: [...group.memberOf, value] }
  if (kind === 'in_tree') return group.inTree === null ? { ...group, inTree: value } : null
  if (value.startsWith('in:')) return { ...group, required: [...group.required, value] }
  const traits = value.split(',').filter(trait => trait !== '')
  return {
    ...group,
    required: [...group.required, ...traits.filter(trait => !trait.startsWith('!'))],
    forbidden: [...group.forbidden, ...traits.filter(trait => trait.startsWith('!')).map(trait => trait.slice(1))],
  }
}

function resourcesIn(value: string): Group['resources'] {
  return value
    .split(',')
    .filter(part => part !== '')
    .map(part => {
      const [name = '', ...amount] = part.split(':')
      return { name, amount: amount.join(':') }
    })
}

export function pairsOf({ groups, rest }: Question): [string, string][] {
  return [...groups.flatMap(groupPairs), ...rest.map(([name, value]): [string, string] => [name, value])]
}

function groupPairs({ suffix, resources, required, forbidden, memberOf, inTree }: Group): [string, string][] {
  const single = required.filter(trait => !trait.startsWith('in:'))
  const traits = [...single, ...forbidden.map(trait => `!${trait}`)]
  const any = required.filter(trait => trait.startsWith('in:'))
  const amounts = resources.map(({ name, amount }) => (amount === '' ? name : `${name}:${amount}`))
  const named = (name: string, values: readonly string[]) =>
    values.map((value): [string, string] => [`${name}${suffix}`, value])
  return [
    ...named('resources', amounts.length > 0 ? [amounts.join(',')] : []),
    ...named('required', traits.length > 0 ? [traits.join(','), ...any] : any),
    ...named('member_of', memberOf),
    ...named('in_tree', inTree === null ? [] : [inTree]),
  ]
}

export const textOf = (question: Question): string => textOfPairs(pairsOf(question))

const textOfPairs = (pairs: Pairs): string =>
  pairs.map(([name, value]) => (value === '' ? escaped(name) : `${escaped(name)}=${escaped(value)}`)).join('&')

/** For the client: a parameter that comes several times has all its values. */
export function queryOf(text: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {}
  for (const [name, value] of pairsIn(text)) {
    const before = query[name]
    query[name] = before === undefined ? value : [before, value].flat()
  }
  return query
}

/** The question with one group changed. A group without anything goes. */
export function withGroup(question: Question, suffix: string, change: Partial<Group>): Question {
  const isThere = question.groups.some(group => group.suffix === suffix)
  const groups = isThere ? question.groups : [...question.groups, emptyGroup(suffix)]
  return {
    ...question,
    groups: groups
      .map(group => (group.suffix === suffix ? { ...group, ...change } : group))
      .filter(group => groupPairs(group).length > 0),
  }
}

/** With another group of its own for some resource. Placement wants to know how several groups stand to each other. */
export function withNewGroup(question: Question, resource: string): Question {
  const taken = new Set(question.groups.map(({ suffix }) => suffix))
  const number = Array.from({ length: taken.size + 1 }, (_, at) => String(at + 1)).find(one => !taken.has(one))!
  const added = withGroup(question, number, { resources: [{ name: resource, amount: '1' }] })
  const suffixed = added.groups.filter(({ suffix }) => suffix !== '').length
  const hasPolicy = added.rest.some(([name]) => name === 'group_policy')
  return suffixed > 1 && !hasPolicy ? { ...added, rest: [...added.rest, ['group_policy', 'none']] } : added
}

/** What a smaller question leaves out or asks less of: by group, `required NAME`, `resources NAME`. */
export function lostIn(asked: Question, smaller: Question): Set<string> {
  const lost = new Set<string>()
  for (const group of asked.groups) {
    const other = smaller.groups.find(({ suffix }) => suffix === group.suffix) ?? emptyGroup(group.suffix)
    for (const kind of ['required', 'forbidden', 'memberOf'] as const) {
      for (const value of group[kind]) if (!other[kind].includes(value)) lost.add(keyOf(group.suffix, kind, value))
    }
    for (const { name, amount } of group.resources) {
      const isSame = other.resources.some(one => one.name === name && one.amount === amount)
      if (!isSame) lost.add(keyOf(group.suffix, 'resources', name))
    }
    if (group.inTree !== null && other.inTree === null) lost.add(keyOf(group.suffix, 'inTree', group.inTree))
  }
  return lost
}

export const keyOf = (suffix: string, kind: keyof Group, value: string) => `${suffix} ${kind} ${value}`
