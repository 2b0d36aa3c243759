// Who may do what with identity: everyone their own, admins the rest.

export const identityPolicy = {
  'identity:validate_token': 'everyone',
  // A token of someone else.
  'identity:validate_foreign_token': 'admin or service',
  'identity:revoke_token': 'everyone',
  'identity:revoke_foreign_token': 'admin',
  'identity:get_auth_catalog': 'everyone',
  'identity:get_auth_projects': 'everyone',
  'identity:list_users': 'admin or service or system reader',
  'identity:get_user': 'admin or service or system reader or self',
  'identity:list_user_projects': 'admin or service or system reader or self',
  'identity:list_projects': 'admin or service or system reader',
  'identity:get_project': 'admin or service or system reader or project reader',
  'identity:list_roles': 'admin or service or system reader',
  'identity:get_role': 'admin or service or system reader',
  'identity:list_role_assignments': 'admin or service or system reader',
  'identity:list_domains': 'admin or service or system reader',
  'identity:get_domain': 'reader or service',
  'identity:list_services': 'reader or service',
  'identity:list_endpoints': 'reader or service',
  'identity:list_regions': 'reader or service',
}

export type IdentityAction = keyof typeof identityPolicy
