// Who may do what in Placement: one line per action. Mostly operators, because they manage a cloud's capacity.

// "scoped": Placement takes only project tokens, so a system token is refused.
const OPERATORS = 'scoped admin or scoped service'

const SECURE = {
  'placement:resource_providers:list': OPERATORS,
  'placement:resource_providers:create': OPERATORS,
  'placement:resource_providers:show': OPERATORS,
  'placement:resource_providers:update': OPERATORS,
  'placement:resource_providers:delete': OPERATORS,
  'placement:resource_providers:usages': OPERATORS,
  'placement:resource_providers:inventories:list': OPERATORS,
  'placement:resource_providers:inventories:create': OPERATORS,
  'placement:resource_providers:inventories:show': OPERATORS,
  'placement:resource_providers:inventories:update': OPERATORS,
  'placement:resource_providers:inventories:delete': OPERATORS,
  'placement:resource_providers:aggregates:list': OPERATORS,
  'placement:resource_providers:aggregates:update': OPERATORS,
  'placement:resource_providers:traits:list': OPERATORS,
  'placement:resource_providers:traits:update': OPERATORS,
  'placement:resource_providers:traits:delete': OPERATORS,
  'placement:resource_providers:allocations:list': OPERATORS,
  'placement:resource_classes:list': OPERATORS,
  'placement:resource_classes:create': OPERATORS,
  'placement:resource_classes:show': OPERATORS,
  'placement:resource_classes:update': OPERATORS,
  'placement:resource_classes:delete': OPERATORS,
  'placement:traits:list': OPERATORS,
  'placement:traits:show': OPERATORS,
  'placement:traits:update': OPERATORS,
  'placement:traits:delete': OPERATORS,
  'placement:allocations:list': OPERATORS,
  'placement:allocations:manage': OPERATORS,
  'placement:allocations:update': OPERATORS,
  'placement:allocations:delete': OPERATORS,
  'placement:allocation_candidates:list': OPERATORS,
  'placement:usages': `${OPERATORS} or project reader`,
  'placement:reshaper:reshape': 'scoped service',
}

export type PlacementAction = keyof typeof SECURE
export type PolicyName = 'secure' | 'legacy' | 'open'

const all = (rule: string) =>
  Object.fromEntries(Object.keys(SECURE).map(action => [action, rule])) as Record<PlacementAction, string>

export const placementPolicies: Record<PolicyName, Readonly<Record<PlacementAction, string>>> = {
  secure: SECURE,
  legacy: all('scoped admin'),
  open: all('everyone'),
}
