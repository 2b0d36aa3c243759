// Who may do what with compute: servers belong to a project, and those of others are not there; flavors are for all,
// unless an access list says for whom; hypervisors and services are the operators'.

const PROJECT_READERS = 'admin or service or project reader'
const PROJECT_MEMBERS = 'admin or service or project member'

export const computePolicy = {
  // Sees the servers of every project.
  'os_compute_api:servers:list_all': 'admin or service',
  'os_compute_api:servers:index': 'reader or service',
  'os_compute_api:servers:show': PROJECT_READERS,
  'os_compute_api:servers:create': 'member or service',
  // On a host, or for a node, that the caller names.
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
  // Shown to others without the host that it runs on.
  'os_compute_api:os-extended-server-attributes': 'admin or service',

  // Sees flavors whose access lists leave it out.
  'os_compute_api:flavors:list_all': 'admin or service',
  'os_compute_api:flavors:list': 'reader or service',
  'os_compute_api:flavors:show': 'reader or service',
  'os_compute_api:os-flavor-manage:create': 'admin',
  'os_compute_api:os-flavor-manage:update': 'admin',
  'os_compute_api:os-flavor-manage:delete': 'admin',
  // Who may see an access list; to change it takes one of the next two as well.
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
