// Policy: named rules, and tables with the rule of each action. A rule is plain text, such as `admin or owner member`,
// so that operators can write rules in a file.
import type { Caller } from './caller.ts'

/** The object of an action, as far as rules ask about it. An unknown field matches nobody. */
export interface Target {
  /** The project that the object belongs to. */
  readonly project?: string | null
  /** The two projects of a node. */
  readonly owner?: string | null
  readonly lessee?: string | null
  readonly user?: string | null
}

type Rule = (caller: Caller, target: Target) => boolean

/** The roles that include each role. `service` is separate. */
const HELD_WITH: Record<string, readonly string[]> = {
  reader: ['reader', 'member', 'admin'],
  member: ['member', 'admin'],
  admin: ['admin'],
  service: ['service'],
}

const has =
  (role: keyof typeof HELD_WITH): Rule =>
  ({ roles }) =>
    HELD_WITH[role]!.some(held => roles.has(held))
const both =
  (one: Rule, other: Rule): Rule =>
  (caller, target) =>
    one(caller, target) && other(caller, target)
/** The caller's project is the target's project, owner or lessee. */
const ofTarget =
  (name: 'project' | 'owner' | 'lessee'): Rule =>
  ({ project }, target) =>
    project !== null && target[name] === project
const forSystem: Rule = ({ systemScope }) => systemScope
const forProject: Rule = ({ systemScope }) => !systemScope

export const RULES: Record<string, { says: string; holds: Rule }> = {
  everyone: { says: 'whoever has a token', holds: () => true },
  nobody: { says: 'no one', holds: () => false },
  admin: { says: 'the role admin, in any project or for the whole system', holds: has('admin') },
  service: { says: 'the role service, likewise', holds: has('service') },
  member: { says: 'the role member, likewise', holds: has('member') },
  reader: { says: 'the role reader, likewise', holds: has('reader') },
  'system reader': { says: 'reader with a token for the whole system', holds: both(has('reader'), forSystem) },
  'scoped admin': { says: 'admin with a token for a project', holds: both(has('admin'), forProject) },
  'scoped service': { says: 'service with a token for a project', holds: both(has('service'), forProject) },
  'project member': {
    says: 'member in the project that it belongs to',
    holds: both(has('member'), ofTarget('project')),
  },
  'project reader': {
    says: 'reader in the project that it belongs to',
    holds: both(has('reader'), ofTarget('project')),
  },
  'owner member': { says: 'member in the project that owns the node', holds: both(has('member'), ofTarget('owner')) },
  'owner reader': { says: 'reader in the project that owns the node', holds: both(has('reader'), ofTarget('owner')) },
  'lessee member': {
    says: 'member in the project that leases the node',
    holds: both(has('member'), ofTarget('lessee')),
  },
  'lessee reader': {
    says: 'reader in the project that leases the node',
    holds: both(has('reader'), ofTarget('lessee')),
  },
  self: { says: 'the user that it is about', holds: ({ user }, target) => target.user === user },
}

/** Parses a rule; returns the unknown name if there is one. */
function parseRule(text: string): Rule | { unknown: string } {
  const names = text.split(' or ').map(name => name.trim())
  const unknown = names.find(name => !Object.hasOwn(RULES, name))
  if (unknown !== undefined) return { unknown }
  const [first, ...others] = names.map(name => RULES[name]!.holds)
  return others.reduce<Rule>((one, other) => (caller, target) => one(caller, target) || other(caller, target), first!)
}

/** An invalid entry in a table of rules. */
export class PolicyError extends Error {}

export class Policy<Action extends string = string> {
  /** Each action with its rule as text. */
  readonly table: Readonly<Record<Action, string>>
  readonly #rules = new Map<string, Rule>()

  constructor(table: Readonly<Record<Action, string>>, overrides: Readonly<Record<string, unknown>> = {}) {
    const unknown = Object.keys(overrides).find(action => !Object.hasOwn(table, action))
    if (unknown !== undefined) throw new PolicyError(`there is no action '${unknown}'`)
    this.table = { ...table, ...overrides }
    for (const [action, text] of Object.entries<unknown>(this.table)) {
      if (typeof text !== 'string') throw new PolicyError(`the rule of ${action} must be a text`)
      const rule = parseRule(text)
      if (typeof rule !== 'function') {
        throw new PolicyError(
          `${action}: there is no rule '${rule.unknown}'; there are ${Object.keys(RULES).join(', ')}`,
        )
      }
      this.#rules.set(action, rule)
    }
  }

  allows(action: Action, caller: Caller, target: Target = {}): boolean {
    return this.#rules.get(action)!(caller, target)
  }
}
