// Who may do what with the service itself.

export const operatorPolicy = {
  'holdfast:health:get': 'admin',
  'holdfast:nova:get': 'admin',
  // As Placement's providers are.
  'holdfast:capacity:get': 'admin',
  'holdfast:fsck': 'admin',
  'holdfast:audit:list': 'admin',
  'holdfast:clock:get': 'admin',
  'holdfast:clock:set': 'admin',
  'holdfast:explain:allocation_candidates': 'admin',
  'holdfast:explain:allocation': 'admin or service or project reader',
  'holdfast:allocation:retry': 'admin or service or project member',
  'holdfast:hypervisor_state:set': 'admin or service',
  'holdfast:leasable_nodes:get': 'admin or service',
  'holdfast:leasable_nodes:set': 'admin',
  // Each caller is told of its own project and the people in it.
  'holdfast:names:list': 'everyone',
  'holdfast:names:list_all': 'admin or service or system reader',
  // Each caller sees the allocations that it may see elsewhere.
  'holdfast:queue:list': 'reader or service',
  'holdfast:queue:shares': 'admin',
  'holdfast:queue:get': 'admin or service or project reader',
  'holdfast:queue:set': 'admin',
  'holdfast:quotas:list': 'admin',
  'holdfast:quotas:get': 'admin or service or project reader',
  'holdfast:quotas:set': 'admin',
  // Each caller sees the machines, promises and requests that it may read, and is told what it may do with them.
  'holdfast:status:get': 'reader or service',
  // Each caller hears of what it may read.
  'holdfast:events:list': 'everyone',
  'holdfast:events:ticket': 'everyone',
  // Asked again at each reading of the calendar, with the rights that its maker has then.
  'holdfast:calendars:create': 'admin or project member or owner member or lessee member',
  'holdfast:calendars:list': 'admin or project reader',
  'holdfast:calendars:list_all': 'admin',
  'holdfast:calendars:delete': 'admin or project member',
  'holdfast:webhooks:get': 'admin or project member',
  'holdfast:webhooks:set': 'admin or project member',
  'holdfast:webhooks:list_all': 'admin',
  'holdfast:explain:lease': 'admin or service or project reader',
}

export type OperatorAction = keyof typeof operatorPolicy
