// Who may do what with compute. Servers belong to a project, and other projects don't see them. Flavors are for all,
// unless they have an access list. Hypervisors and services are for operators.

const PROJECT_READERS = 'admin or service or project reader'
const PROJECT_MEMBERS = 'admin or service or project member'

export const computePolicy = {
  // Sees the servers of every project.
  'os_compute_api:servers:list_all': 'admin or service',
  'os_compute_api:servers:index': 'reader or service',
  'os_compute_api:servers:show': PROJECT_READERS,
  'os_compute_api:servers:create': 'member or service',
  // On a host or node that the caller chooses.
  'os_compute_api:servers:create:forced_host': 'admin',
  'os_compute_api:servers:update': PROJECT_MEMBERS,
  'os_compute_api:servers:delete': PROJECT_MEMBERS,
  'os_compute_api:servers:action': PROJECT_MEMBERS,
  'os_compute_api:os-migrate-server:migrate': 'admin',
  'os_compute_api:os-migrate-server:migrate_live': 'admin',
  'os_compute_api:os-evacuate': 'admin',
  'os_compute_api:os-migrations:index': 'admin or service',
  'os_compute_api:os-server-groups:index': 'reader or service',
  'os_compute_api:os-keypairs:index': 'reader or service',
  'os_compute_api:os-quota-sets:show': 'admin or service or system reader or project reader',
  'os_compute_api:os-quota-sets:update': 'admin',
  'os_compute_api:os-quota-sets:delete': 'admin',
  'os_compute_api:os-quota-class-sets:update': 'admin',
  'os_compute_api:os-quota-class-sets:show': 'admin or service or system reader',
  'os_compute_api:os-simple-tenant-usage:list': 'admin or service or system reader',
  'os_compute_api:os-simple-tenant-usage:show': 'admin or service or system reader or project reader',
  // Others don't see the host of a server.
  'os_compute_api:os-extended-server-attributes': 'admin or service',

  // Sees private flavors without being on their access list.
  'os_compute_api:flavors:list_all': 'admin or service',
  'os_compute_api:flavors:list': 'reader or service',
  'os_compute_api:flavors:show': 'reader or service',
  'os_compute_api:os-flavor-manage:create': 'admin',
  'os_compute_api:os-flavor-manage:update': 'admin',
  'os_compute_api:os-flavor-manage:delete': 'admin',
  // To see an access list. To change it, the caller also needs one of the next two.
  'os_compute_api:os-flavor-access': 'admin',
  'os_compute_api:os-flavor-access:add_tenant_access': 'admin',
  'os_compute_api:os-flavor-access:remove_tenant_access': 'admin',
  'os_compute_api:os-flavor-extra-specs:index': 'reader or service',
  'os_compute_api:os-flavor-extra-specs:show': 'reader or service',
  'os_compute_api:os-flavor-extra-specs:create': 'admin',
  'os_compute_api:os-flavor-extra-specs:update': 'admin',
  'os_compute_api:os-flavor-extra-specs:delete': 'admin',

  'os_compute_api:os-hypervisors:list': 'admin or service or system reader',
  'os_compute_api:os-hypervisors:show': 'admin or service or system reader',
  'os_compute_api:os-hypervisors:manage': 'admin',
  'os_compute_api:os-hosts:list': 'admin or service or system reader',
  'os_compute_api:os-hosts:show': 'admin or service or system reader',
  'os_compute_api:os-hosts:update': 'admin',
  'os_compute_api:os-services:list': 'admin or service or system reader',
  'os_compute_api:os-services:update': 'admin',
  'os_compute_api:os-aggregates:list': 'admin or service or system reader',
  'os_compute_api:os-aggregates:manage': 'admin',
  'os_compute_api:os-availability-zone:list': 'reader or service',
  'os_compute_api:os-availability-zone:detail': 'admin or service or system reader',
  'os_compute_api:limits': 'reader or service',
  'os_compute_api:extensions': 'everyone',
}

export type ComputeAction = keyof typeof computePolicy
