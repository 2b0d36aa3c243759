// Who may do what in Placement: one line an action, one column a policy.
import type { Caller } from '../../identity/caller.ts'

export type PolicyName = 'secure' | 'legacy' | 'open'
type Rule = (caller: Caller, projectId: string | null) => boolean

const everyone: Rule = () => true
// A token for the whole system is no project's, and Placement takes only project tokens.
const admin: Rule = ({ roles, systemScope }) => !systemScope && roles.has('admin')
const service: Rule = ({ roles, systemScope }) => !systemScope && roles.has('service')
const adminOrService: Rule = (caller, project) => admin(caller, project) || service(caller, project)
const projectReader: Rule = (caller, project) =>
  adminOrService(caller, project) || (caller.roles.has('reader') && project !== null && caller.project === project)

/** Rules of the secure policy that differ from the rest. */
const SECURE: Partial<Record<Action, Rule>> = {
  'placement:reshaper:reshape': service,
  'placement:usages': projectReader,
}

export type Action =
  | `placement:resource_providers:${'list' | 'create' | 'show' | 'update' | 'delete' | 'usages'}`
  | `placement:resource_providers:inventories:${'list' | 'create' | 'show' | 'update' | 'delete'}`
  | `placement:resource_providers:aggregates:${'list' | 'update'}`
  | `placement:resource_providers:traits:${'list' | 'update' | 'delete'}`
  | 'placement:resource_providers:allocations:list'
  | `placement:resource_classes:${'list' | 'create' | 'show' | 'update' | 'delete'}`
  | `placement:traits:${'list' | 'show' | 'update' | 'delete'}`
  | `placement:allocations:${'list' | 'manage' | 'update' | 'delete'}`
  | 'placement:allocation_candidates:list'
  | 'placement:usages'
  | 'placement:reshaper:reshape'

export function allows(policy: PolicyName, action: Action, caller: Caller, projectId: string | null): boolean {
  if (policy === 'open') return everyone(caller, projectId)
  if (policy === 'legacy') return admin(caller, projectId)
  return (SECURE[action] ?? adminOrService)(caller, projectId)
}
