// Who may do what with identity: callers may see and change what is their own, admins the rest.

export const identityPolicy = {
  'identity:validate_token': 'everyone',
  // For a token of another user.
  'identity:validate_foreign_token': 'admin or service',
  'identity:revoke_token': 'everyone',
  'identity:revoke_foreign_token': 'admin',
  'identity:get_auth_catalog': 'everyone',
  'identity:get_auth_projects': 'everyone',
  'identity:get_auth_domains': 'everyone',
  'identity:get_auth_system': 'everyone',
  // Users and projects are changed in the users file. A change never leaves nobody who is admin.
  'identity:create_user': 'admin',
  'identity:update_user': 'admin',
  'identity:delete_user': 'admin',
  // With the present password.
  'identity:change_password': 'self',
  'identity:create_project': 'admin',
  'identity:update_project': 'admin',
  'identity:delete_project': 'admin',
  'identity:create_grant': 'admin',
  'identity:revoke_grant': 'admin',
  'identity:check_grant': 'admin or service or system reader or self',
  'identity:list_grants': 'admin or service or system reader or self',
  'identity:list_users': 'admin or service or system reader',
  'identity:get_user': 'admin or service or system reader or self',
  'identity:list_user_projects': 'admin or service or system reader or self',
  'identity:list_projects': 'admin or service or system reader',
  'identity:get_project': 'admin or service or system reader or project reader',
  'identity:list_roles': 'admin or service or system reader',
  'identity:get_role': 'admin or service or system reader',
  // `self` means the user in the query (`user.id`).
  'identity:list_role_assignments': 'admin or service or system reader or self',
  'identity:list_domains': 'admin or service or system reader',
  'identity:get_domain': 'reader or service',
  'identity:list_services': 'admin or service or system reader',
  'identity:get_service': 'admin or service or system reader',
  'identity:list_endpoints': 'admin or service or system reader',
  'identity:get_endpoint': 'admin or service or system reader',
  'identity:list_regions': 'everyone',
  'identity:get_region': 'everyone',
  'identity:list_application_credentials': 'admin or self',
  'identity:get_application_credential': 'admin or self',
  'identity:create_application_credential': 'self',
  'identity:delete_application_credential': 'admin or self',
}

export type IdentityAction = keyof typeof identityPolicy
